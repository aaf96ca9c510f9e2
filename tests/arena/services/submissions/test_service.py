from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.models.submissions import SubmissionStatus
from arena.services.accounts.auth import OPERATOR, PUBLIC, Caller, CallerKind
from arena.services.accounts.visibility import Visibility
from arena.services.rounds.models import RoundRequest
from arena.services.submissions.reader import state_of
from data.errors import (
    AccessError,
    ClosedError,
    ConflictError,
    ForbiddenError,
    InvalidFileError,
    NotFoundError,
    QuotaError,
)
from data.models import Phase, Role, RoundState, SubmissionState, TokenScope
from data.progress import Progress
from tests.arena.conftest import Fill, Serve, answers_file
from tests.narrow import known

TEXT = "Item {n} is {word}. This is number "
TEAM = Caller(
    kind=CallerKind.TOKEN,
    name="ci",
    roles=(("ours", Role.OWNER),),
    scopes=frozenset({TokenScope.SUBMIT, TokenScope.READ}),
)
RIVAL = Caller(kind=CallerKind.TOKEN, name="x", roles=(("theirs", Role.OWNER),), scopes=TEAM.scopes)
S, R = SubmissionState, RoundState
TABLE: tuple[tuple[SubmissionState, tuple[RoundState, ...], SubmissionState], ...] = (
    (S.CHECKED, (), S.CHECKED),
    (S.ACCEPTED, (), S.ACCEPTED),
    (S.ACCEPTED, (R.CANCELLED,), S.ACCEPTED),
    (S.ACCEPTED, (R.PLANNED,), S.QUEUED),
    (S.ACCEPTED, (R.RUNNING,), S.QUEUED),
    (S.ACCEPTED, (R.PAUSED,), S.QUEUED),
    (S.ACCEPTED, (R.FINISHED,), S.JUDGED),
    (S.ACCEPTED, (R.RETRACTED,), S.JUDGED),
    (S.ACCEPTED, (R.FINISHED, R.PLANNED), S.JUDGED),
    (S.ACCEPTED, (R.FINISHED, R.PUBLISHED), S.PUBLISHED),
    (S.WITHDRAWN, (R.PUBLISHED,), S.WITHDRAWN),
)


@pytest.mark.parametrize(("stored", "rounds", "state"), TABLE)
def test_state_follows_from_stored_state_and_rounds(
    stored: SubmissionState, rounds: tuple[RoundState, ...], state: SubmissionState
) -> None:
    assert state_of(stored, rounds) is state


@pytest.fixture
def submit(filled: Fill, tmp_path: Path) -> Callable[..., tuple[Arena, int]]:
    """Submit the n-th file of a system for the team."""
    arena = filled()
    arena.teams.ensure("ours")

    def add(number: int, **options: Any) -> tuple[Arena, int]:  # noqa: ANN401 - passed on
        path = answers_file(tmp_path, f"file{number}", f"{TEXT}{number}.")
        added = arena.submissions.add(path, "tiny", **{"system": "mine", "caller": TEAM, **options})
        return arena, added.submission.id

    return add


def test_withdrawal_before_judging_returns_quota(submit: Callable[..., tuple[Arena, int]]) -> None:
    arena, first = submit(1)
    arena.policies.put_phase("tiny", Phase(daily_quota=2, total_quota=2))
    _, second = submit(2)
    with pytest.raises(QuotaError, match="2 submissions"):
        submit(3)
    assert [row.version for row in arena.store.submissions.versions("tiny", "ours")] == [1, 2]
    arena.submissions.withdraw(second, caller=TEAM)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="r"))
    line = arena.submissions.view(first, caller=TEAM)
    assert (line.state, line.position, line.eta) == (SubmissionState.QUEUED, 1, None)
    arena.rounds.run("r", concurrency=2, report=lambda _progress: None)
    arena.submissions.withdraw(first, reason="a bug", caller=TEAM)
    quota = arena.submissions.quota("tiny", "ours", caller=TEAM)
    assert (quota.used, quota.left, quota.left_today) == (1, 1, 1)
    _, third = submit(3)
    with pytest.raises(QuotaError):
        submit(4)
    status = arena.submissions.view(third, caller=TEAM)
    assert (status.attempt, status.attempts) == (None, 1)


def test_unconfirmed_submission_stays_hidden(submit: Callable[..., tuple[Arena, int]]) -> None:
    """Unconfirmed versions are hidden, withdrawn or not, and leave no gap in versions."""
    arena, unconfirmed = submit(1, confirm=False, system="mine")
    arena.submissions.withdraw(unconfirmed, reason="our own reason", caller=TEAM)
    _, waiting = submit(2, confirm=False, system="mine")
    _, open_one = submit(3, system="mine")
    _, hidden = submit(4, system="other", anonymous=True)
    for caller in (PUBLIC, RIVAL):
        lines = {line.id: line for line in arena.submissions.find(set_name="tiny", caller=caller)}
        assert not {unconfirmed, waiting} & lines.keys()
        assert lines[open_one].version == 1
        for number in (unconfirmed, waiting):
            for look in (arena.submissions.view, arena.submissions.answers, arena.submissions.known):
                with pytest.raises(NotFoundError):
                    look(number, caller=caller)
    mine = arena.submissions.view(unconfirmed, caller=TEAM)
    assert (mine.visibility, mine.withdrawn_reason) == (Visibility.TOMBSTONE, "our own reason")
    assert {row.version for row in arena.store.submissions.versions("tiny", "ours")} == {1, 2, 3}
    assert arena.submissions.confirm(waiting, caller=TEAM).version == 2
    assert arena.submissions.view(waiting, caller=PUBLIC).attempts == 0
    assert arena.store.submissions.places("tiny")["other"] == 5
    seen = arena.submissions.view(hidden, caller=PUBLIC)
    assert (seen.system, seen.team, seen.content_hash) == ("Anonymous-5", "", "")


