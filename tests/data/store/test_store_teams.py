"""Teams, tokens and phases in the store, on both engines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from data.errors import ConflictError, InvalidFileError, NotFoundError, RecordError
from data.files.question_sets.registry import load_set
from data.models import Phase, QuestionSet, Role, SetPolicy, TokenScope
from data.store import Store

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def _add_twice(store: Store) -> None:
    with store.changing():
        store.teams.add("x")
        store.teams.add("x")


def test_changes_are_atomic_and_counted(store: Store) -> None:
    before = store.changes()
    with pytest.raises(ConflictError):
        _add_twice(store)
    assert (store.teams.all(), store.changes()) == ((), before)
    with store.changing():
        store.teams.add("x")
    with store.changing(visible=False):
        store.teams.add("y")
    assert [team.name for team in store.teams.all()] == ["x", "y"]
    assert store.changes() == before + 1


def test_members_have_one_role_each(store: Store) -> None:
    store.teams.add("x")
    store.teams.add_account("ann", email="Ann@Example.org")
    store.teams.join("x", "ann", Role.MEMBER)
    store.teams.join("x", "ann", Role.OWNER)
    assert [(member.account, member.role) for member in store.teams.members("x")] == [("ann", Role.OWNER)]
    store.teams.leave("x", "ann")
    with pytest.raises(NotFoundError, match="not a member"):
        store.teams.leave("x", "ann")


@pytest.mark.parametrize("name", ["", " x", "x" * 101, "a/b", "a\nb"])
def test_unusable_team_names_are_refused(store: Store, name: str) -> None:
    with pytest.raises(RecordError):
        store.teams.add(name)


def test_email_identifies_account_without_subject(store: Store) -> None:
    store.teams.add_account("ann", email="ann@example.org")
    account = store.teams.account_of(subject="iss|1", email="ANN@example.org")
    assert account is not None
    store.teams.bind("ann", "iss|1")
    assert store.teams.account_of(subject="iss|2", email="ann@example.org") is None
    again = store.teams.account_of(subject="iss|1", email=None)
    assert again is not None
    assert again.name == "ann"


def test_policy_is_returned_unchanged(store: Store) -> None:
    store.sets.add(QuestionSet(name="s", title="S"), "h")
    zone = datetime.fromisoformat("2026-05-01T14:00+02:00")
    policy = SetPolicy(
        set_name="s",
        phases=(
            Phase(name="dev", closes_at=zone, daily_quota=2),
            Phase(name="final", opens_at=NOON, closes_at=NOON + timedelta(days=1), answer_chars=9),
        ),
        hidden_references=True,
    )
    assert store.policies.put(policy) == store.policies.get("s") == policy
    assert store.policies.put(SetPolicy(set_name="s")).current(NOON) == Phase()


def test_phases_may_not_overlap() -> None:
    early, late = Phase(name="a", closes_at=NOON), Phase(name="b", opens_at=NOON)
    policy = SetPolicy(set_name="s", phases=(early, late))
    assert [policy.current(NOON + timedelta(seconds=step)) for step in (-1, 0)] == [early, late]
    with pytest.raises(RecordError, match="same time"):
        SetPolicy(set_name="s", phases=(early, Phase(name="b")))
    with pytest.raises(RecordError, match="called a"):
        SetPolicy(set_name="s", phases=(early, Phase(name="a", opens_at=NOON)))


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("daily_quota = 2\nhidden_references = true", "Phase(name='open', opens_at=None"),
        ("phase = 'final'\ncloses_at = 2026-05-01T12:00:00Z", "datetime.timezone.utc"),
        ("closes_at = 2026-05-01", "datetime.datetime(2026, 5, 1, 23, 59, 59, tzinfo=datetime.timezone.utc)"),
        ("closes_at = 2026-05-01T12:00:00", "The time 2026-05-01 12:00 has no time zone"),
        ("daily_quota = 0", "invalid fields: daily_quota"),
        ("phase = 'not a name!'", "not a valid name"),
        ("quota = 1", "invalid fields: quota"),
    ],
)
def test_set_file_may_contain_policy(tmp_path: Path, head: str, expected: str) -> None:
    (tmp_path / "set.toml").write_text(f'name = "s"\n[domains]\nd = "D"\n[submissions]\n{head}\n')
    (tmp_path / "questions.jsonl").write_text('{"id": "q", "domain": "d", "question": "Why?"}\n')
    try:
        policy = str(load_set(tmp_path).policy)
    except InvalidFileError as error:
        policy = str(error.problems)
    assert expected in policy


def test_revoking_token_ends_its_sessions(store: Store) -> None:
    team = store.teams.add("x")
    token = store.tokens.add(
        prefix="p", digest="d", name="n", scopes=frozenset({TokenScope.READ}), expires_at=None, team=team.id
    )
    store.tokens.open_session("s", token.id, datetime.now(UTC) + timedelta(hours=1))
    assert store.tokens.of_session("s") == token
    store.tokens.revoke(token.id)
    assert store.tokens.of_session("s") is None
