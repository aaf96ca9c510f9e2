"""Races: a read before another's commit must not decide, on either engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from data.errors import AccessError, ConflictError
from data.models import Phase, Role, SubmissionState, SystemCard, TokenScope
from data.store.submissions import NewSubmission
from tests.arena.conftest import Fill, answers_file

Start = Callable[[Callable[[], object]], Future[object]]
LATER = 0.5
"""Seconds within which a call that need not wait would finish."""


@pytest.fixture
def arena(filled: Fill, database_url: str) -> Arena:
    """An arena on each engine with the team `ours`."""
    made = filled(database_url=database_url)
    made.teams.add("ours", caller=OPERATOR)
    return made


@contextmanager
def meanwhile(arena: Arena, change: Callable[[], object]) -> Iterator[Start]:
    """Make a change, and commit it only after the block's calls have read."""
    ready, go = threading.Event(), threading.Event()

    def first() -> None:
        with arena.store.changing():
            change()
            ready.set()
            go.wait(30)

    with ThreadPoolExecutor(4) as pool:
        future = pool.submit(first)
        assert ready.wait(30)

        def start(second: Callable[[], object]) -> Future[object]:
            started = pool.submit(second)
            time.sleep(LATER)
            return started

        try:
            yield start
        finally:
            go.set()
            future.result()


@pytest.fixture
def held(arena: Arena, tmp_path: Path) -> int:
    """Submission that was only checked."""
    path = answers_file(tmp_path, "held", "Item {n} is {word}, held.")
    added = arena.submissions.add(path, "tiny", system="held", team="ours", confirm=False)
    return added.submission.id


@pytest.mark.slow
def test_submission_is_withdrawn_and_confirmed_once(arena: Arena, held: int) -> None:
    """The second withdrawal does not change the reason, and a late confirmation has no effect."""
    with meanwhile(arena, lambda: arena.store.submissions.confirm(held)) as start:
        again = start(lambda: arena.submissions.confirm(held))
    with pytest.raises(ConflictError, match="accepted"):
        again.result()
    with meanwhile(arena, lambda: arena.store.submissions.withdraw(held, "first")) as start:
        again = start(lambda: arena.submissions.withdraw(held, reason="second"))
        chosen = start(lambda: arena.submissions.select(held))
        confirmed = start(lambda: arena.submissions.confirm(held))
    for late in (again, chosen, confirmed):
        with pytest.raises(ConflictError, match="withdrawn"):
            late.result()
    submission = arena.store.submissions.get(held)
    state = (submission.state, submission.withdrawn_reason, submission.selected)
    assert state == (SubmissionState.WITHDRAWN, "first", False)


@pytest.mark.slow
def test_quota_limits_concurrent_confirmations(arena: Arena, held: int, tmp_path: Path) -> None:
    arena.policies.put_phase("tiny", Phase(daily_quota=1, total_quota=1))

    def other() -> None:
        arena.submissions.add(
            answers_file(tmp_path, "other", "Other {n}."), "tiny", system="other", team="ours"
        )

    with meanwhile(arena, other) as start:
        second = start(lambda: arena.submissions.confirm(held))
    with pytest.raises(ConflictError, match="has used its 1 submissions"):
        second.result()


def test_token_is_valid_during_write(arena: Arena) -> None:
    made = arena.tokens.create(name="t", scopes={TokenScope.READ}, team="ours", caller=OPERATOR)
    with meanwhile(arena, lambda: arena.teams.add("another", caller=OPERATOR)) as start:
        reading = start(lambda: arena.identities.of_token(made.secret, client="192.0.2.1").teams)
        assert reading.result() == ("ours",)
    arena.identities.of_token(made.secret, client="192.0.2.1")
    assert arena.store.tokens.get(made.id).used_at is not None


def test_concurrent_teams_cannot_share_name(arena: Arena) -> None:
    arena.store.submissions.add(_new("same"), [])
    with pytest.raises(ConflictError, match="by another process"):
        arena.store.submissions.add(_new("same", "theirs"), [])
    assert [submission.team for submission in arena.store.submissions.find(system="same")] == ["ours"]


def _new(system: str, team: str = "ours") -> NewSubmission:
    return NewSubmission(set_name="tiny", system=system, team=team, card=SystemCard(), content_hash=system)


@pytest.mark.slow
def test_similar_names_are_not_both_registered(arena: Arena) -> None:
    with meanwhile(arena, lambda: arena.store.submissions.add(_new("twin"), [])) as start:

        def follow() -> object:
            with arena.store.changing():
                return arena.store.submissions.add(_new("Tw1n.", "theirs"), [])

        second = start(follow)
    with pytest.raises(ConflictError, match=r"'Tw1n.' looks like 'twin' on tiny"):
        second.result()
    assert [submission.system for submission in arena.store.submissions.find() if submission.team] == ["twin"]


@pytest.mark.slow
def test_two_owners_cannot_remove_each_other(arena: Arena) -> None:
    for name, role in (("ann", Role.OWNER), ("bob", Role.OWNER), ("cat", Role.MEMBER)):
        arena.teams.add_account(name, caller=OPERATOR)
        arena.teams.add_member("ours", name, role=role, caller=OPERATOR)
    with meanwhile(arena, lambda: arena.teams.remove_member("ours", "ann", caller=OPERATOR)) as start:
        second = start(lambda: arena.teams.remove_member("ours", "bob", caller=OPERATOR))
    with pytest.raises(ConflictError, match="no owner"):
        second.result()


def test_address_belongs_to_first_account(arena: Arena) -> None:
    arena.teams.add_account("ann", email="ann@example.org", caller=OPERATOR)
    assert arena.store.teams.bind("ann", "iss#1").subject == "iss#1"
    assert arena.store.teams.bind("ann", "iss#2").subject == "iss#1"
    with pytest.raises(AccessError, match="No account"):
        arena.identities.of_oidc("iss#2", email="ann@example.org", verified=True, since=datetime.now(UTC))
