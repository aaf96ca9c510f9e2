from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket
from structlog.testing import capture_logs
from websockets import Subprotocol
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.site.app import _Routes, middleware_of
from arena.site.middleware import (
    ServedHosts,
    SiteMiddleware,
    SocketLimit,
    origin_of,
    page_policy,
    script_hashes,
)
from arena.site.server import proxy_unnamed
from data.models import TokenScope
from tests.served import published, served, site

FRAMER = "https://lab.example.org"
PATHS = (
    "/",
    "/question?board=tiny&id=q3",
    "/healthz",
    "/metrics",
    "/auth/sign-in",
    "/auth/sign-out",
    "/api/v1/",
    "/api/v1/health",
    "/api/v1/nothing",
    "/media/nothing.png",
    "/_stcore/health",
    "/_stcore/agent/nothing",
    "/favicon.png",
)


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a site with a public address, a further host and two origins that may frame it."""
    log = tmp_path_factory.mktemp("configured") / "log"
    with served(
        published(),
        log,
        ARENA_FRAMERS=f"{FRAMER}, https://*.example.net",
        ARENA_PUBLIC_URL="https://arena.example.org",
        ARENA_HOSTS="inner",
    ) as url:
        yield url


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_responses_have_security_headers(path: str) -> None:
    """Every page, route and error has a policy without foreign hosts, `nosniff` and a Referrer-Policy."""
    headers = httpx.get(f"{site()}{path}").headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy or "default-src 'none'" in policy
    assert "frame-ancestors" in policy
    assert "'unsafe-eval'" not in policy
    assert "http" not in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] in {"same-origin", "no-referrer"}


def test_settings_allow_hosts_and_framers(configured: str) -> None:
    """Pages may be framed by this site and ARENA_FRAMERS, forms by no site."""
    named = f"'self' {FRAMER} https://*.example.net"
    for path, framers in (("/", named), ("/auth/sign-in", "'none'"), ("/api/v1/", "'none'")):
        policy = httpx.get(f"{configured}{path}").headers["content-security-policy"]
        assert policy.partition("frame-ancestors ")[2] == framers
    for host in ("arena.example.org", "inner:8501", "localhost"):
        assert httpx.get(f"{configured}/", headers={"Host": host}).status_code == 200


def test_inline_script_is_allowed_by_its_hash() -> None:
    """The policy lists a document's inline script by its SHA-256; external scripts are not listed."""
    text = '<p>a</p><script>\n  alert(1)\n</script><script src="./a.js"></script><script></script>'
    alert, nothing = script_hashes(text)
    assert alert == "sha256-BjA0ROBfupHLCiW2gRrYiELX3ecfNFbiR7URMIXYaeU="
    assert nothing == "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    assert "unsafe-inline" not in page_policy(()).partition("script-src")[2].partition(";")[0]


@pytest.mark.parametrize(
    "address", ["null", "", "http://", "//x", "http://a:b", "http://a:99999", "http://[", "file:///etc"]
)
def test_invalid_origin_is_none(address: str) -> None:
    """An opaque or unreadable `Origin`, as of files and sandboxes, is refused."""
    assert origin_of(address) is None


def test_websocket_sends_small_messages_at_once() -> None:
    options, listener = [], socket.create_server(("127.0.0.1", 0))

    async def app(_scope: Any, _receive: Any, send: Any) -> None:  # noqa: ANN401 - of uvicorn
        connection = send.__self__.transport.get_extra_info("socket")
        options.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        server.should_exit = True

    server = uvicorn.Server(uvicorn.Config(SocketLimit(app), lifespan="off", ws="websockets-sansio"))
    with ThreadPoolExecutor(1) as pool, suppress(InvalidStatus):
        pool.submit(server.run, [listener])
        connect(f"ws://127.0.0.1:{listener.getsockname()[1]}")
    assert options == [1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("{host}", 200),
        ("localhost:8501", 200),
        ("[::1]", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("127.0.0.1@evil.example", 400),
        ("a/b", 400),
    ],
)
def test_only_configured_hosts_are_served(host: str, status: int) -> None:
    """Every route refuses an unknown `Host`, as in DNS rebinding, with a reason."""
    sent = {"Host": host.format(host=site().removeprefix("http://"))}
    for path in ("/", "/api/v1/health", "/healthz"):
        answer = httpx.get(f"{site()}{path}", headers=sent)
        assert answer.status_code == status, path
        if status == 421:
            assert "ARENA_HOSTS" in answer.json()["advice"]
            assert "evil" not in answer.text
            assert answer.headers["cache-control"] == "no-store"


def _stream(site: str, **options: Any) -> int:  # noqa: ANN401 - of the WebSocket client
    try:
        address = f"{site.replace('http', 'ws', 1)}/_stcore/stream"
        with connect(address, subprotocols=[Subprotocol("streamlit")], **options):
            return 101
    except InvalidStatus as refusal:
        return int(refusal.response.status_code)


def test_websocket_requires_own_origin() -> None:
    """Another port, scheme or host and `null` are refused; this site's pages are accepted."""
    host, port = site().removeprefix("http://").split(":")
    assert _stream(site(), origin=site()) == 101
    for origin in (
        f"http://{host}:{int(port) + 1}",
        f"https://{host}:{port}",
        f"http://{host}",
        f"http://localhost:{port}",
        "http://evil.example",
        "null",
    ):
        assert _stream(site(), origin=origin) == 403, origin
    proxied = {"X-Forwarded-Proto": "https"}
    assert _stream(site(), origin=f"https://{host}:{port}", additional_headers=proxied) == 101


