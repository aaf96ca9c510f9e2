"""The API as an ASGI application, to be mounted at `/api/v1`."""

from __future__ import annotations

from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from arena.bootstrap import Arena
from arena.web.api import health, leaderboards, reports, rounds, sets, submissions, teams, uploads
from arena.web.api.context import Gate, admit
from arena.web.api.envelope import BodyLimits, Envelope
from arena.web.api.openapi import describe
from arena.web.api.problems import on_arena_error, on_bad_request, on_http_error
from arena.web.api.rates import Rates
from data.errors import ArenaError
from data.files import MEBIBYTE

READABLE = ["ETag", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]


def make_api(arena: Arena) -> FastAPI:
    """Build the API over an arena's services."""
    app = FastAPI(
        title="Answer Arena", version="1", docs_url=None, redoc_url=None, openapi_url="/openapi.json"
    )
    settings = arena.settings
    app.state.arena, app.state.gate = arena, Gate()
    app.state.rates = Rates(requests=settings.api_rate, intakes=settings.intake_rate)
    limits = BodyLimits(file_bytes=settings.max_upload_mb * MEBIBYTE, patience=settings.body_timeout)
    app.add_middleware(Envelope, limits=limits)
    # Public data may be read by scripts of other pages, never in a visitor's name.
    app.add_middleware(
        CORSMiddleware,
        allow_origins=["*"],
        allow_methods=["GET"],
        allow_credentials=False,
        expose_headers=READABLE,
        max_age=3600,
    )
    app.add_exception_handler(ArenaError, on_arena_error)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(RequestValidationError, on_bad_request)
    app.include_router(health.router)
    for module in (sets, uploads, submissions, reports, leaderboards, rounds, teams):
        app.include_router(module.router, dependencies=[Depends(admit)])
    describe(app)
    return app
