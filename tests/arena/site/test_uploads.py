from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.web.server.server_util import AUTH_COOKIE_NAME, get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.accounts.tokens import COOKIE
from arena.site.sign_in import SignIn
from arena.site.uploads import UPLOADS, SignedInUploads
from data.files.text_files import MEBIBYTE
from data.models import TokenScope


def signed(person: str, iat: float | None = None) -> str:
    """Return the cookie of a user that an OIDC provider signed in."""
    claims = {"iss": "https://id.example", "sub": person, "iat": iat or time.time()}
    return create_signed_value(get_cookie_secret(), AUTH_COOKIE_NAME, json.dumps(claims)).decode()


@pytest.fixture
def client(make_arena: Callable[..., Arena]) -> TestClient:
    async def take(request: Request) -> Response:
        await request.body()
        return PlainTextResponse("taken", 204)

    routes = [Route("/{path:path}", take, methods=["GET", "PUT", "DELETE"])]
    arena = make_arena()
    for person in ("ann", "bob"):
        arena.teams.add_account(person, subject=f"https://id.example#{person}", caller=OPERATOR)
    arena.settings = replace(arena.settings, max_upload_mb=1)
    return TestClient(Starlette(routes=routes, middleware=[Middleware(SignedInUploads, source=arena)]))


def test_visitor_upload_is_refused(client: TestClient) -> None:
    forged = {COOKIE: "x" * 43, AUTH_COOKIE_NAME: '{"is_logged_in": true}'}
    for cookies in ({}, forged):
        client.cookies.update(cookies)
        assert client.put(f"{UPLOADS}session/file", content=b"x").status_code == 401
        assert client.delete(f"{UPLOADS}session/file").status_code == 204
        assert client.get("/_stcore/health").status_code == 204


def test_member_upload_ends_at_sign_out(make_arena: Callable[..., Arena], client: TestClient) -> None:
    arena = make_arena()
    arena.teams.add("ours", caller=OPERATOR)
    secret = arena.tokens.create(name="t", scopes={TokenScope.READ}, team="ours", caller=OPERATOR).secret
    cookie = arena.sessions.sign_in(secret, client="t").cookie
    client.cookies.set(COOKIE, cookie)
    assert client.put(f"{UPLOADS}session/file", content=b"x").status_code == 204
    arena.sessions.sign_out(cookie)
    assert client.put(f"{UPLOADS}session/file", content=b"x").status_code == 401


def test_party_may_upload_two_files_of_maximum_size(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored: dict[str, dict[str, UploadedFileRec]] = {}
    monkeypatch.setattr("arena.site.uploads._stored_files", lambda: stored)
    monkeypatch.setattr("arena.site.uploads._is_open", lambda _: True)
    file = b"x" * MEBIBYTE
    for person, statuses in (("bob", (204,)), ("ann", (204, 204, 413))):
        client.cookies.set(AUTH_COOKIE_NAME, signed(person))
        for number, status in enumerate(statuses):
            session = f"{person}-{number}"
            refused = client.put(f"{UPLOADS}{session}/file", content=file)
            assert refused.status_code == status, refused.text
            if status == 204:
                stored[session] = {"file": UploadedFileRec("file", "a", "text/plain", file)}
    del stored["ann-0"]  # As at the end of the session.
    assert client.put(f"{UPLOADS}ann-3/file", content=b"x").status_code == 204


def test_upload_is_accepted_after_provider_sign_in(
    client: TestClient, make_arena: Callable[..., Arena]
) -> None:
    ann = signed("ann")
    for cookie, status in ((ann, 204), (signed("eve"), 401), (signed("ann", iat=1), 401)):
        client.cookies.set(AUTH_COOKIE_NAME, cookie)
        assert client.put(f"{UPLOADS}session/file", content=b"x").status_code == status
    client.cookies.clear()
    browser = TestClient(Starlette(routes=SignIn(make_arena()).routes()), "http://localhost/auth/")
    browser.cookies.set(AUTH_COOKIE_NAME, ann)
    own, foreign = ({"Origin": f"http://{host}"} for host in ("localhost", "evil.example"))
    assert "signed in as ann" in browser.get("logout").text
    assert browser.post("sign-out", headers=foreign).status_code == 403
    client.cookies.set(AUTH_COOKIE_NAME, ann)
    assert client.put(f"{UPLOADS}session/file", content=b"x").status_code == 204
    assert browser.post("sign-out", headers=own).headers["refresh"] == "0; url=logout"
    assert AUTH_COOKIE_NAME in browser.get("logout", follow_redirects=False).headers["set-cookie"]
    assert client.put(f"{UPLOADS}session/file", content=b"x").status_code == 401