def test_provider_cookies_last_half_day_and_require_https() -> None:
    """Streamlit also sends them over http, for thirty days."""

    async def signed_in(_request: Request) -> Response:
        response = PlainTextResponse("in")
        response.set_cookie("_streamlit_user", "x", max_age=2_592_000)
        return response

    hosts = ServedHosts(names=frozenset({"localhost"}))
    app = SiteMiddleware(Starlette(routes=[Route("/{path:path}", signed_in)]), hosts, "default-src 'none'")
    for scheme, secure in (("http", False), ("https", True)):
        cookie = (
            TestClient(app, base_url=f"{scheme}://localhost").get("/oauth2callback").headers["set-cookie"]
        )
        assert (("Secure" in cookie), ("Max-Age=43200;" in cookie)) == (secure, secure)


def test_sockets_of_one_address_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.site.middleware.MAX_SOCKETS", 2)

    async def wait(page: WebSocket) -> None:
        await page.accept()
        await page.receive()

    app = SocketLimit(Starlette(routes=[WebSocketRoute("/", wait)]))
    first, second = (TestClient(app, client=(f"192.0.2.{number}", 1)) for number in (1, 2))
    with first.websocket_connect("/"), first.websocket_connect("/"), second.websocket_connect("/"):
        with pytest.raises(WebSocketDenialResponse) as refused, first.websocket_connect("/"):
            pass
        assert refused.value.status_code == 429
    with first.websocket_connect("/"):
        pass


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["/media/nothing.png", "/_stcore/agent/nothing", "/nothing", "/system/nothing", "/index.html"]
)
def test_missing_page_is_json_for_programs_and_html_for_browsers(path: str) -> None:
    page = httpx.get(f"{site()}{path}", headers={"Accept": "text/html,*/*;q=0.8"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "<h1>Not Found</h1>" in page.text
    problem = httpx.get(f"{site()}{path}", headers={"Accept": "application/json"})
    assert (problem.status_code, problem.headers["content-type"]) == (404, "application/problem+json")
    assert problem.json()["status"] == 404


HTTPS = {"X-Forwarded-Proto": "https"}


def reached(peer: str, **settings: Any) -> TestClient:  # noqa: ANN401 - fields of settings
    """Open the site from a client address: `reached("172.18.0.1", proxies=…)`."""
    chosen = replace(published(), **settings)
    routes = _Routes(chosen)
    app = Starlette(routes=routes.all(), middleware=middleware_of(chosen, routes))
    return TestClient(app, base_url="http://localhost", client=(peer, 50_000))


def test_cookies_are_secure_only_behind_trusted_https_proxy() -> None:
    arena = Arena(published())
    arena.teams.add_account("ann", caller=OPERATOR)
    token = arena.tokens.create(name="t", scopes=[TokenScope.READ], account="ann", caller=OPERATOR).secret
    arena.close()

    def cookie(peer: str, proxies: tuple[str, ...], origin: str) -> str:
        headers = {**HTTPS, "Origin": f"{origin}://localhost"}
        client = reached(peer, proxies=proxies)
        reply = client.post("/auth/sign-in", data={"token": token}, headers=headers, follow_redirects=False)
        assert reply.status_code == 303
        return reply.headers["set-cookie"]

    assert "Secure" in cookie("172.18.0.1", ("172.16.0.0/12",), "https")
    for peer, proxies in (("172.18.0.1", ()), ("203.0.113.9", ("172.16.0.0/12",))):
        assert "Secure" not in cookie(peer, proxies, "http")


def test_limits_count_visitors_behind_proxy() -> None:
    browser = reached("172.18.0.1", proxies=("172.16.0.0/12",), api_rate=6)
    first, second = ({"X-Forwarded-For": f"203.0.113.{number}"} for number in (1, 2))
    paths = ["/", "/rounds", "/compare", "/about", "/api/v1/sets", "/api/v1/leaderboards"]
    assert [browser.get(path, headers=first).status_code for path in paths] == [200] * 6
    for path in paths:
        over = browser.get(path, headers=first)
        assert (over.status_code, int(over.headers["retry-after"]) > 0) == (429, True), path
        assert browser.get(path, headers=second).status_code == 200
    assert browser.get("/healthz", headers=first).status_code == 200


def test_untrusted_proxy_is_logged_once() -> None:
    browser = reached("172.18.0.1")
    with capture_logs() as logs:
        for headers in ({}, HTTPS, HTTPS):
            browser.get("/about", headers=headers)
    warnings = [entry for entry in logs if "ARENA_PROXIES" in entry["event"]]
    assert [entry["peer"] for entry in warnings] == ["172.18.0.1"]
    with capture_logs() as logs:
        reached("172.18.0.1", proxies=("172.18.0.1/32",)).get("/about", headers=HTTPS)
        reached("127.0.0.1").get("/about", headers=HTTPS)
    assert not [entry for entry in logs if "ARENA_PROXIES" in entry["event"]]


def test_start_warns_of_untrusted_proxy() -> None:
    public = replace(published(), public_url="https://arena.example.org")
    assert "ARENA_PROXIES" in proxy_unnamed(public, "0.0.0.0")  # noqa: S104 - nothing is bound
    assert not proxy_unnamed(public, "127.0.0.1")
    assert not proxy_unnamed(replace(public, proxies=("10.0.0.0/8",)), "0.0.0.0")  # noqa: S104 - as above
    assert not proxy_unnamed(published(), "0.0.0.0")  # noqa: S104 - as above


def test_streamlit_metrics_require_token() -> None:
    closed = reached("127.0.0.1", metrics_token="right")
    for path in ("/metrics", "/_stcore/metrics"):
        assert closed.get(path).status_code == 401
        assert closed.get(path, headers={"Authorization": "Bearer wrong"}).status_code == 401
