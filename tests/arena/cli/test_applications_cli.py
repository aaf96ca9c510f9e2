"""`arena teams applications`: what organisers see of applications, and what they decide."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from arena.container import open_arena
from arena.services.accounts.registration import RegistrationRequest
from arena.settings import read_settings
from tests.arena.conftest import Commands
from tests.mail_server import Post, running_post

REQUEST = RegistrationRequest(
    team="new-team", title="New Team", contact="room 5", reason="We like it.", mail="ann@example.org"
)


@pytest.fixture
def post(monkeypatch: pytest.MonkeyPatch) -> Iterator[Post]:
    """A mail server that the settings name."""
    with running_post() as post:
        monkeypatch.setenv("ARENA_REGISTRATION", "mail")
        monkeypatch.setenv("ARENA_PUBLIC_URL", "https://arena.example.org")
        monkeypatch.setenv("ARENA_MAIL_FROM", "arena@example.org")
        monkeypatch.setenv("ARENA_SMTP_URL", post.url)
        yield post


def _apply(run: Commands, post: Post, wanted: RegistrationRequest = REQUEST) -> None:
    run.prepare(run.endpoint)
    arena = open_arena(read_settings())
    arena.registration.apply(wanted, client="192.0.2.1")
    arena.registration.confirm(post.code())
    arena.close()


def test_applications_are_listed_and_decided(run: Commands, post: Post) -> None:
    """The list has who and why, and counts every state; a decision is final and says what it made."""
    assert "There are none." in run("teams", "applications")[2]
    _apply(run, post)
    code, out, err = run("teams", "applications")
    assert code == 0
    assert "mail: ann@example.org" in out
    assert "0 unconfirmed, 1 waiting, 0 approved, 0 rejected, 0 expired." in err
    code, out, _ = run("teams", "applications", 1, "--approve", "--account", "ann")
    assert (code, out.strip()) == (0, "Team new-team is made; its owner is the account ann.")
    assert "shows your access token" in post.text()
    code, _, err = run("teams", "applications", 1, "--reject", "--reason", "no")
    assert (code, err.count("\n")) == (1, 1)
    assert "Application 1 cannot be decided: it is approved." in err
    (listed,) = run.json("teams", "applications", "--state", "approved", "--json")
    assert (listed["account"], listed["decided_by"]) == ("ann", "operator")
    assert run("teams", "applications", 9, "--approve")[0] == 1


def test_rejection_needs_its_reason(run: Commands, post: Post) -> None:
    """Without a reason the command is misused; with one the applicant reads it."""
    _apply(run, post)
    assert run("teams", "applications", 1, "--reject")[0] == 2
    code, out, _ = run("teams", "applications", 1, "--reject", "--reason", "Another time.")
    assert (code, out.strip()) == (0, "The application for new-team is rejected.")
    assert "Another time." in post.text()
