"""ASGI application of the API, mounted at `/api/v1`."""

from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from arena.api import boards, sets_and_rounds, submissions, teams
from arena.api.caching import REFUSALS, problems
from arena.api.dependencies import Rates, Services, admit
from arena.api.errors import (
    MEDIA_TYPE,
    OWN_TITLES,
    TITLES,
    on_arena_error,
    on_bad_request,
    on_http_error,
    slug,
)
from arena.api.middleware import BodyLimits, Envelope
from arena.container import Arena
from arena.html_pages import rendered
from arena.services.submissions.uploads import FairQueue
from data.errors import ArenaError
from data.files.text_files import MEBIBYTE

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """Health of the arena."""

    status: str = Field(examples=["ok"])
    boards: int = Field(description="Published boards.", examples=[2])


@router.get("/health", responses=problems())
def health(response: Response, arena: Services) -> Health:
    """Return 200 if the database answers, else 503."""
    response.headers["Cache-Control"] = "no-store"
    return Health(status="ok", boards=len(arena.boards.heads()))


ABOUT = (
    "Question sets, submissions, rounds and boards for scripts. Errors are problem+json; responses "
    "have an ETag. Public data needs no token; everything else needs "
    "“Authorization: Bearer aa_…”."
)
FIRST_REFUSAL = 400
Json = dict[str, Any]


class Api(FastAPI):
    """Application whose OpenAPI document has the media type of problems."""

    def openapi(self) -> Json:
        """Return the cached OpenAPI document."""
        if self.openapi_schema is None:
            schema = get_openapi(
                title=self.title, version=self.version, description=ABOUT, routes=self.routes
            )
            self.openapi_schema = _with_problems(schema)
        return self.openapi_schema

    async def page(self, _request: Request) -> HTMLResponse:
        """Return the document as an HTML page."""
        return HTMLResponse(_page(self.openapi()))


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    """Yield method, path and operation from an OpenAPI document."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def _with_problems(document: Json) -> Json:
    document["servers"] = [{"url": "/api/v1"}]
    for _, _, operation in operations(document):
        for status, response in operation["responses"].items():
            content = response.get("content", {})
            if int(status) >= FIRST_REFUSAL and "application/json" in content:
                response["content"] = {MEDIA_TYPE: content["application/json"]}
    return document


def _page(document: Json) -> str:
    return rendered(
        "api.html",
        title=f"{document['info']['title']} API",
        about=ABOUT,
        operations=operations(document),
        problems=_problems(),
    )


def _problems() -> Iterator[tuple[str, str, str]]:
    for status, meaning in sorted(REFUSALS.items()):
        yield slug(TITLES[status]), f"{status} {TITLES[status]}", meaning
    for kind, title in OWN_TITLES:
        yield slug(title), f"409 {title}", (kind.__doc__ or "").strip()


ROUTERS = (sets_and_rounds.sets, submissions.router, boards.router, sets_and_rounds.rounds, teams.router)
READABLE = ["ETag", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]


def make_api(arena: Arena, rates: Rates | None = None) -> FastAPI:
    """Build the API over an arena's services, optionally with shared `rates`."""
    app = Api(title="Answer Arena", version="1", docs_url=None, redoc_url=None, openapi_url="/openapi.json")
    settings = arena.settings
    app.state.arena, app.state.queue = arena, FairQueue()
    app.state.rates = rates or Rates(requests=settings.api_rate, intakes=settings.intake_rate)
    limits = BodyLimits(file_bytes=settings.max_upload_mb * MEBIBYTE, patience=settings.body_timeout)
    app.add_middleware(Envelope, limits=limits)
    # Scripts from other origins may read public data, but not with a visitor's credentials.
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
    app.include_router(router)
    for resource in ROUTERS:
        app.include_router(resource, dependencies=[Depends(admit)])
    app.router.routes.append(Route("/", app.page, include_in_schema=False))
    return app
