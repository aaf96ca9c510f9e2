"""Behind a proxy: whose word on visitors is taken, cookies for https, one limit for pages and API."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.settings import Settings, read_settings
from arena.site.app import _Routes, middleware_of
from arena.site.server import proxy_unnamed
from data.errors import InputError
from data.models import TokenScope

HTTPS = {"X-Forwarded-Proto": "https"}
Site = Callable[..., TestClient]


@pytest.fixture
def site(published: Settings) -> Site:
    """A site as somebody at an address reaches it: `site("172.18.0.1", proxies=…)`."""

    def reach(peer: str, **settings: Any) -> TestClient:  # noqa: ANN401 - fields of settings
        chosen = replace(published, **settings)
        routes = _Routes(chosen)
        app = Starlette(routes=routes.all(), middleware=middleware_of(chosen, routes))
        return TestClient(app, base_url="http://localhost", client=(peer, 50_000))

    return reach


def test_cookies_are_secure_only_where_a_named_proxy_says_https(site: Site, published: Settings) -> None:
    arena = Arena(published)
    arena.teams.add_account("ann", caller=OPERATOR)
    token = arena.tokens.create(name="t", scopes=[TokenScope.READ], account="ann", caller=OPERATOR).secret
    arena.close()

    def cookie(peer: str, proxies: tuple[str, ...]) -> str:
        client = site(peer, proxies=proxies)
        for origin in ("https://localhost", "http://localhost"):
            reply = client.post(
                "/auth/sign-in",
                data={"token": token},
                headers={**HTTPS, "Origin": origin},
                follow_redirects=False,
            )
            if reply.status_code == 303:
                break
        return reply.headers["set-cookie"]

    assert "Secure" in cookie("172.18.0.1", ("172.16.0.0/12",))
    for peer, proxies in (("172.18.0.1", ()), ("203.0.113.9", ("172.16.0.0/12",))):
        assert "Secure" not in cookie(peer, proxies)


def test_limits_count_visitors_and_not_the_proxy(site: Site) -> None:
    """Behind a named proxy each visitor has a limit; pages and API count as one."""
    browser = site("172.18.0.1", proxies=("172.16.0.0/12",), api_rate=6)
    paths = ["/", "/rounds", "/compare", "/about", "/api/v1/sets", "/api/v1/leaderboards"]
    first = [browser.get(path, headers={"X-Forwarded-For": "203.0.113.1"}).status_code for path in paths]
    assert first == [200] * 6
    for path in paths:
        over = browser.get(path, headers={"X-Forwarded-For": "203.0.113.1"})
        assert (over.status_code, int(over.headers["retry-after"]) > 0) == (429, True), path
        assert browser.get(path, headers={"X-Forwarded-For": "203.0.113.2"}).status_code == 200
    assert browser.get("/healthz", headers={"X-Forwarded-For": "203.0.113.1"}).status_code == 200


def test_an_unnamed_proxy_is_told_of_once(site: Site) -> None:
    """The log names a peer that forwards requests and is not trusted, once; no other peer."""
    browser = site("172.18.0.1")
    with capture_logs() as logs:
        for headers in ({}, HTTPS, HTTPS):
            browser.get("/about", headers=headers)
    told = [entry for entry in logs if "ARENA_PROXIES" in entry["event"]]
    assert [entry["peer"] for entry in told] == ["172.18.0.1"]
    with capture_logs() as logs:
        site("172.18.0.1", proxies=("172.18.0.1/32",)).get("/about", headers=HTTPS)
        site("127.0.0.1").get("/about", headers=HTTPS)
    assert not [entry for entry in logs if "ARENA_PROXIES" in entry["event"]]


def test_start_says_where_a_proxy_must_be_and_is_not_named(published: Settings) -> None:
    """A site that is public by https and listens to a network has a proxy in front."""
    public = replace(published, public_url="https://arena.example.org")
    assert "ARENA_PROXIES" in proxy_unnamed(public, "0.0.0.0")  # noqa: S104 - nothing is bound
    assert not proxy_unnamed(public, "127.0.0.1")
    assert not proxy_unnamed(replace(public, proxies=("10.0.0.0/8",)), "0.0.0.0")  # noqa: S104 - as above
    assert not proxy_unnamed(published, "0.0.0.0")  # noqa: S104 - as above


def test_proxies_are_addresses_and_networks() -> None:
    assert read_settings({"ARENA_PROXIES": "10.0.0.0/8, ::1"}).proxies == ("10.0.0.0/8", "::1/128")
    with pytest.raises(InputError, match="ARENA_PROXIES cannot be used"):
        read_settings({"ARENA_PROXIES": "everybody"})


def test_metrics_of_streamlit_need_the_token_too(site: Site) -> None:
    closed = site("127.0.0.1", metrics_token="right")
    for path in ("/metrics", "/_stcore/metrics"):
        assert closed.get(path).status_code == 401
        assert closed.get(path, headers={"Authorization": "Bearer wrong"}).status_code == 401
