"""Small pages without scripts: forms to sign in and out, and what is refused."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from arena.api.errors import TITLES, problem_response
from arena.html_pages import rendered
from arena.site.security_policy import ALWAYS

STYLE = Path(__file__).parent / "assets" / "sign_in.css"
HEADERS = {
    **ALWAYS,
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
}


def plain_page(
    title: str,
    *texts: str,
    alert: str = "",
    form: str = "",
    leave: str = "",
    status: int = 200,
    home: str = "../",
) -> HTMLResponse:
    """Return a page with a heading, texts, what went wrong, and a form to sign in or out.

    `form` is the address that takes the form; `leave` is that of signing out,
    where it is offered; `home` leads to the site.
    """
    style = STYLE.read_text(encoding="utf-8")
    words = {"title": title, "texts": texts, "alert": alert, "form": form, "leave": leave}
    page = rendered("plain.html", **words, home=home, style=style)
    return HTMLResponse(page, status, headers=HEADERS)


def refused(
    request: Request | Scope, status: int, message: str, *, advice: str = "", page: bool = False
) -> Response:
    """Render a refusal: a page for browsers, else a problem as the API reports it.

    Where the address is that of a `page`, only who wants JSON gets it.
    """
    scope = request.scope if isinstance(request, Request) else request
    if not _wants_page(Headers(scope=scope).get("accept", ""), page=page):
        return problem_response(status, message, advice=advice)
    title = TITLES.get(status) or HTTPStatus(status).phrase
    home = "../" * (scope["path"].count("/") - 1) or "./"
    return plain_page(title, *filter(None, (message, advice)), status=status, home=home)


def _wants_page(accepted: str, *, page: bool) -> bool:
    return "text/html" in accepted or (page and "json" not in accepted)
