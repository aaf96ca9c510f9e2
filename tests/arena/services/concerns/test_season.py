"""A season of an arena: three teams, two organisers, a copy, a capped round, a dispute, a second season."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, PUBLIC, Caller, CallerKind
from arena.services.concerns.service import Complaint
from arena.services.rounds.models import RoundRequest
from data.errors import ConflictError
from data.records import Outcome, Preference, Role, TokenScope
from data.records.concerns import ConcernKind, Decision
from tests.arena.conftest import write_answers, write_set

REFERENCE = "Item {n} is {word}. It weighs {weight} grams."
TEXTS = {
    "alpha": ("They call item {n} {word}, and I was told so.", 12),
    "beta": (REFERENCE, 12),
    "gamma": ("As far as is known, {word} is the name of item number {n}.", 7),
}
OLGA, OTTO = (
    Caller(kind=CallerKind.SESSION, name=name, scopes=frozenset(TokenScope), organiser=True, account=name)
    for name in ("olga", "otto")
)


def member(team: str) -> Caller:
    """The owner of a team, with an account of the same name."""
    scopes = frozenset(TokenScope) - {TokenScope.ORGANISE}
    return Caller(
        kind=CallerKind.SESSION, name=team, roles=((team, Role.OWNER),), scopes=scopes, account=team
    )


def judged(arena: Arena, name: str, **wanted: Any) -> None:  # noqa: ANN401 - fields of a request
    """Plan a round and judge it as far as its cap allows."""
    arena.rounds.create(RoundRequest(**{"set_name": "tiny", "pairs": "all", "name": name, **wanted}))
    arena.rounds.run(name, concurrency=2, report=lambda _progress: None)


def published(arena: Arena, name: str) -> str:
    """Publish a round; gives the hash of its board."""
    board, _ = arena.boards.publish(name, report=lambda _line: None, score=False, caller=OLGA)
    return board.content_hash


def dispute(arena: Arena, name: str, caller: Caller) -> int:
    """Dispute the first judgment of a round that prefers a side; gives the concern's number."""
    shown = next(one for one in arena.store.verdicts.evidence(name) if one.battle.preference is Preference.A)
    complaint = Complaint(
        round_name=name,
        question_id=shown.battle.question_id,
        battle=shown.battle.key,
        judge=shown.judgments[0].judge,
        presentation=shown.judgments[0].presentation,
        reason="It counts the same fact twice.",
        session="",
    )
    return arena.concerns.dispute(complaint, caller=caller).id


@pytest.mark.slow
def test_a_season(  # noqa: PLR0915 - a walk in one piece
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    """What needs an organiser reaches one and is decided once; boards and teams learn what came of it."""
    arena = filled(endpoint=scripted_llm(rule="hash").url)
    numbers = {}
    for team, (text, count) in TEXTS.items():
        arena.teams.add(team, caller=OLGA)
        path = write_answers(tmp_path / f"{team}.jsonl", (text,), count)
        added = arena.submissions.add(path, "tiny", system=f"{team}-1", team=team, caller=member(team))
        numbers[team] = added.submission.id
        assert b"".join(arena.submissions.file(numbers[team], caller=member(team))[1]) == path.read_bytes()

    # The copy is before both organisers, and not before the team's rivals.
    (copy,) = (one for one in arena.concerns.waiting(caller=OTTO) if one.submission_id == numbers["beta"])
    assert copy.kind is ConcernKind.NEAR_COPIES

    # A round that reaches its cap says so, lists what it left out, and goes on with a larger one.
    judged(arena, "capped", judge="reference-free", budget_usd=0.002, canaries=0)
    watch = arena.round_admin.watch("capped", caller=OTTO)
    assert watch.capped
    assert watch.retriable == {"skipped": watch.counts.skipped}
    left_out = arena.round_admin.without_verdict("capped", Outcome.SKIPPED, limit=500, caller=OTTO)
    assert len(left_out) == watch.counts.skipped
    assert {one.kind for one in arena.concerns.waiting(caller=OLGA)} >= {ConcernKind.CAP_REACHED}
    arena.rounds.set_budget("capped", 5.0, caller=OLGA)
    assert arena.rounds.retry("capped", caller=OLGA) == len(left_out)
    arena.rounds.run("capped", concurrency=2, report=lambda _progress: None)
    assert not arena.round_admin.watch("capped", caller=OLGA).capped

    # A board, a dispute of a reader, and two organisers who decide it: the second learns what happened.
    judged(arena, "spring", judge="lexical")
    again = arena.round_admin.estimate(
        RoundRequest(set_name="tiny", pairs="all", judge="lexical", name="again"), caller=OTTO
    )
    assert any("spring has" in one["text"] for one in again["to_do"])
    before = published(arena, "spring")
    number = dispute(arena, "spring", member("alpha"))
    assert arena.concerns.notices("spring") == ("1 verdict is under review.",)
    arena.concerns.decide(number, Decision.CORRECTED, reason="It does.", verdict=Preference.B, caller=OLGA)
    with pytest.raises(ConflictError, match="olga decided"):
        arena.concerns.decide(number, Decision.UPHELD, reason="It does not.", caller=OTTO)
    assert [one.reason for one in arena.concerns.mine(caller=member("alpha"))] == ["It does."]
    assert published(arena, "spring") != before

    # The copy is disqualified: its name stays on the board, marked beside that of the partial system.
    arena.concerns.decide(copy.id, Decision.DISQUALIFIED, reason="It copies.", caller=OTTO)
    board = arena.boards.get("spring", caller=PUBLIC)
    assert board.marks["beta-1"] == "disqualified: It copies."
    assert board.marks["gamma-1"].startswith("partial: ")
    assert "alpha-1" not in board.marks
    with pytest.raises(ConflictError, match="withdrawn"):
        arena.submissions.file(numbers["beta"], caller=member("beta"))
    assert "beta-1" not in {one.system for one in arena.planner.entrants("tiny")}

    # A second season under the same title: the import warns, and nothing of the first counts in it.
    (tmp_path / "second").mkdir()
    folder = write_set(tmp_path / "second")
    settings = folder / "set.toml"
    settings.write_text(settings.read_text().replace('name = "tiny"', 'name = "tiny-2"', 1))
    imported = arena.sets.import_from(folder, caller=OPERATOR)
    assert "title-taken" in {problem.code for problem in imported.warnings}
    for team in ("alpha", "gamma"):
        path = write_answers(tmp_path / f"{team}-2.jsonl", (TEXTS[team][0],), 12)
        arena.submissions.add(path, "tiny-2", system=f"{team}-1", team=team, caller=member(team))
    judged(arena, "autumn", judge="lexical", set_name="tiny-2")
    published(arena, "autumn")
    assert arena.boards.get("autumn").marks == {}
    assert [head.name for head in arena.boards.heads()] == ["autumn", "spring"]
    lines = arena.submissions.find(team="alpha", caller=member("alpha"))
    assert {line.submission.set_name for line in lines} == {"tiny", "tiny-2"}
