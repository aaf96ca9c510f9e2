"""Order of the questions of a round, and its standing while it is judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.rounds.judging_loop import QuestionFeed, in_random_order
from arena.services.rounds.models import RoundRequest
from data.models import Outcome, Preference, Verdict
from tests.arena.conftest import Commands, Fill, write_many

QUESTIONS = 60
ANSWERS = {
    "long": "Item {n} is well known, and much may be said of it, at some length and with some care, of {n}.",
    "middle": "Item {n} is well known, and much may be said.",
    "brief": "Item {n}.",
}


@pytest.fixture
def many(make_arena: Fill, tmp_path: Path) -> Fill:
    """Open an arena with sixty questions, sorted by domain, and three systems of different lengths."""

    def fill(**options: str) -> Arena:
        arena = make_arena(**options)
        arena.sets.import_from(write_many(tmp_path / "many", QUESTIONS))
        for system, text in ANSWERS.items():
            path = tmp_path / f"{system}.jsonl"
            lines = [{"question_id": f"q{n:02}", "answer": text.format(n=n)} for n in range(QUESTIONS)]
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            arena.submissions.add(path, "many", system=system)
        return arena

    return fill


def request(**fields: object) -> RoundRequest:
    """A round of every pair."""
    named = {"set_name": "many", "judge": "reference-free", "pairs": "all", "name": "r"}
    return RoundRequest(**{**named, **fields})  # type: ignore[arg-type]  # given by name


def planted(arena: Arena, name: str, questions: int) -> None:
    """Verdicts for the longer answer on the first questions of the random order."""
    round_ = arena.store.rounds.get(name)
    order = in_random_order(arena.store.battles.questions(round_.id), round_.seed)
    keys = dict(arena.store.battles.questions(round_.id))
    first = {keys[number] for number in order[:questions]}
    length = {"long": 3, "middle": 2, "human": 1, "brief": 0}
    verdicts = [
        (
            battle.id,
            Verdict(
                outcome=Outcome.JUDGED,
                preference=Preference.A
                if length[battle.system_a] > length[battle.system_b]
                else Preference.B,
            ),
        )
        for battle in arena.rounds.battles(name)
        if battle.question_id in first
    ]
    arena.store.verdicts.record(verdicts)


def test_the_order_is_random_and_the_same_for_all(many: Fill) -> None:
    arena = many()
    created = arena.rounds.create(request())
    job, lease = arena.job_leases.begin(created.id)
    feed = QuestionFeed(arena.store, lease.id, created.id, created.seed, limit=6)
    taken = []
    while batch := feed.take():
        taken += [battle.question.id for battle in batch]
    keys = dict(arena.store.battles.questions(created.id))
    order = [keys[number] for number in in_random_order(keys.items(), created.seed)]
    assert list(dict.fromkeys(taken)) == order
    assert len(taken) == arena.rounds.status("r")[1].planned
    assert order != sorted(order)
    assert 8 < sum(int(key[1:]) < QUESTIONS / 2 for key in order[: QUESTIONS // 2]) < 22
    assert in_random_order(keys.items(), 1) != in_random_order(keys.items(), 0)
    assert job.round_id == created.id


def test_live_standing_counts_stored_verdicts(many: Fill) -> None:
    arena = many()
    arena.rounds.create(request())
    assert [row.score for row in arena.rounds.live("r").systems] == [None, None, None]
    planted(arena, "r", 40)
    live = arena.rounds.live("r")
    assert (live.questions, live.planned_questions) == (40, QUESTIONS)
    assert [row.system for row in live.systems] == ["long", "middle", "brief"]
    best = live.systems[0]
    assert (best.score, best.questions, best.upper) == (1, 40, 1)
    assert best.lower is not None
    assert 0.8 < best.lower < 1


def test_status_includes_live_standing(many: Fill, run: Commands) -> None:
    arena = many()
    arena.rounds.create(request())
    planted(arena, "r", 30)
    live = run.json("rounds", "status", "r", "--json")["live"]
    assert (live["questions"], live["systems"][0]["system"]) == (30, "long")
    code, out, _ = run("rounds", "status", "r")
    assert (code, "Verdicts on 30 of 60 questions" in out) == (0, True)
