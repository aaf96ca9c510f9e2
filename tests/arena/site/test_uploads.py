from __future__ import annotations

from collections.abc import Callable

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.web.server.server_util import AUTH_COOKIE_NAME, get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.accounts.tokens import COOKIE
from arena.site.uploads import UPLOADS, SignedInUploads
from data.models import TokenScope


@pytest.fixture
def client(make_arena: Callable[..., Arena]) -> TestClient:
    async def take(_request: Request) -> Response:
        return PlainTextResponse("taken", 204)

    routes = [Route("/{path:path}", take, methods=["GET", "PUT", "DELETE"])]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(SignedInUploads, source=make_arena())]))


def test_upload_of_a_visitor_is_refused(client: TestClient) -> None:
    forged = {COOKIE: "x" * 43, AUTH_COOKIE_NAME: '{"is_logged_in": true}'}
    for cookies in ({}, forged):
        client.cookies.update(cookies)
        assert client.put(f"{UPLOADS}session/file", content=b"x").status_code == 401
        assert client.delete(f"{UPLOADS}session/file").status_code == 204
        assert client.get("/_stcore/health").status_code == 204


def test_upload_of_a_member_ends_with_sign_out(make_arena: Callable[..., Arena], client: TestClient) -> None:
    arena = make_arena()
    arena.teams.add("ours", caller=OPERATOR)
    secret = arena.tokens.create(name="t", scopes={TokenScope.READ}, team="ours", caller=OPERATOR).secret
    cookie = arena.sessions.sign_in(secret, client="t").cookie
    client.cookies.set(COOKIE, cookie)
    assert client.put(f"{UPLOADS}session/file", content=b"x").status_code == 204
    arena.sessions.sign_out(cookie)
    assert client.put(f"{UPLOADS}session/file", content=b"x").status_code == 401


def test_upload_is_taken_from_whom_a_provider_signed_in(client: TestClient) -> None:
    value = create_signed_value(get_cookie_secret(), AUTH_COOKIE_NAME, '{"sub": "ann"}').decode()
    client.cookies.set(AUTH_COOKIE_NAME, value)
    assert client.put(f"{UPLOADS}session/file", content=b"x").status_code == 204
