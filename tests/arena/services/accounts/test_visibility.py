from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, PUBLIC, Caller, CallerKind
from arena.services.accounts.invitations import InvitationService
from arena.services.accounts.redaction import WITHHELD, redacted_question
from arena.services.accounts.teams import TeamService
from arena.services.accounts.tokens import TokenService
from arena.services.accounts.visibility import RULES, Kind, Resource, Visibility, visibility_of
from arena.services.boards.service import BoardService
from arena.services.evidence.question_lists import QuestionListService
from arena.services.evidence.questions import EvidenceService
from arena.services.evidence.systems import SystemService
from arena.services.evidence.weaknesses import WeaknessService
from arena.services.judging.calibration import CalibrationService
from arena.services.metrics.results import ScoreTableService
from arena.services.question_sets.policies import PolicyService, SetAdmin
from arena.services.question_sets.service import SetService
from arena.services.rounds.models import RoundRequest
from arena.services.rounds.planning import RoundPlanner
from arena.services.rounds.service import RoundService
from arena.services.submissions.inbox import InboxService
from arena.services.submissions.service import SubmissionService
from data.errors import AccessError, ForbiddenError, NotFoundError
from data.models import Nugget, Question, Role, TokenScope
from tests.arena.conftest import Fill, log_entries, play, quiet, write_lines
from tests.cases import cases
from tests.narrow import known

READ = frozenset({TokenScope.READ})
REQUEST = RoundRequest(set_name="tiny", judge="lexical", name="r")
CALLERS = {
    "public": PUBLIC,
    "other": Caller(kind=CallerKind.TOKEN, name="b", roles=(("other", Role.OWNER),), scopes=READ),
    "team": Caller(kind=CallerKind.TOKEN, name="a", roles=(("ours", Role.MEMBER),), scopes=READ),
    "blind": Caller(kind=CallerKind.TOKEN, name="c", roles=(("ours", Role.MEMBER),)),
    "organiser": Caller(
        kind=CallerKind.SESSION, name="o", scopes=frozenset(TokenScope), organiser=True, account="o"
    ),
    "operator": OPERATOR,
}
FLAGS = ("checked", "anonymous", "published", "withdrawn", "retracted", "hidden", "private")
State = Mapping[str, Any]
"""Flags of an object that are true."""


SEEN = {"F": Visibility.FULL, "A": Visibility.NAMELESS, "T": Visibility.TOMBSTONE, "N": Visibility.NONE}
ROWS: tuple[tuple[Kind, State, tuple[Visibility, ...]], ...] = tuple(
    (Kind(kind), dict.fromkeys(flags, True), tuple(SEEN[letter] for letter in seen))
    for kind, flags, seen in cases(__file__, "ROWS")
)


@pytest.mark.parametrize(("kind", "state", "seen"), ROWS, ids=str)
def test_visibility_follows_caller_and_state(kind: Kind, state: State, seen: tuple[Visibility, ...]) -> None:
    """Public, another team, the team, the team without read scope, organisers and the operator."""
    resource = Resource(kind=kind, team="ours", **state)
    assert {name: visibility_of(caller, resource) for name, caller in CALLERS.items()} == dict(
        zip(CALLERS, seen, strict=True)
    )


def test_every_kind_has_rule_and_row() -> None:
    assert set(RULES) == set(Kind) == {kind for kind, _, _ in ROWS}


def test_more_rights_never_hide_more() -> None:
    order = [Visibility.NONE, Visibility.NAMELESS, Visibility.TOMBSTONE, Visibility.FULL]
    for kind, flags in product(Kind, product((False, True), repeat=7)):
        state: State = dict(zip(FLAGS, flags, strict=True))
        resource = Resource(kind=kind, team="ours", **state)
        public, organiser, operator = (
            order.index(visibility_of(CALLERS[name], resource))
            for name in ("public", "organiser", "operator")
        )
        if not (resource.withdrawn and kind is Kind.ANSWERS):
            assert public <= organiser <= operator, resource


SERVICES = (
    *(CalibrationService, SetAdmin),
    *(PolicyService, QuestionListService),
    *(BoardService, SystemService, EvidenceService),
    *(RoundPlanner, RoundService, ScoreTableService),
    *(SetService, SubmissionService, TeamService),
    InvitationService,
    *(InboxService, TokenService, WeaknessService),
)
WITHOUT_CALLER = cases(__file__, "WITHOUT_CALLER")


