"""The OpenAPI document, and a plain page made of it that loads nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from arena.web.api.answers import REFUSALS
from arena.web.api.problems import MEDIA_TYPE, OWN_TITLES, TITLES, slug
from arena.web.markup import as_html, element

ABOUT = (
    "Question sets, submissions, rounds and boards for scripts. Errors are application/problem+json; answers "
    "have an ETag. Reading what is public needs no token; everything else takes "
    "“Authorization: Bearer aa_…”."
)
FIRST_REFUSAL = 400
STYLE = (
    ":root { color-scheme: light dark } body { font: 1rem/1.5 system-ui, sans-serif; max-width: 52rem; "
    "margin: 2rem auto; padding: 0 1rem } h2 { font-size: 1.05rem; margin: 2rem 0 0 } "
    "code { overflow-wrap: anywhere } td { padding: 0.1rem 1rem 0.1rem 0; vertical-align: top }"
)
Json = dict[str, Any]


def describe(app: FastAPI) -> None:
    """Give an API its document at `/openapi.json` and its page at `/`."""

    def document() -> Json:
        if app.openapi_schema is None:
            found = get_openapi(title=app.title, version=app.version, description=ABOUT, routes=app.routes)
            app.openapi_schema = _with_problems(found)
        return app.openapi_schema

    async def page(_request: Request) -> HTMLResponse:
        return HTMLResponse(_page(document()))

    # FastAPI means this method to be replaced, and mypy has no exception for that.
    app.openapi = document  # type: ignore[method-assign]
    app.router.routes.append(Route("/", page, include_in_schema=False))


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    """Yield method, path and operation of everything in a document."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def _with_problems(document: Json) -> Json:
    """Name the media type of problems, which FastAPI takes for that of every answer."""
    document["servers"] = [{"url": "/api/v1"}]
    for _, _, operation in operations(document):
        for status, response in operation["responses"].items():
            content = response.get("content", {})
            if int(status) >= FIRST_REFUSAL and "application/json" in content:
                response["content"] = {MEDIA_TYPE: content["application/json"]}
    return document


def _page(document: Json) -> str:
    title = f"{document['info']['title']} API"
    sections = [_section(method, path, operation) for method, path, operation in operations(document)]
    link = element("a", "openapi.json", href="openapi.json")
    body = element(
        "body",
        element("h1", title),
        element("p", ABOUT),
        element("p", "For programs: ", link),
        *sections,
        element("h2", "Problems"),
        _problem_list(),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width"),
        element("title", title),
        element("style", STYLE),
    )
    return f"<!doctype html>{as_html(element('html', head, body, lang='en'))}"


def _section(method: str, path: str, operation: Json) -> Element:
    rows = [
        element(
            "tr",
            element("td", element("code", one["name"])),
            element("td", f"{one['in']}{', required' if one.get('required') else ''}"),
            element("td", one.get("description", "")),
        )
        for one in operation.get("parameters", ())
    ]
    answers = ", ".join(operation["responses"])
    parts = [
        element("h2", element("code", f"{method} {path}")),
        element("p", operation.get("description", "")),
    ]
    if rows:
        parts.append(element("table", *rows))
    return element("section", *parts, element("p", f"Answers: {answers}"))


def _problem_list() -> Element:
    items = []
    for status, meaning in sorted(REFUSALS.items()):
        title = TITLES[status]
        items += [element("dt", f"{status} {title}", id=f"problem-{slug(title)}"), element("dd", meaning)]
    for kind, title in OWN_TITLES:
        items += [element("dt", f"409 {title}", id=f"problem-{slug(title)}"), element("dd", _meaning(kind))]
    return element("dl", *items)


def _meaning(kind: type) -> str:
    return (kind.__doc__ or "").strip()
