from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import httpx
import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from data.models import TokenScope
from tests.arena.api.conftest import Club, api_of, client_of
from tests.arena.conftest import settings_of


def test_token_identifies_its_account(club: Club) -> None:
    mine = club.alpha.get("/me").json()
    assert (mine["teams"], mine["organiser"]) == ({"alpha": "owner"}, False)
    with client_of(club.address, club.tokens["olga"]) as olga:
        assert olga.get("/me").json()["organiser"] is True
        assert {team["name"] for team in olga.get("/teams").json()["teams"]} == {"alpha", "beta"}


def test_invalid_token_is_refused_by_every_route(club: Club) -> None:
    headers = (
        "Bearer aa_000000000000_wrong",
        "Bearer",
        "Bearer x",
        "Basic dXNlcjpwdw==",
        "aa_x_y",
        "Bearer ä",
    )
    for header, path in product(headers, ("/me", "/sets")):
        response = club.public.get(path, headers=[(b"Authorization", header.encode())])
        assert response.status_code == 401
        assert response.headers["content-type"] == "application/problem+json"
        assert response.headers["www-authenticate"].startswith("Bearer")


def test_token_in_url_or_cookie_is_ignored(club: Club) -> None:
    token = club.tokens["alpha"]
    assert club.public.get("/me", params={"token": token, "access_token": token}).status_code == 401
    assert (
        club.public.get("/me", headers={"Cookie": f"arena_session={token}; token={token}"}).status_code == 401
    )


def test_revoked_token_is_refused_at_once(club: Club) -> None:
    made = club.alpha.post("/teams/alpha/tokens", json={"name": "CI", "scopes": ["submit"], "days": 7})
    assert made.status_code == 201
    assert made.headers["cache-control"] == "no-store"
    secret, number = made.json()["token"], made.json()["id"]
    with httpx.Client(base_url=club.address, headers={"Authorization": f"Bearer {secret}"}) as other:
        assert other.get("/me").json()["scopes"] == ["read", "submit"]
        listed = club.alpha.get("/teams/alpha/tokens")
        assert secret not in listed.text
        assert number in [entry["id"] for entry in listed.json()["tokens"]]
        assert club.alpha.delete(f"/tokens/{number}").json()["revoked_at"]
        assert other.get("/me").status_code == 401


@contextmanager
def small(folder: Path, **limits: str) -> Iterator[tuple[str, str]]:
    """Serve an arena with a team, and yield its address and the secret of the team's token."""
    settings = settings_of(folder / "home")
    arena = Arena(settings)
    arena.teams.add("alpha", caller=OPERATOR)
    made = arena.tokens.create(name="t", scopes={TokenScope.SUBMIT}, team="alpha", caller=OPERATOR)
    arena.close()
    with api_of(settings, folder / "log", **limits) as address:
        yield address, made.secret


@pytest.mark.slow
def test_rate_limit_is_per_token_and_in_headers(tmp_path: Path) -> None:
    with small(tmp_path, ARENA_API_RATE="6", ARENA_API_INTAKE_RATE="2") as (address, secret):
        with client_of(address, secret) as client:
            sent = [client.post("/sets/none/check", content=b"x") for _ in range(3)]
            left = [client.get("/me") for _ in range(4)]
        assert httpx.get(f"{address}/sets").status_code == 200
    assert [response.status_code for response in sent] == [404, 404, 429]
    assert sent[0].headers["ratelimit-limit"] == "6"
    assert [response.status_code for response in left] == [200, 200, 200, 429]
    assert left[0].headers["ratelimit-remaining"] == "2"
    assert 1 <= int(left[3].headers["retry-after"]) <= 60
    assert left[3].headers["content-type"] == "application/problem+json"


@pytest.mark.slow
def test_guessed_tokens_lock_out_and_are_not_logged(tmp_path: Path) -> None:
    """Repeated guesses get a 429, the right token never does; the log contains no guesses."""
    with small(tmp_path) as (address, secret):
        prefix = secret.split("_")[1]
        guesses = [f"aa_{prefix}_guess{number}" for number in range(12)]
        *early, last, right = (
            httpx.get(f"{address}/me", headers={"Authorization": f"Bearer {token}"})
            for token in (*guesses, secret)
        )
    assert [answer.status_code for answer in early[:10]] == [401] * 10
    assert last.status_code == 429
    assert int(last.headers["retry-after"]) > 0
    assert right.status_code == 200
    log = (tmp_path / "log").read_text()
    assert secret not in log
    assert "guess" not in log


def test_browser_signs_in_and_out(club: Club) -> None:
    site = club.address.removesuffix("/api/v1")
    with httpx.Client(base_url=site, headers={"Origin": site}) as browser:
        form = browser.get("/auth/sign-in")
        signed = browser.post("/auth/sign-in", data={"token": club.tokens["alpha"]})
        assert (signed.status_code, signed.headers["location"]) == (303, "../team")
        cookie = next(header for header in signed.headers.get_list("set-cookie") if "arena_session" in header)
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Secure" not in cookie, "this site is not served over https"
        assert club.tokens["alpha"] not in cookie
        assert "signed in as" not in form.text
        again = browser.get("/auth/sign-in").text
        assert "You are signed in as token" in again
        assert '<a href="sign-out">Sign out</a>' in again
        page = browser.get("/auth/sign-out")
        assert "of alpha" in page.text
        forged = browser.post("/auth/sign-out", headers={"Origin": "https://evil.example"})
        assert forged.status_code == 403
        assert browser.post("/auth/sign-out").status_code == 303
        assert browser.get("/auth/sign-out").status_code == 303, "the session has ended"


def test_form_from_other_site_is_refused(club: Club) -> None:
    site = club.address.removesuffix("/api/v1")
    fields = {"token": club.tokens["alpha"]}
    with httpx.Client(base_url=site) as browser:
        for origin in ("https://evil.example", "null", ""):
            headers = {"Origin": origin} if origin else {}
            assert browser.post("/auth/sign-in", data=fields, headers=headers).status_code == 403
        own = {"Origin": site}
        long = {**fields, "more": "x" * 10_000}
        assert browser.post("/auth/sign-in", data=long, headers=own).status_code == 403
        many = {f"field{number}": "x" for number in range(50)}
        assert browser.post("/auth/sign-in", data=many, headers=own).status_code == 403
        assert "arena_session" not in browser.cookies


def test_wrong_token_in_form_is_reported_but_not_repeated(club: Club) -> None:
    site = club.address.removesuffix("/api/v1")
    with httpx.Client(base_url=site, headers={"Origin": site}) as browser:
        response = browser.post("/auth/sign-in", data={"token": "aa_1_<script>"})
        assert response.status_code == 401
        assert "Invalid or expired" in response.text
        assert "script>" not in response.text
        assert "frame-ancestors 'none'" in response.headers["content-security-policy"]