def test_every_public_method_takes_caller() -> None:
    """Methods that pages and routes can reach take the caller, except listed ones."""
    without = {
        f"{service.__name__}.{name}"
        for service in SERVICES
        for name, method in inspect.getmembers(service, inspect.isfunction)
        if not name.startswith("_") and "caller" not in inspect.signature(method).parameters
    }
    assert without == set(WITHOUT_CALLER)


CHANGES: Mapping[str, Callable[[Arena, Caller], object]] = {
    "bring a set": lambda arena, caller: arena.set_admin.upload("x.jsonl", b"{}", caller=caller),
    "look at a set": lambda arena, caller: arena.set_admin.view("tiny", caller=caller),
    "freeze": lambda arena, caller: arena.set_admin.freeze("tiny", caller=caller),
    "estimate": lambda arena, caller: arena.planner.estimate(REQUEST, caller=caller),
    "create": lambda arena, caller: arena.rounds.create(REQUEST, caller=caller),
    "launch": lambda arena, caller: arena.rounds.launch(REQUEST, caller=caller),
    "watch": lambda arena, caller: arena.rounds.watch("r", caller=caller),
    "go on": lambda arena, caller: arena.rounds.go_on("r", caller=caller),
    "retry": lambda arena, caller: arena.rounds.retry("r", caller=caller),
    "rounds under way": lambda arena, caller: arena.rounds.under_way(caller=caller),
    "preview": lambda arena, caller: arena.boards.preview("r", caller=caller),
    "pause": lambda arena, caller: arena.rounds.pause("r", caller=caller),
    "cancel": lambda arena, caller: arena.rounds.cancel("r", caller=caller),
    "cap": lambda arena, caller: arena.rounds.set_budget("r", 1.0, caller=caller),
    "publish": lambda arena, caller: arena.boards.queue_publishing("r", caller=caller),
    "retract": lambda arena, caller: arena.boards.retract("r", "Why.", caller=caller),
    "calibrate": lambda arena, caller: arena.calibrations.start(Path("l.jsonl"), ["lexical"], caller=caller),
}


def test_only_organisers_change_rounds_sets_and_boards(filled: Fill) -> None:
    arena = filled()
    for name, change in CHANGES.items():
        with pytest.raises(AccessError):
            change(arena, PUBLIC)
        with pytest.raises(ForbiddenError):
            change(arena, CALLERS["team"])
        assert arena.rounds.rounds() == (), name


def test_withdrawn_texts_are_hidden(filled: Fill, tmp_path: Path) -> None:
    arena = filled(published=True)
    mark = "weighs 99 grams and more"
    assert mark in str(arena.evidence.question("r", "q0"))
    (submission,) = arena.store.submissions.find(set_name="tiny", system="wrong")
    arena.submissions.withdraw(submission.id, reason="wrong file")
    for caller in (PUBLIC, CALLERS["organiser"], OPERATOR):
        view = arena.evidence.question("r", "q0", caller=caller)
        assert mark not in str(view)
        assert "wrong" not in {answer.system for answer in view.answers}
        assert any(battle.battle.system_a == "wrong" for battle in view.battles)
        submission = known(arena.systems.profile("r", "wrong", caller=caller).submission)
        assert submission.withdrawn_reason == "wrong file"
        assert arena.weaknesses.of("r", "wrong", caller=caller).answers == 0
        with pytest.raises(NotFoundError):
            arena.submissions.answers(submission.id, caller=caller)
    arena.boards.export_round("r", tmp_path / "export")
    assert all(mark not in file.read_text() for file in (tmp_path / "export").iterdir())
    assert "wrong" in {line["system"] for line in arena.boards.get("r").standings["lines"]["overall"]}


def test_thinking_is_public_with_its_answer(filled: Fill, tmp_path: Path) -> None:
    """Thinking is hidden before publication, public after it and never judged."""
    arena, mark = filled(), "I weighed both passages."
    rows = [{"question_id": f"q{n}", "answer": f"Item {n} is light.", "thinking": mark} for n in range(12)]
    path = write_lines(tmp_path / "pensive.jsonl", rows)
    number = arena.submissions.add(path, "tiny", system="pensive").submission.id
    play(arena)
    with pytest.raises(NotFoundError):
        arena.evidence.question("r", "q0", caller=PUBLIC)
    arena.boards.publish("r", report=quiet, score=False)
    view = arena.evidence.question("r", "q0", caller=PUBLIC)
    assert [answer.system for answer in view.answers if answer.answer.thinking == mark] == ["pensive"]
    assert mark not in str(arena.submissions.answers(number, caller=OPERATOR))
    arena.boards.export_round("r", tmp_path / "export")
    assert all(mark not in file.read_text() for file in (tmp_path / "export").iterdir())


