"""Gates: which versions they hold against each other, what they ask, what they leave behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.accounts.auth import PUBLIC, Caller, CallerKind
from arena.services.gates.model import GateReport, GateRequest
from arena.workers.worker import Worker
from data.errors import (
    AccessError,
    ConflictError,
    ForbiddenError,
    InputError,
    NotFoundError,
    QuotaError,
)
from data.records import GateRule, Role, SubmissionKind, SubmissionState, TokenScope

QUESTIONS = 120
SCOPES = frozenset({TokenScope.READ, TokenScope.SUBMIT})
ANN = Caller(kind=CallerKind.TOKEN, name="Ann", roles=(("alpha", Role.MEMBER),), scopes=SCOPES)
BEN = Caller(kind=CallerKind.TOKEN, name="Ben", roles=(("beta", Role.MEMBER),), scopes=SCOPES)
READER = Caller(
    kind=CallerKind.TOKEN, name="Rae", roles=(("alpha", Role.MEMBER),), scopes=frozenset({TokenScope.READ})
)
GOOD, BAD = "Item {n} weighs {w} grams and is blue.", "I couldn't find an answer."


def _set(folder: Path) -> Path:
    folder.mkdir()
    (folder / "set.toml").write_text(
        'name = "many"\ntitle = "Many"\nreference_name = "human"\n[domains]\nd0 = "Zero"\nd1 = "One"\n'
    )
    rows = [
        {
            "id": f"q{n}",
            "domain": f"d{n % 2}",
            "question": f"What do we know of item {n}?",
            "reference": f"Item {n} weighs {n + 10} grams.",
            "passages": [{"id": f"p{n}", "text": f"Item {n} weighs {n + 10} grams and is blue."}],
        }
        for n in range(QUESTIONS)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


class Gates:
    """An arena with a set of 120 questions, of which a system has one version."""

    def __init__(self, arena: Arena, folder: Path) -> None:
        self.arena, self._folder = arena, folder

    def send(self, texts: Callable[[int], str], *, hold: bool = True, team: str = "alpha") -> int:
        """Send a version of `sys`; an empty text is left out. Gives its number."""
        path = self._folder / "answers.jsonl"
        rows = [
            {"question_id": f"q{n}", "answer": text.format(n=n, w=n + 10)}
            for n in range(QUESTIONS)
            if (text := texts(n))
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        added = self.arena.submissions.add(path, "many", system="sys", team=team, confirm=not hold)
        return added.submission.id

    def run(self, number: int, max_loss: float = 20, **options: Any) -> GateReport:  # noqa: ANN401 - fields
        """Judge a gate as the operator."""
        return self.arena.gates.run(GateRequest(submission=number, max_loss=max_loss, **options))


@pytest.fixture
def gates(make_arena: Callable[..., Arena], tmp_path: Path) -> Callable[..., Gates]:
    """Open such arenas."""

    def make(**options: Any) -> Gates:  # noqa: ANN401 - settings of any type
        arena = make_arena(**options)
        arena.sets.import_from(_set(tmp_path / "many"))
        made = Gates(arena, tmp_path)
        made.send(lambda _n: GOOD, hold=False)
        return made

    return make


def test_worse_version_is_recognised_by_few_questions(gates: Callable[..., Gates]) -> None:
    """The first look of 50 questions is enough where every answer is lost; the rest is never asked."""
    world = gates()
    report = world.run(world.send(lambda _n: BAD))
    assert (report.verdict, report.stopped, report.asked) == ("worse", "decided", 50)
    assert report.overall.upper < -20
    assert report.overall.difference == -100
    assert (report.old.version, report.new.state) == (1, "checked")
    assert [wave[0] for wave in report.waves] == [50]


def test_better_version_passes(gates: Callable[..., Gates]) -> None:
    """A version that wins where the old one lost passes, and says by how much."""
    world = gates()
    world.send(lambda n: BAD if n % 2 else GOOD, hold=False)
    report = world.run(world.send(lambda _n: GOOD + " It is."))
    assert (report.verdict, report.old.version) == ("pass", 2)
    assert report.overall.difference is not None
    assert report.overall.difference > 0
    assert {share.domain for share in report.domains} == {"d0", "d1"}


def test_answers_that_did_not_change_are_not_asked(gates: Callable[..., Gates]) -> None:
    """Same texts differ by 0 without a request, so a small change is decided by few of them."""
    world = gates()
    report = world.run(world.send(lambda n: BAD if n < 3 else GOOD), max_loss=30)
    assert report.verdict == "pass"
    assert (report.same, report.questions) == (117, 120)
    assert report.asked <= 3


def test_same_answers_pass_unasked(gates: Callable[..., Gates]) -> None:
    """A file with the same content has no other version to be worse than, whatever may be lost."""
    world = gates()
    report = world.run(world.send(lambda _n: GOOD), max_loss=0)
    assert (report.verdict, report.asked, report.reason) == (
        *("pass", 0),
        "Both versions have the same answers.",
    )


def test_missing_answers_are_lost(gates: Callable[..., Gates]) -> None:
    """A version that leaves out what it used to win is no better for it."""
    world = gates()
    report = world.run(world.send(lambda n: GOOD if n < 20 else ""))
    assert (report.verdict, report.lost, report.same) == ("worse", 100, 20)


def test_new_questions_are_counted_and_in_no_figure(gates: Callable[..., Gates]) -> None:
    """Questions that the old version did not answer cannot be compared."""
    world = gates()
    world.send(lambda n: GOOD if n < 60 else "", hold=False)
    report = world.run(world.send(lambda _n: BAD))
    assert (report.added, report.questions, report.verdict) == (60, 60, "worse")


def test_open_question_is_undecided(gates: Callable[..., Gates]) -> None:
    """Where the interval holds the allowed loss at the end of the questions, nothing is claimed."""
    world = gates()
    report = world.run(world.send(lambda n: BAD if n % 5 == 0 else GOOD + " So."), max_loss=20)
    assert (report.verdict, report.stopped) == ("undecided", "questions")
    assert "open at the end of the questions" in report.reason
    assert [wave[0] for wave in report.waves] == [50, 100, 120]


def test_cap_ends_a_gate(gates: Callable[..., Gates], scripted_llm: Callable[..., Any]) -> None:
    """A judge that asks an LLM stays within the cap; what the cap left out is in no figure."""
    world = gates(endpoint=scripted_llm().url)
    new = world.send(lambda _n: GOOD + " So.")
    report = world.run(new, judge="reference-free", budget_usd=0.05, max_loss=1)
    assert (report.stopped, report.verdict) == ("budget", "undecided")
    assert 0 < report.cost_usd <= 0.05
    assert report.overall.questions == report.asked < QUESTIONS
    with pytest.raises(InputError, match="has no cap"):
        world.run(new, judge="reference-free")


@pytest.mark.long
def test_judge_that_fails_often_lets_nothing_pass(
    gates: Callable[..., Gates], scripted_llm: Callable[..., Any]
) -> None:
    """Where more than a tenth of the questions have no verdict, a gate is undecided, and says so."""
    world = gates(endpoint=scripted_llm(faults={"wrong_format": 1.0}).url)
    report = world.run(
        world.send(lambda _n: GOOD + " So."), judge="reference-free", budget_usd=50, max_loss=99
    )
    assert report.verdict == "undecided"
    assert sum(report.unjudged.values()) == report.asked > 0
    assert "have no verdict" in report.reason


def test_gate_leaves_nothing_but_the_draft(gates: Callable[..., Gates]) -> None:
    """No round, no use of the quota, nothing that the public sees; the version stays checked."""
    world = gates()
    arena = world.arena
    used = arena.submissions.quota("many", "alpha", caller=ANN).used
    number = world.run(world.send(lambda _n: BAD)).new.submission
    assert arena.rounds.rounds() == ()
    assert arena.submissions.quota("many", "alpha", caller=ANN).used == used
    assert arena.store.submissions.get(number).state is SubmissionState.CHECKED
    with pytest.raises(NotFoundError):
        arena.submissions.view(number, caller=PUBLIC)
    assert [line.submission.version for line in arena.submissions.find(caller=PUBLIC)] == [1]


def test_versions_are_named_in_three_ways(gates: Callable[..., Gates]) -> None:
    """`last`, the number of a version or of a submission; never a draft, or what was withdrawn."""
    world = gates()
    first = world.arena.store.submissions.find(set_name="many")[0]
    draft = world.send(lambda _n: BAD)
    assert world.run(draft, against="1").old.submission == first.id
    assert world.run(draft, against=f"id:{first.id}").old.submission == first.id
    with pytest.raises(NotFoundError, match="no version 2 on many; there are: 1"):
        world.run(draft, against="2")
    with pytest.raises(NotFoundError, match="no submission 1 "):
        world.run(draft, against="id:1")
    with pytest.raises(InputError, match="names no version"):
        GateRequest(submission=draft, max_loss=1, against="newest")
    with pytest.raises(InputError, match="no loss"):
        GateRequest(submission=draft, max_loss=float("nan"))
    world.arena.submissions.withdraw(first.id)
    with pytest.raises(ConflictError, match="Version 1 of sys is withdrawn"):
        world.run(draft, against="1")
    with pytest.raises(NotFoundError, match="no submitted version"):
        world.run(draft)
    world.arena.submissions.withdraw(draft)
    with pytest.raises(ConflictError, match="is withdrawn"):
        world.run(draft)


def test_contexts_have_no_gate(gates: Callable[..., Gates], tmp_path: Path) -> None:
    """A gate compares answers: a submission of contexts is refused in a line."""
    world = gates()
    path = tmp_path / "contexts.run"
    path.write_text("".join(f"q{n} Q0 p{n} 1 1.0 sys\n" for n in range(QUESTIONS)))
    added = world.arena.submissions.add(path, "many", system="finder", kind=SubmissionKind.CONTEXTS)
    with pytest.raises(InputError, match="holds contexts"):
        world.run(added.submission.id)


def test_teams_gate_within_the_rule_of_the_set(gates: Callable[..., Gates]) -> None:
    """Without a rule a team has none; with it the judge is the set's, and the day has its count."""
    world = gates()
    arena, draft = world.arena, world.send(lambda _n: BAD)
    request = GateRequest(submission=draft, max_loss=5)
    with pytest.raises(ForbiddenError, match="allow no gates"):
        arena.gate_queue.put(request, caller=ANN)
    arena.policies.allow_gates("many", GateRule(judge="lexical", per_day=2))
    with pytest.raises(ForbiddenError, match="judged by lexical, not by reference"):
        arena.gate_queue.put(GateRequest(submission=draft, max_loss=5, judge="reference"), caller=ANN)
    first = arena.gate_queue.put(request, caller=ANN)
    assert (first.state, first.position, first.result) == ("queued", 1, None)
    arena.gate_queue.put(request, caller=ANN)
    with pytest.raises(QuotaError, match="its 2 gates of today"):
        arena.gate_queue.put(request, caller=ANN)
    Worker(arena, arena.job_leases.worker).run(once=True)
    done = arena.gate_queue.get(first.id, caller=ANN)
    assert (done.state, done.result and done.result["verdict"]) == ("done", "worse")


