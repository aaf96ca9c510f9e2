"""Applications for teams over HTTP, against a running server and a mail server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.accounts.registration import MOST_OF_CLIENT
from arena.settings import Registration, Settings
from tests.mail_server import Post, running_post

SITE = "https://arena.example.org"
REQUEST = {
    "team": "new-team",
    "title": "New Team",
    "contact": "room 5",
    "reason": "We like questions.",
    "mail": "ann@example.org",
}


@pytest.fixture
def post() -> Iterator[Post]:
    """A mail server."""
    with running_post() as post:
        yield post


@pytest.fixture
def settings(empty_home: Path, post: Post) -> Settings:
    """Those of an arena that takes applications by mail."""
    return Settings(
        home=empty_home,
        database_url=f"sqlite:///{empty_home / 'arena.sqlite'}",
        registration=Registration.MAIL,
        public_url=SITE,
        smtp_url=post.url,
        mail_from="arena@example.org",
    )


@pytest.fixture
def visitor(settings: Settings, serve: Callable[..., str]) -> Iterator[httpx.Client]:
    """A client without a token."""
    variables = {
        "ARENA_REGISTRATION": "mail",
        "ARENA_PUBLIC_URL": SITE,
        "ARENA_SMTP_URL": settings.smtp_url or "",
        "ARENA_MAIL_FROM": settings.mail_from,
    }
    with httpx.Client(base_url=serve(settings, **variables), timeout=30) as client:
        yield client


def test_application_by_http_ends_with_a_token(
    visitor: httpx.Client, settings: Settings, post: Post, tmp_path: Path
) -> None:
    """Apply, confirm, be approved, fetch the token, use it; the log holds no code and no mail address."""
    applied = visitor.post("/registrations", json=REQUEST)
    assert (applied.status_code, applied.json()) == (202, {"state": "unconfirmed"})
    codes = [post.code()]
    confirmed = visitor.post("/registrations/confirm", json={"code": codes[0]})
    assert (confirmed.status_code, confirmed.json()) == (200, {"state": "waiting"})
    again = visitor.post("/registrations/confirm", json={"code": codes[0]})
    assert (again.status_code, again.json()["detail"]) == (404, "This link was used already, or is over.")
    arena = Arena(settings)
    (application,) = arena.applications.all(caller=OPERATOR)
    arena.applications.approve(application.id, caller=OPERATOR)
    arena.close()
    codes.append(post.code())
    fetched = visitor.post("/registrations/token", json={"code": codes[1]})
    assert (fetched.status_code, fetched.headers["cache-control"]) == (201, "no-store")
    assert visitor.post("/registrations/token", json={"code": codes[1]}).status_code == 404
    headers = {"Authorization": f"Bearer {fetched.json()['token']}"}
    assert visitor.get("/me", headers=headers).json()["teams"] == {"new-team": "owner"}
    log = (tmp_path / "server.log").read_text()
    assert not any(text in log for text in (*codes, "ann@example.org", fetched.json()["token"]))


@pytest.mark.long
def test_answers_do_not_say_who_is_known_and_are_limited(
    visitor: httpx.Client, settings: Settings, post: Post
) -> None:
    """A known address gets the answer of strangers; what cannot be read is named; then 429."""
    arena = Arena(settings)
    arena.teams.add_account("ann", email="ann@example.org", caller=OPERATOR)
    arena.teams.add("ours", caller=OPERATOR)
    arena.close()
    known = visitor.post("/registrations", json=REQUEST)
    unknown = visitor.post("/registrations", json={**REQUEST, "mail": "bob@example.org"})
    assert (known.status_code, known.content) == (unknown.status_code, unknown.content)
    assert [address for address, _ in post.letters] == ["ann@example.org", "bob@example.org"]
    assert visitor.post("/registrations", json={**REQUEST, "team": "0urs"}).status_code == 409
    assert visitor.post("/registrations", json={**REQUEST, "mail": "bob"}).status_code == 422
    assert visitor.post("/registrations", json={**REQUEST, "organiser": True}).status_code == 422
    for number in range(MOST_OF_CLIENT - 2):
        sent = visitor.post("/registrations", json={**REQUEST, "mail": f"c{number}@example.org"})
        assert sent.status_code == 202
    late = visitor.post("/registrations", json={**REQUEST, "mail": "d@example.org"})
    assert late.status_code == 429
    assert int(late.headers["Retry-After"]) > 3_000


def test_nobody_can_apply_by_default(public: httpx.Client) -> None:
    """Where nothing is set, every application is refused as closed."""
    refused = public.post("/registrations", json=REQUEST)
    assert refused.status_code == 409
    assert refused.json()["type"].endswith("closed")
    assert refused.json()["advice"] == "Ask the organisers for a team."


def test_server_that_cannot_send_mail_does_not_start(
    settings: Settings, serve: Callable[..., str], tmp_path: Path
) -> None:
    """Without a mail server the start ends with a sentence that names the setting."""
    with pytest.raises(RuntimeError):
        serve(
            replace(settings, registration=Registration.OFF),
            ARENA_REGISTRATION="mail",
            ARENA_PUBLIC_URL=SITE,
            ARENA_MAIL_FROM="arena@example.org",
        )
    told = (tmp_path / "server.log").read_text()
    assert "ARENA_SMTP_URL is not the address of a mail server" in told
    assert "Traceback" not in told
