"""Browser sign-in: the routes `/auth/sign-in` and `/auth/sign-out`.

The cookie is HttpOnly, SameSite=Lax, and Secure over https. Forms are accepted only from this site (`Origin`,
or `Referer` if a browser sends no origin). A token never appears in a URL or a log.
"""

from contextlib import suppress
from datetime import UTC, datetime
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from streamlit.web.server.starlette.starlette_auth_routes import create_auth_routes

from arena.api.dependencies import client_of
from arena.container import Arena
from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.accounts.tokens import COOKIE
from arena.site.auth import caller_of_cookies
from arena.site.middleware import HEADERS, ServedHosts, plain_page
from arena.site.ui.messages import public_error
from data.errors import AccessError, ArenaError, ForbiddenError, TooManyAttemptsError

MAX_FORM_BYTES = 4_096
MAX_FIELDS = 10


class SignIn:
    """Routes for signing in and out."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._hosts = ServedHosts.of(arena.settings)
        routes = {route.path: route.endpoint for route in create_auth_routes("")}
        self._streamlit_logout = routes["/auth/logout"]

    def routes(self) -> list[Route]:
        """Build the routes."""
        methods = ["GET", "POST"]
        return [
            Route("/auth/sign-in", self.sign_in, methods=methods),
            Route("/auth/sign-out", self.sign_out, methods=methods),
            Route("/auth/logout", self.leave_provider),
        ]

    async def sign_in(self, request: Request) -> Response:
        """Show the token form; open a session and redirect to the caller's first page."""
        try:
            if request.method != "POST":
                caller = await self._caller(request)
                return _form_page(who=caller.name if caller.signed_in else "")
            self._require_own_origin(request)
            token = (await fields_of_form(request)).get("token", "").strip()
            session = await run_in_threadpool(self._arena.sessions.sign_in, token, client=client_of(request))
            page = await run_in_threadpool(self._first_page, session.caller)
        except ArenaError as error:
            return _form_page(error=error)
        response = RedirectResponse(f"../{page}", status_code=303, headers=HEADERS)
        response.set_cookie(
            COOKIE,
            session.cookie,
            max_age=max(1, int((session.expires_at - datetime.now(UTC)).total_seconds())),
            path="/",
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return response

    async def sign_out(self, request: Request) -> Response:
        """Ask for confirmation; end the session and every provider sign-in of the account."""
        try:
            caller, by_provider = await self._caller(request), await self._by_provider(request)
            visitor = caller if caller.signed_in else by_provider
            if request.method != "POST" and visitor.signed_in:
                return plain_page("Sign out", f"You are signed in as {visitor.name}.", form="sign-out")
            if request.method == "POST":
                self._require_own_origin(request)
                await run_in_threadpool(self._arena.sessions.sign_out, request.cookies.get(COOKIE, ""))
                await run_in_threadpool(self._arena.sessions.sign_out_everywhere, by_provider)
        except ArenaError as error:
            return plain_page("Sign out", alert=str(public_error(error)), status=_status_of(error))
        response: Response = RedirectResponse("../", status_code=303, headers=HEADERS)
        if by_provider.signed_in:
            # The form policy forbids redirects to the provider, where this address leads next.
            response = plain_page("Signed out", "You are signed out here.")
            response.headers["Refresh"] = "0; url=logout"
        response.delete_cookie(COOKIE, path="/")
        return response

    async def leave_provider(self, request: Request) -> Response:
        """Remove Streamlit's cookies of an ended sign-in, and redirect to the provider's sign-out."""
        if (await self._by_provider(request)).signed_in:
            return RedirectResponse("sign-out", status_code=303, headers=HEADERS)
        response: Response = await self._streamlit_logout(request)
        return response

    async def _caller(self, request: Request) -> Caller:
        return await run_in_threadpool(self._arena.sessions.who, request.cookies.get(COOKIE, ""))

    async def _by_provider(self, request: Request) -> Caller:
        with suppress(AccessError):
            return await run_in_threadpool(caller_of_cookies, self._arena.identities, request.cookies)
        return PUBLIC

    def _first_page(self, caller: Caller) -> str:
        if caller.organiser:
            return "admin"
        labels = not self._arena.teams.all(caller=caller) and self._arena.labels.open_to(caller)
        return "label" if labels else "team"

    def _require_own_origin(self, request: Request) -> None:
        origin = request.headers.get("origin") or request.headers.get("referer") or ""
        if not self._hosts.own(request.scope, origin):
            raise ForbiddenError("The form was sent from another site.", advice="Open the sign-in page here.")


async def fields_of_form(request: Request) -> dict[str, str]:
    """Parse the fields of a small form."""
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > MAX_FORM_BYTES:
            raise ForbiddenError("The form is too long.", advice="Reload the page.")
    try:
        fields = parse_qs(content.decode("utf-8", "replace"), max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise ForbiddenError("The form has too many fields.", advice="Reload the page.") from error
    return {name: values[0] for name, values in fields.items()}


def _status_of(error: ArenaError) -> int:
    if isinstance(error, TooManyAttemptsError):
        return 429
    if isinstance(error, AccessError):
        return 401
    return 403 if isinstance(error, ForbiddenError) else 503


def _form_page(*, error: ArenaError | None = None, who: str = "") -> Response:
    texts = ["Paste an access token for your team or account. It is sent once and not stored."]
    if who:
        texts.insert(0, f"You are signed in as {who}. Another token replaces this sign-in.")
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
