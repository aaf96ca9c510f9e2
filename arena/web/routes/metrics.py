"""`/metrics`: the state of the arena and of the site's process, for Prometheus."""

from __future__ import annotations

import hmac

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from arena.bootstrap import Arena
from arena.services.gauges import metrics_of
from arena.web.told import told
from data.errors import ArenaError


def metrics_route(arena: Arena) -> Route:
    """The route; where a token is set, it is asked for as a bearer token."""
    wanted = arena.settings.metrics_token

    async def metrics(request: Request) -> Response:
        given = request.headers.get("authorization", "")
        if wanted is not None and not hmac.compare_digest(given.encode(), f"Bearer {wanted}".encode()):
            challenge = {"WWW-Authenticate": "Bearer"}
            return PlainTextResponse("The token is missing or wrong.\n", status_code=401, headers=challenge)
        try:
            body = await run_in_threadpool(metrics_of, arena.store)
        except ArenaError as error:
            return PlainTextResponse(f"# {told(error)}\n", status_code=503)
        return Response(body, media_type=CONTENT_TYPE_LATEST)

    return Route("/metrics", metrics)
