"""What to fix first: errors found in answers, ranked by the points that mending them would gain."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, PUBLIC
from arena.services.evidence.answer_errors import (
    MEANINGS,
    TITLES,
    AnswerError,
    AnswerFacts,
    answer_errors,
)
from arena.services.evidence.fixes import ASSUMPTION, HIDDEN, REFERENCE
from arena.services.evidence.team_report_files import report_html
from arena.services.rounds.models import RoundRequest
from arena.site.systems.fixes_part import HEADER, SPARE
from data.errors import NotFoundError
from data.records import EMBEDDED_ENGINE, Outcome
from data.store.boards.scores import ScoredAnswer
from data.store.submissions.answers import AnswerLength

QUESTIONS = 40
GOOD = "Item {n} weighs {w} grams and is blue."
NOTHING = "I couldn't find an answer."
WRONG = "Item {n} weighs 99 grams and is blue."


def _length(submission: int, question: str, characters: int, *, no_answer: bool = False) -> AnswerLength:
    return AnswerLength(
        submission=submission, question_id=question, characters=characters, no_answer=no_answer
    )


def _scored(metric: str, question: str, details: dict[str, Any], score: float | None = 0.5) -> ScoredAnswer:
    return ScoredAnswer(
        submission=1,
        system="own",
        question_id=question,
        domain="d",
        metric=metric,
        judge="",
        outcome=Outcome.JUDGED,
        score=score,
        details={"engine": EMBEDDED_ENGINE, **details},
    )


def _facts(**known: Any) -> AnswerFacts:  # noqa: ANN401 - fields of any type
    nothing: dict[str, Any] = dict.fromkeys(
        ("lengths", "coverage", "statements", "claims", "citations", "contexts", "answered"), ()
    )
    return AnswerFacts(submission=1, **{**nothing, **known})


def _claim(posterior: float) -> dict[str, Any]:
    return {"id": "c1", "text": "A claim.", "posterior": posterior, "reason": "", "for": [], "against": []}


def test_every_kind_is_named_and_explained() -> None:
    """Every kind of error has a title, and says when an answer has it."""
    assert set(TITLES) == set(MEANINGS) == set(AnswerError)


def test_a_silent_answer_has_that_error_alone() -> None:
    """An answer that says that none was found is not also short or without facts."""
    lengths = [
        _length(1, "q1", 10, no_answer=True),
        _length(1, "q2", 10),
        *(_length(number, question, 100) for number in (2, 3) for question in ("q1", "q2")),
    ]
    coverage = [(1, "q1", 0.0), (1, "q2", 0.4), (2, "q1", 0.9), (2, "q2", 0.3)]
    errors = answer_errors(_facts(lengths=lengths, coverage=coverage))
    assert errors[AnswerError.NO_ANSWER].present == ("q1",)
    assert errors[AnswerError.NO_ANSWER].absent == ("q2",)
    assert errors[AnswerError.TOO_SHORT].present == ("q2",)
    assert errors[AnswerError.TOO_SHORT].absent == ()
    assert errors[AnswerError.MISSING_FACTS].present == ()
    assert errors[AnswerError.MISSING_FACTS].absent == ("q2",)


def test_lengths_are_beside_the_median_of_the_others() -> None:
    """Half as long again is not long yet; more is. Two thirds is not short yet; less is."""
    others = [_length(number, f"q{at}", 90) for number in (2, 3, 4) for at in range(4)]
    own = [_length(1, f"q{at}", characters) for at, characters in enumerate((135, 136, 60, 59))]
    errors = answer_errors(_facts(lengths=[*own, *others]))
    assert errors[AnswerError.TOO_LONG].present == ("q1",)
    assert errors[AnswerError.TOO_SHORT].present == ("q3",)


def test_what_passages_contradict_is_no_unconfirmed_claim() -> None:
    """Contradicted are statements and claims; a claim that is only doubtful is unconfirmed."""
    claims = [
        _scored("factuality-fr3", "q1", {"claims": [_claim(0.1)]}),
        _scored("factuality-fr3", "q2", {"claims": [_claim(0.4)]}),
        _scored("factuality-fr3", "q3", {"claims": [_claim(0.9)]}),
        _scored("factuality-fr3", "q4", {"claims": []}, score=None),
    ]
    statements = [_scored("comprehensiveness-nli", "q3", {"contradicted": [{"id": "s", "text": "S."}]})]
    errors = answer_errors(_facts(claims=claims, statements=statements))
    assert errors[AnswerError.CONTRADICTED].present == ("q3", "q1")
    assert errors[AnswerError.CONTRADICTED].absent == ("q2",)
    assert errors[AnswerError.UNCONFIRMED].present == ("q2",)
    assert errors[AnswerError.UNCONFIRMED].absent == ("q1", "q3")


def test_losses_are_told_from_retrieval_and_from_writing() -> None:
    """What the context lacks is lost in retrieval, what it has and the answer lacks in writing."""
    asked = {"sub_questions": ["a", "b"], "answerable": [0, 1]}
    contexts = [
        _scored("context-crux", "q1", {**asked, "answered": [0]}),
        _scored("context-crux", "q2", {**asked, "answered": [0, 1]}),
    ]
    answered = [
        _scored("answer-crux", "q1", {**asked, "answered": [0]}),
        _scored("answer-crux", "q2", {**asked, "answered": [0]}),
    ]
    errors = answer_errors(_facts(contexts=contexts, answered=answered, citations=[(1, "q1", 0.2)]))
    assert errors[AnswerError.LOST_IN_RETRIEVAL].present == ("q1",)
    assert errors[AnswerError.LOST_IN_WRITING].present == ("q2",)
    assert errors[AnswerError.WEAK_CITATIONS].present == ("q1",)
    assert AnswerError.TOO_LONG not in errors


def _set(folder: Path) -> Path:
    folder.mkdir()
    (folder / "set.toml").write_text(
        'name = "many"\ntitle = "Many"\nreference_name = "human"\n[domains]\nd0 = "Zero"\n'
    )
    rows = [
        {
            "id": f"q{n}",
            "domain": "d0",
            "question": f"What do we know of item {n}?",
            "reference": f"Item {n} weighs {n + 10} grams.",
            "passages": [{"id": f"p{n}", "text": f"Item {n} weighs {n + 10} grams and is blue."}],
        }
        for n in range(QUESTIONS)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture
def judged(make_arena: Callable[..., Arena], tmp_path: Path) -> Arena:
    """A judged and published round: `sys` finds half of its answers, and errs in some of the others."""
    arena = make_arena()
    arena.sets.import_from(_set(tmp_path / "many"))
    answers: dict[str, Callable[[int], str]] = {
        "sys": lambda n: NOTHING if n % 2 else WRONG if n % 8 == 0 else GOOD,
        "plain": lambda n: WRONG if n % 3 == 0 else "Item {n} weighs {w} grams.",
    }
    for system, text in answers.items():
        path = tmp_path / f"{system}.jsonl"
        rows = [{"question_id": f"q{n}", "answer": text(n).format(n=n, w=n + 10)} for n in range(QUESTIONS)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        arena.submissions.add(path, "many", system=system, team="alpha")
    arena.rounds.create(RoundRequest(set_name="many", judge="lexical", pairs="all", name="r"))
    arena.rounds.run("r", concurrency=2, report=lambda _progress: None)
    arena.boards.publish("r", report=lambda _line: None)
    return arena


def test_the_error_that_costs_most_comes_first(judged: Arena) -> None:
    """A system that finds no answer to half of the questions is told to mend that first."""
    fixes = judged.fixes.of("r", "sys")
    first = fixes.fixes[0]
    assert first.error is AnswerError.NO_ANSWER
    assert first.gain.is_certain
    assert first.gain.questions == QUESTIONS // 2
    assert 0 < len(first.lost) <= 5
    assert all(int(name.removeprefix("q")) % 2 for name in first.lost)
    assert ASSUMPTION in fixes.notes
    known = [fix.gain.points for fix in fixes.fixes if fix.gain.points is not None]
    assert known == sorted(known, reverse=True)


def test_report_page_and_command_say_the_same(judged: Arena) -> None:
    """The team's report has what the system page has, as JSON and as HTML."""
    (submission,) = judged.store.submissions.find(set_name="many", system="sys")
    report = judged.reports.of(submission.id, caller=OPERATOR)
    assert report.fixes == judged.fixes.of("r", "sys")
    page = report_html(report)
    assert "What to fix first" in page
    assert "No answer found" in page
    fields = report.fixes.as_json()["fixes"][0]
    assert fields["error"] == "no-answer"
    assert fields["lower"] < fields["points"] < fields["upper"]


def test_questions_to_look_at_are_linked_on_phones_too() -> None:
    """Of the columns that a phone has no room for none has links."""
    assert HEADER.index("Look at") < len(HEADER) - SPARE


def test_hidden_answers_have_hidden_errors(judged: Arena) -> None:
    """After a withdrawal nothing is told of what is wrong with the answers; the reference has no errors."""
    assert judged.fixes.of("r", "human").unknown == REFERENCE
    (submission,) = judged.store.submissions.find(set_name="many", system="sys")
    judged.submissions.withdraw(submission.id, reason="wrong file")
    hidden = judged.fixes.of("r", "sys", caller=PUBLIC)
    assert hidden.fixes == ()
    assert hidden.notes == (HIDDEN,)
    with pytest.raises(NotFoundError):
        judged.fixes.of("none", "sys")