def test_hidden_references_are_visible_to_operator_only(filled: Fill, tmp_path: Path) -> None:
    """Questions, answers, rationales and warnings reveal no hidden reference; passages stay."""
    arena = filled(published=True)
    arena.policies.hide_references("tiny", hidden=True)
    for caller in (PUBLIC, CALLERS["organiser"]):
        view = arena.evidence.question("r", "q0", caller=caller)
        assert view.question.reference is None
        assert view.question.passages
        assert "human" not in {answer.system for answer in view.answers}
        assert {row.rationale for battle in view.battles for row in battle.judgments} == {WITHHELD}
        assert {row.reference for row in arena.sets.get("tiny", caller=caller).questions} == {None}
        assert arena.sets.question("tiny", "q0", caller=caller).reference is None
        page = arena.sets.page("tiny", after=-1, limit=50, caller=caller)
        assert {question.reference for _, question in page} == {None}
    assert arena.evidence.question("r", "q0", caller=OPERATOR).question.reference is not None
    assert arena.sets.question("tiny", "q0", caller=OPERATOR).reference
    assert "reference" not in arena.submissions.template("tiny", sample=True)
    arena.sets.export("tiny", tmp_path / "out")
    assert "weighs 10 grams" in (tmp_path / "out" / "questions.jsonl").read_text()


def test_unpublished_rounds_are_not_found(filled: Fill) -> None:
    arena = filled()
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="secret"))
    for look in (
        lambda: arena.evidence.question("secret", "q0"),
        lambda: arena.question_lists.of("secret"),
        lambda: arena.question_lists.endings("secret", "full", "short"),
        lambda: arena.systems.compare("secret", ["full", "short"]),
        lambda: arena.systems.profile("secret", "full"),
        lambda: arena.weaknesses.of("secret", "full"),
        lambda: arena.rounds.battles("secret", caller=PUBLIC),
        lambda: arena.rounds.status("secret", caller=PUBLIC),
    ):
        with pytest.raises(NotFoundError, match="no round 'secret'"):
            look()
    number = arena.store.submissions.find(set_name="tiny", system="full")[0].id
    assert arena.rounds.rounds(caller=PUBLIC) == ()
    assert [row.name for row in arena.rounds.rounds(caller=CALLERS["organiser"])] == ["secret"]
    assert arena.submissions.view(number).rounds == ()
    assert "secret" not in str(arena.submissions.find(set_name="tiny"))
    assert arena.submissions.view(number, caller=CALLERS["organiser"]).rounds == ("secret",)
    arena.rounds.run("secret", concurrency=8, report=quiet)
    arena.boards.publish("secret", report=quiet, score=False)
    assert arena.submissions.view(number).rounds == ("secret",)
    assert arena.rounds.status("secret", caller=PUBLIC)[1].planned == 36


def test_log_names_accounts_that_change_rounds(filled: Fill) -> None:
    audit_log = log_entries()
    arena, organiser = filled(), CALLERS["organiser"]
    arena.rounds.create(REQUEST, caller=organiser)
    arena.rounds.set_budget("r", 5.0, caller=organiser)
    for change in (arena.rounds.pause, arena.rounds.retry, arena.rounds.cancel):
        change("r", caller=organiser)
    lines = [line for line in audit_log if line["subject"] == "round r"]
    assert [line["event"] for line in lines] == [
        *("round-created", "round-budget-changed", "round-paused", "round-retried", "round-cancelled")
    ]
    assert {line["actor"] for line in lines} == {"o"}


def test_nuggets_are_hidden_with_references() -> None:
    question = Question(id="q", domain="d", question="When?", reference="1905.", nuggets=(Nugget("1905."),))
    assert redacted_question(PUBLIC, question, hidden=True).nuggets == ()
    assert redacted_question(PUBLIC, question, hidden=False) == question
    assert redacted_question(OPERATOR, question, hidden=True) == question
