"""Signing in with a browser: `/auth/sign-in` and `/auth/sign-out`, besides the pages.

The cookie is HttpOnly, SameSite=Lax, and Secure over https. A form is taken from this site alone (`Origin`,
or `Referer` where a browser sends none). A token is never part of an address or of a log.
"""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from arena.api.dependencies import client_of
from arena.container import Arena
from arena.services.accounts.auth import Caller
from arena.services.accounts.sessions import COOKIE
from arena.site.hosts import ServedHosts
from arena.site.plain_pages import HEADERS, plain_page
from arena.site.ui.errors import public_error
from data.errors import AccessError, ArenaError, ForbiddenError, TooManyAttemptsError

LONGEST_FORM = 4_096
MOST_FIELDS = 10


class SignIn:
    """The routes of signing in and out."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._hosts = ServedHosts.of(arena.settings)

    def routes(self) -> list[Route]:
        """What is to be served."""
        return [
            Route("/auth/sign-in", self.form, methods=["GET"]),
            Route("/auth/sign-in", self.sign_in, methods=["POST"]),
            Route("/auth/sign-out", self.leave, methods=["GET"]),
            Route("/auth/sign-out", self.sign_out, methods=["POST"]),
        ]

    async def form(self, request: Request) -> Response:
        """The form for a token, and who is signed in already."""
        cookie = request.cookies.get(COOKIE, "")
        try:
            caller = await run_in_threadpool(self._arena.sessions.who, cookie)
        except ArenaError as error:
            return _form_page(error=error)
        return _form_page(who=caller.name if caller.signed_in else "")

    async def sign_in(self, request: Request) -> Response:
        """Open a session for the token of the form, and go to the first page of who signed in."""
        try:
            fields = await fields_of_form(request)
            self._require_own_origin(request)
            opened = await run_in_threadpool(
                self._arena.sessions.sign_in, fields.get("token", "").strip(), client=client_of(request)
            )
        except ArenaError as error:
            return _form_page(error=error)
        left = max(1, int((opened.expires_at - datetime.now(UTC)).total_seconds()))
        page = await run_in_threadpool(self._first_page, opened.caller)
        response = RedirectResponse(f"../{page}", status_code=303, headers=HEADERS)
        response.set_cookie(
            COOKIE,
            opened.cookie,
            max_age=left,
            path="/",
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return response

    def _first_page(self, caller: Caller) -> str:
        if caller.organiser:
            return "admin"
        labels = not self._arena.teams.all(caller=caller) and self._arena.labels.open_to(caller)
        return "label" if labels else "team"

    async def leave(self, request: Request) -> Response:
        """The question whether to sign out."""
        cookie = request.cookies.get(COOKIE, "")
        try:
            caller = await run_in_threadpool(self._arena.sessions.who, cookie)
        except ArenaError as error:
            return _refusal(error)
        if not caller.signed_in:
            return RedirectResponse("../", status_code=303, headers=HEADERS)
        text = f"You are signed in as {caller.name}."
        return plain_page("Sign out", text, form="sign-out")

    async def sign_out(self, request: Request) -> Response:
        """End the session."""
        cookie = request.cookies.get(COOKIE, "")
        try:
            self._require_own_origin(request)
            await run_in_threadpool(self._arena.sessions.sign_out, cookie)
        except ArenaError as error:
            return _refusal(error)
        response = RedirectResponse("../", status_code=303, headers=HEADERS)
        response.delete_cookie(COOKIE, path="/")
        return response

    def _require_own_origin(self, request: Request) -> None:
        origin = request.headers.get("origin") or request.headers.get("referer") or ""
        if not self._hosts.own(request.scope, origin):
            raise ForbiddenError("The form did not come from this site.", advice="Open the page here.")


async def fields_of_form(request: Request) -> dict[str, str]:
    """The fields of a form; a body that is no small form has none."""
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > LONGEST_FORM:
            raise ForbiddenError("The form is too long.", advice="Load the page again.")
    try:
        fields = parse_qs(content.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise ForbiddenError("The form has too many fields.", advice="Load the page again.") from error
    return {name: values[0] for name, values in fields.items()}


def _status_of(error: ArenaError) -> int:
    if isinstance(error, TooManyAttemptsError):
        return 429
    if isinstance(error, AccessError):
        return 401
    return 403 if isinstance(error, ForbiddenError) else 503


def _form_page(*, error: ArenaError | None = None, who: str = "") -> Response:
    texts = ["Paste an access token of your team or account. It is sent once and not stored."]
    if who:
        texts.insert(0, f"You are signed in as {who}. Another token signs you in as somebody else.")
    status = 200 if error is None else _status_of(error)
    leave = "sign-out" if who else ""
    page = plain_page(
        "Sign in",
        *texts,
        alert="" if error is None else str(public_error(error)),
        form="sign-in",
        leave=leave,
        status=status,
    )
    if isinstance(error, TooManyAttemptsError):
        page.headers["Retry-After"] = str(error.retry_after)
    return page


def _refusal(error: ArenaError) -> HTMLResponse:
    return plain_page("Sign out", alert=str(public_error(error)), status=_status_of(error))