def test_unconfirmed_system_does_not_change_hidden_names(submit: Callable[..., tuple[Arena, int]]) -> None:
    """Numbers of hidden systems reveal neither unconfirmed systems nor names."""
    arena, unconfirmed = submit(1, confirm=False, system="first")
    _, hidden = submit(2, system="zz-veiled", anonymous=True)
    name = arena.submissions.view(hidden, caller=PUBLIC).system
    arena.submissions.withdraw(unconfirmed, caller=TEAM)
    assert arena.submissions.view(hidden, caller=PUBLIC).system == name == "Anonymous-4"
    seen = [line.system for line in arena.submissions.find(set_name="tiny")]
    assert seen == sorted(seen)
    assert seen[0] == name
    own = [line.system for line in arena.submissions.find(set_name="tiny", caller=TEAM)]
    assert own[-1] == "zz-veiled"


@pytest.mark.slow
def test_running_round_estimates_end(filled: Fill, scripted_llm: Serve) -> None:
    arena = filled(endpoint=scripted_llm(latency=0.2).url)
    number, other = (
        arena.store.submissions.find(set_name="tiny", system=system)[0].id for system in ("full", "short")
    )
    for name, system in (("r", "full"), ("next", "short")):
        arena.rounds.create(
            RoundRequest(set_name="tiny", judge="reference-free", name=name, systems=(system,))
        )
    seen: list[tuple[SubmissionStatus, SubmissionStatus]] = []

    def look(progress: Progress) -> None:
        if progress.done < known(progress.total):
            first, second = (arena.submissions.view(row, caller=OPERATOR) for row in (number, other))
            seen.append((first, second))

    arena.rounds.run("r", concurrency=2, report=look)
    assert seen, "nothing was reported while the round ran"
    first, second = seen[-1]
    assert (first.state, first.position) == (SubmissionState.QUEUED, 1)
    assert (second.state, second.position) == (SubmissionState.QUEUED, 2)
    assert first.eta is not None
    assert second.eta is not None
    assert datetime.now(UTC) - timedelta(minutes=1) < first.eta < second.eta
    after = arena.submissions.view(other, caller=OPERATOR)
    assert (after.position, after.eta) == (1, None)


def test_late_submission_reports_deadline(submit: Callable[..., tuple[Arena, int]]) -> None:
    arena, _ = submit(1)
    closed = datetime.now(UTC) - timedelta(minutes=1)
    arena.policies.put_phase("tiny", Phase(name="final", closes_at=closed))
    with pytest.raises(ClosedError, match=closed.strftime("%Y-%m-%d %H:%M")):
        submit(2)
    assert len(arena.store.submissions.versions("tiny", "ours")) == 1
    arena.policies.put_phase("tiny", Phase(name="late", opens_at=closed, answer_chars=5))
    with pytest.raises(InvalidFileError):
        submit(3)


def test_selected_version_enters_rounds(submit: Callable[..., tuple[Arena, int]]) -> None:
    arena, first = submit(1)
    submit(2)
    _, unconfirmed = submit(3, confirm=False)

    def entered() -> int:
        plan = arena.planner.plan(RoundRequest(set_name="tiny", judge="lexical", systems=("mine",)))
        return plan.entrants[0].version

    assert entered() == 2
    arena.submissions.select(first, caller=TEAM)
    assert entered() == 1
    with pytest.raises(ConflictError, match="not confirmed"):
        arena.submissions.select(unconfirmed, caller=TEAM)
    arena.submissions.confirm(unconfirmed, caller=TEAM)
    arena.submissions.select(unconfirmed, caller=TEAM)
    assert entered() == 3
    arena.submissions.withdraw(unconfirmed, caller=TEAM)
    assert entered() == 2


def test_other_teams_cannot_reuse_name_or_change_submission(submit: Callable[..., tuple[Arena, int]]) -> None:
    arena, number = submit(1)
    arena.teams.ensure("theirs")
    with pytest.raises(ConflictError, match="taken"):
        submit(2, caller=RIVAL)
    with pytest.raises(ConflictError, match="hidden"):
        submit(2, system="anonymous-1")
    with pytest.raises(ForbiddenError):
        submit(2, caller=RIVAL, team="ours")
    for caller, error in ((RIVAL, ForbiddenError), (PUBLIC, AccessError)):
        with pytest.raises(error):
            arena.submissions.withdraw(number, caller=caller)


def test_hidden_submission_looks_absent(submit: Callable[..., tuple[Arena, int]]) -> None:
    arena, number = submit(1, confirm=False)
    for change in (arena.submissions.confirm, arena.submissions.select, arena.submissions.withdraw):
        with pytest.raises(NotFoundError) as nothing:
            change(number + 1000, caller=RIVAL)
        with pytest.raises(NotFoundError) as hidden:
            change(number, caller=RIVAL)
        assert str(hidden.value) == str(nothing.value).replace(str(number + 1000), str(number))


def test_relative_path_starts_at_current_folder(
    filled: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena = filled()
    for name in ("first", "second"):  # the process that checked the first file checks the second
        folder = tmp_path / name
        folder.mkdir()
        path = answers_file(folder, name, f"{TEXT}{name}.")
        monkeypatch.chdir(folder)
        assert arena.submissions.check(Path(path.name), "tiny").accepted
