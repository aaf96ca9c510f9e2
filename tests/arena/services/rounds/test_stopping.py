"""Rounds that stop once systems are separated: what is judged, what is left out, and where it is said."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.services.rounds.stopping import QuestionFeed, StopRule, StopWhen, in_random_order
from data.errors import InputError, NotFoundError
from data.records import Outcome, Preference, RoundState, Verdict
from tests.arena.conftest import Commands
from tests.scripted_llm import ScriptedLLM

QUESTIONS = 60
ANSWERS = {
    "long": "Item {n} is well known, and much may be said of it, at some length and with some care, of {n}.",
    "middle": "Item {n} is well known, and much may be said.",
    "brief": "Item {n}.",
}


@pytest.fixture
def many(make_arena: Callable[..., Arena], tmp_path: Path) -> Callable[..., Arena]:
    """Open an arena with sixty questions, sorted by domain, and three systems of different lengths."""

    def fill(**options: str) -> Arena:
        arena = make_arena(**options)
        folder = tmp_path / "many"
        folder.mkdir()
        (folder / "set.toml").write_text(
            'name = "many"\ntitle = "Many"\nreference_name = "human"\n[domains]\nd0 = "Zero"\nd1 = "One"\n'
        )
        rows = [
            {
                "id": f"q{n:03}",
                "domain": f"d{2 * n // QUESTIONS}",
                "question": f"What of item {n}?",
                "reference": f"Item {n} is it.",
            }
            for n in range(QUESTIONS)
        ]
        (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        arena.sets.import_from(folder)
        for system, text in ANSWERS.items():
            path = tmp_path / f"{system}.jsonl"
            lines = [{"question_id": f"q{n:03}", "answer": text.format(n=n)} for n in range(QUESTIONS)]
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            arena.submissions.add(path, "many", system=system)
        return arena

    return fill


def request(**fields: object) -> RoundRequest:
    """A round of every pair, with a rule."""
    named = {"set_name": "many", "judge": "reference-free", "pairs": "all", "name": "r", "canaries": 0}
    return RoundRequest(**{**named, "stop_when": "separated", **fields})  # type: ignore[arg-type]  # given by name


def quiet(_progress: object) -> None:
    """Report nothing."""


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


@pytest.mark.long
def test_a_round_stops_once_its_leader_is_separated(
    many: Callable[..., Arena], scripted_llm: Callable[..., ScriptedLLM]
) -> None:
    """With a judge that always likes the longer answer the round ends early, and its books balance."""
    server = scripted_llm(latency=0.1)
    arena = many(endpoint=server.url)
    arena.rounds.create(request())
    counts = arena.rounds.run("r", concurrency=4, report=quiet)
    assert arena.store.rounds.get("r").state is RoundState.FINISHED
    assert 0 < counts.judged < counts.planned
    assert counts.judged + counts.skipped == counts.planned
    left_out = [battle for battle in arena.rounds.battles("r") if battle.outcome is Outcome.SKIPPED]
    assert {battle.detail for battle in left_out} == {"stopped: separated"}
    live = arena.rounds.live("r")
    assert live.stopped
    assert live.intervals == "anytime"
    assert live.systems[0].system == "long"
    assert all(row.separated for row in live.systems[1:])
    assert "Stopped after" in live.sentence
    standings = arena.boards.standings("r").as_json()
    assert standings["partial"] is False
    facts = standings["facts"]
    assert isinstance(facts, dict)
    assert facts["stopped"] == f"after {counts.judged:,} of {counts.planned:,} battles: separated"


@pytest.mark.slow
def test_two_workers_stop_together(
    many: Callable[..., Arena],
    scripted_llm: Callable[..., ScriptedLLM],
    start: Callable[..., subprocess.Popen[str]],
    until: Callable[..., None],
) -> None:
    """Whichever worker sees the leader separated, both end: books balance, and nothing is asked twice."""
    server = scripted_llm(latency=0.3)
    arena = many(endpoint=server.url)
    arena.rounds.create(request())
    arena.jobs.judge("r", options={"concurrency": 3}, workers=2)
    for _ in range(2):
        start(arena, "worker")
    until(lambda: arena.store.rounds.get("r").state is RoundState.FINISHED)
    until(lambda: arena.store.leases.all() == ())
    counts = arena.rounds.status("r")[1]
    assert 0 < counts.judged < counts.planned
    assert (counts.judged + counts.skipped, counts.pending) == (counts.planned, 0)
    left_out = [battle for battle in arena.rounds.battles("r") if battle.outcome is Outcome.SKIPPED]
    assert {battle.detail for battle in left_out} == {"stopped: separated"}
    assert server.log.asked_twice == {}
    assert arena.rounds.live("r").stopped


def test_a_round_killed_after_the_last_look_stops_when_it_goes_on(many: Callable[..., Arena]) -> None:
    """The rule is read off the stored verdicts, so a resumed round asks nothing (its endpoint is dead)."""
    arena = many()
    arena.rounds.create(request())
    planted(arena, "r", 40)
    before = arena.rounds.status("r")[1]
    counts = arena.rounds.run("r", concurrency=4, report=quiet)
    assert counts.judged == before.judged
    assert counts.pending == 0
    assert counts.skipped == before.pending
    assert arena.store.rounds.get("r").state is RoundState.FINISHED


def test_retry_leaves_what_was_left_out_unless_it_is_asked_for(many: Callable[..., Arena]) -> None:
    """Plain retry opens nothing that the rule left out; with `stopped` all of it, and the rule is dropped."""
    arena = many()
    arena.rounds.create(request())
    planted(arena, "r", 40)
    counts = arena.rounds.run("r", concurrency=4, report=quiet)
    assert arena.rounds.retry("r") == 0
    assert arena.rounds.status("r")[0].state is RoundState.FINISHED
    assert arena.rounds.retry("r", stopped=True) == counts.skipped
    round_, reopened = arena.rounds.status("r")
    assert reopened.pending == counts.skipped
    assert "stop_when" not in round_.plan


def test_the_rule_of_two_systems_needs_these_two_alone(many: Callable[..., Arena]) -> None:
    """`separated:A,B` fires on its pair; the other rule does not while its leader is not ahead of all."""
    arena = many()
    arena.rounds.create(request(stop_when="separated:long,brief", name="pair"))
    planted(arena, "pair", 30)
    rule = StopRule.of_round(arena.store, arena.store.rounds.get("pair"))
    assert rule is not None
    assert rule.look()
    arena.rounds.create(request(name="few"))
    planted(arena, "few", 5)
    few = StopRule.of_round(arena.store, arena.store.rounds.get("few"))
    assert few is not None
    assert not few.look()


def test_the_rule_waits_for_the_first_question_that_has_not_ended(many: Callable[..., Arena]) -> None:
    """What came back out of order counts for nothing until the questions before it have ended."""
    arena = many()
    created = arena.rounds.create(request())
    numbers = arena.store.battles.questions(created.id)
    first = dict(numbers)[in_random_order(numbers, created.seed)[0]]
    planted(arena, "r", QUESTIONS)
    battle = next(battle for battle in arena.rounds.battles("r") if battle.question_id == first)
    arena.store.battles.reopen(created.id, (Outcome.SKIPPED,))
    rule = StopRule.of_round(arena.store, created)
    assert rule is not None
    assert rule.look()
    assert battle.outcome is Outcome.JUDGED
    arena.rounds.create(request(name="gap"))
    planted(arena, "gap", QUESTIONS)
    reopened = arena.store.battles.reopen(arena.store.rounds.get("gap").id, (Outcome.JUDGED,))
    assert reopened
    gap = StopRule.of_round(arena.store, arena.store.rounds.get("gap"))
    assert gap is not None
    assert not gap.look()
    assert arena.rounds.live("gap").questions == 0


def test_the_order_is_random_and_the_same_for_all(many: Callable[..., Arena]) -> None:
    """Questions come in an order that mixes the domains, whoever asks and whenever."""
    arena = many()
    created = arena.rounds.create(request())
    job, lease = arena.rounds.runner.begin(created)
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


def test_live_intervals_are_anytime_valid_until_the_end_and_fixed_after(many: Callable[..., Arena]) -> None:
    """Looking does not spoil the intervals of a running round; those of an ended one lie between 0 and 1."""
    arena = many()
    arena.rounds.create(request(stop_when=None))
    planted(arena, "r", 40)
    running = arena.rounds.live("r")
    assert (running.intervals, running.questions, running.planned_questions) == ("anytime", 40, QUESTIONS)
    assert "looking does not spoil them" in running.sentence
    planted(arena, "r", QUESTIONS)
    arena.rounds.run("r", concurrency=4, report=quiet)
    ended = arena.rounds.live("r")
    assert (ended.intervals, ended.questions) == ("fixed", QUESTIONS)
    assert [row.system for row in ended.systems] == ["long", "middle", "brief"]
    best = ended.systems[0]
    assert best.score == 1
    assert best.lower is not None
    assert 0.9 < best.lower < 1
    assert best.upper == 1
    assert all(row.behind_upper is not None and row.behind_upper <= 1 for row in ended.systems[1:])


def test_live_standing_and_rule_read_the_same_scores(many: Callable[..., Arena]) -> None:
    """The rule, which reads window by window, and the live standing, which reads all, agree on separation."""
    arena = many()
    arena.rounds.create(request())
    for questions in (8, 14, 20, 40):
        planted(arena, "r", questions)
        rule = StopRule.of_round(arena.store, arena.store.rounds.get("r"))
        assert rule is not None
        assert rule.look() == all(row.separated for row in arena.rounds.live("r").systems[1:])


@pytest.mark.parametrize("text", ["apart", "separated:A", "separated:A,A", "separated:A,B,C", "separated:"])
def test_rules_that_cannot_be_read_are_refused(text: str) -> None:
    """Anything but `separated` and `separated:A,B` is no rule."""
    with pytest.raises(InputError, match="no rule"):
        StopWhen.parse(text)


def test_a_rule_names_systems_of_the_round(many: Callable[..., Arena]) -> None:
    """A rule about a system that is not judged is refused before anything is stored."""
    arena = many()
    with pytest.raises(NotFoundError, match="no system nobody"):
        arena.rounds.create(request(stop_when="separated:long,nobody"))
    with pytest.raises(InputError, match="one system"):
        arena.rounds.create(request(systems=("long",)))
    assert not arena.rounds.rounds()


def test_status_shows_the_live_standing(many: Callable[..., Arena], run: Commands) -> None:
    """`rounds status` has it as a table, and under `live` in its JSON; `run` takes the rule."""
    arena = many()
    arena.rounds.create(request(stop_when=None))
    planted(arena, "r", 30)
    fields = run.json("rounds", "status", "r", "--json")
    assert fields["live"]["intervals"] == "anytime"
    assert fields["live"]["systems"][0]["system"] == "long"
    code, out, _ = run("rounds", "status", "r")
    assert code == 0
    assert "looking does not spoil them" in out
    words = ("rounds", "run", "--set", "many", "--judge", "reference-free", "--stop-when", "apart")
    code, _, err = run(*words)
    assert code == 1
    assert "no rule to stop by" in err