def test_gates_of_a_rule_keep_its_cap(gates: Callable[..., Gates], scripted_llm: Callable[..., Any]) -> None:
    """A team may ask for less than the set allows, never for more."""
    world = gates(endpoint=scripted_llm().url)
    arena, draft = world.arena, world.send(lambda _n: BAD)
    rule = GateRule(judge="reference-free", budget_usd=0.5)
    arena.gates.require_usable(rule)
    arena.policies.allow_gates("many", rule)
    for asked, allowed in ((None, 0.5), (0.2, 0.2), (100.0, 0.5)):
        request = GateRequest(submission=draft, max_loss=5, budget_usd=asked)
        assert arena.gate_rules.admit(request, caller=ANN).request.budget_usd == allowed
    with pytest.raises(InputError, match="need a cap"):
        arena.gates.require_usable(GateRule(judge="reference-free"))


def test_gates_are_their_teams_alone(gates: Callable[..., Gates]) -> None:
    """Others can neither gate a draft, which they may not know of, nor read what a gate says."""
    world = gates()
    arena, draft = world.arena, world.send(lambda _n: BAD)
    arena.policies.allow_gates("many", GateRule(judge="lexical"))
    request = GateRequest(submission=draft, max_loss=5)
    gate = arena.gate_queue.put(request, caller=ANN)
    with pytest.raises(NotFoundError, match=f"no submission {draft}"):
        arena.gate_queue.put(request, caller=BEN)
    with pytest.raises(AccessError):
        arena.gate_queue.put(request, caller=PUBLIC)
    with pytest.raises(ForbiddenError, match="scope submit"):
        arena.gate_queue.put(request, caller=READER)
    with pytest.raises(NotFoundError, match="no gate"):
        arena.gate_queue.get(gate.id, caller=BEN)
    with pytest.raises(AccessError):
        arena.gate_queue.get(gate.id, caller=PUBLIC)
    accepted = arena.store.submissions.find(set_name="many", newest=True)[0]
    with pytest.raises(ForbiddenError, match="not your team's"):
        arena.gate_queue.put(GateRequest(submission=accepted.id, max_loss=5), caller=BEN)
    trial = arena.jobs.calibrate(["lexical"], "", concurrency=1)
    with pytest.raises(NotFoundError, match="no gate"):
        arena.gate_queue.get(trial.id, caller=ANN)
