from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from arena.services.evidence.covered_facts import REFERENCE, fact_diffs, own_facts, reasons_diff
from arena.services.evidence.questions import (
    AnswerView,
    QuestionView,
    Record,
    best_of,
    closest_first,
    final_readings,
    lead_of,
    side_by_side,
)
from arena.services.evidence.reasons import explained, read_reasons
from data.models import (
    Answer,
    BattleEvidence,
    BattleRecord,
    Judgment,
    Outcome,
    Passage,
    Preference,
    Presentation,
    Question,
)
from data.store.scores import ScoredAnswer
from tests.arena.conftest import a_score, a_submission
from tests.narrow import known

QUESTION = Question(
    id="q",
    domain="d",
    question="Why do bonds fall?",
    reference="Bonds fall when rates rise. Holders to maturity lose nothing.",
    passages=(Passage(id="p1", text="Prices move against rates. Long bonds move most of all."),),
    sub_questions=("Why?", "Who loses?"),
)
COUNTS = {"covered": 1, "missed": 1, "contradicted": 0, "beyond": 0}
SIDE = {"coverage": 0.5, "padding": 0.1, "counts": COUNTS}
FIRST, SECOND = "Bonds fall when rates rise.", "Holders to maturity lose nothing."


def _answer(system: str, *scores: ScoredAnswer) -> AnswerView:
    return AnswerView(
        system=system,
        submission=a_submission(system),
        is_reference=False,
        answer=Answer(question_id="q", answer=FIRST),
        wins=0,
        ties=0,
        losses=0,
        scores=scores,
    )


def _listed(*texts: str) -> list[dict[str, str]]:
    return [{"text": text, "passage": REFERENCE} for text in texts]


def _battle(a: str, b: str, preference: Preference | None, *readings: dict[str, Any]) -> BattleEvidence:
    battle = BattleRecord(
        id=1,
        key=f"{a}-{b}",
        question_id="q",
        domain="d",
        system_a=a,
        system_b=b,
        outcome=Outcome.JUDGED if preference else Outcome.FAILED,
        preference=preference,
        flipped=None,
        score=None,
        detail="",
    )
    judgments = tuple(
        Judgment(
            judge="j",
            model="m",
            presentation=reading.get("order", tuple(Presentation)[place % 2]),
            outcome=Outcome.FAILED if reading.get("preference", preference) is None else Outcome.JUDGED,
            preference=reading.get("preference", preference),
            margin=reading.get("margin"),
            rationale=reading.get("rationale", ""),
        )
        for place, reading in enumerate(readings)
    )
    return BattleEvidence(battle=battle, judgments=judgments)


def _view(*answers: AnswerView, battles: tuple[BattleEvidence, ...] = (), notice: str = "") -> QuestionView:
    return QuestionView(
        set_name="s", domain_label="D", question=QUESTION, answers=answers, battles=battles, notice=notice
    )


def test_facts_are_grouped_by_covering_answers() -> None:
    """Sub-questions answered by one, both or neither; unanswerable ones do not count."""
    details: dict[str, Any] = {"sub_questions": ["Why?", "Who?", "When?", "Where?"], "answerable": [0, 1, 2]}
    view = _view(
        _answer("a", a_score("a", "answer-crux", **details, answered=[0, 1])),
        _answer("b", a_score("b", "answer-crux", **details, answered=[1])),
    )
    diff = next(diff for diff in fact_diffs(view, "a", "b") if diff.kind == "sub-questions")
    by = {
        sides: [covered.fact.text for covered in diff.by(first=sides[0], second=sides[1])]
        for sides in ((True, False), (False, True), (True, True), (False, False))
    }
    assert by == {
        (True, False): ["Why?"],
        (False, True): [],
        (True, True): ["Who?"],
        (False, False): ["When?"],
    }
    assert diff.source == "answer-crux, embedded"
    swapped = next(diff for diff in fact_diffs(view, "b", "a") if diff.kind == "sub-questions")
    assert [covered.fact.text for covered in swapped.by(first=False, second=True)] == ["Why?"]
    assert own_facts("a", {"b": [diff]}) == {"a": {"Why?"}, "b": set()}


def test_partial_nuggets_count_as_covered_with_note() -> None:

    def score(system: str, *grades: str | None) -> ScoredAnswer:
        nuggets = [
            {"text": f"n{at}", "importance": "vital", "assignment": grade} for at, grade in enumerate(grades)
        ]
        return a_score(system, "nuggets", nuggets=nuggets)

    view = _view(
        _answer("a", score("a", "partial_support", "support")), _answer("b", score("b", "not_support", None))
    )
    diff = next(diff for diff in fact_diffs(view, "a", "b") if diff.kind == "nuggets")
    ((covered,), unknown) = diff.facts, diff.unknown
    assert (covered.first, covered.second, covered.notes[0]) == (True, False, "covers it in part")
    assert unknown == 1


def test_missing_facts_have_reason_and_command() -> None:
    """A missing score names the command, missing data the set; hidden details are reported as hidden."""
    bare = {diff.kind: diff.missing for diff in fact_diffs(_view(_answer("a"), _answer("b")), "a", "b")}
    assert "arena metrics run --set s --metric answer-crux" in bare["sub-questions"]
    assert "arena metrics run --set s --metric comprehensiveness-nli" in bare["statements of the passages"]
    assert "has no nuggets" in bare["nuggets"]
    assert "has no aspects" in bare["aspects"]
    hidden = _view(_answer("a", a_score("a", "answer-crux")), _answer("b", a_score("b", "answer-crux")))
    missing = {diff.kind: diff.missing for diff in fact_diffs(hidden, "a", "b")}
    assert "hidden texts" in missing["sub-questions"]
    assert fact_diffs(_view(_answer("a")), "a", "b") == ()


def test_facts_of_judgment_are_grouped_by_covering_answers() -> None:
    rationale = json.dumps(
        {
            "yardstick": REFERENCE,
            "a": {**SIDE, "covered": _listed(FIRST), "missed": _listed(SECOND), "contradicted": []},
            "b": {
                **SIDE,
                "covered": _listed(SECOND),
                "missed": [],
                "contradicted": [{"text": FIRST, "passage": REFERENCE, "answer": "Bonds rise."}],
            },
        }
    )
    assert read_reasons("Because it is better.") is read_reasons("[]") is None
    reasons = known(read_reasons(rationale))
    diff = reasons_diff(reasons)
    assert diff.kind == "sentences of the reference"
    assert {row.fact.text: (row.first, row.second) for row in diff.facts} == {
        FIRST: (True, False),
        SECOND: (False, True),
    }


def test_explanation_begins_with_deciding_term() -> None:
    side = {**SIDE, "covered": _listed(FIRST), "missed": _listed(SECOND), "contradicted": []}
    wrong = {**side, "contradicted": [{"text": SECOND, "passage": REFERENCE, "answer": "Holders lose."}]}
    wrong["counts"] = {**COUNTS, "contradicted": 1, "missed": 9, "sentences": 11}
    rationale = {"yardstick": REFERENCE, "decided_by": "contradictions", "a": side, "b": wrong}
    reasons = known(read_reasons(json.dumps(rationale)))
    assert explained(reasons, "right", "wrong") == (
        f"Decided by contradictions: right covers 1 of 2 sentences of the reference, padding 10 %, misses "
        f"{SECOND!r}; wrong covers 1 of 11 sentences of the reference, padding 10 %, contradicts {SECOND!r} "
        f"('Holders lose.'), misses {SECOND!r} and 8 more"
    )
    assert explained(reasons, "right", "wrong", in_full=False).endswith("padding 10 %, contradicts 1")
    reasons = replace(reasons, decided_by="facts covered")
    assert explained(reasons, "right", "wrong").startswith("Decided by how fully facts are covered: right")


def test_closest_battle_comes_first_and_undecided_last() -> None:
    """Sorted by mean margin over readings: conflicting orders cancel out; a missing margin counts 1."""
    clear = _battle("a", "b", Preference.A, {})
    close = _battle("a", "c", Preference.B, {"margin": 0.2}, {"margin": 0.1})
    flipped = _battle("a", "d", Preference.TIE, {"preference": Preference.A}, {"preference": Preference.B})
    failed = _battle("a", "e", None)
    order = closest_first((failed, clear, close, flipped))
    assert [known(row.battle).key for row in order] == ["a-d", "a-c", "a-b", "a-e"]
    assert [lead_of(row) for row in order] == [0.0, pytest.approx(0.15), 1.0, None]


def test_retried_battle_counts_last_readings() -> None:
    first, second = Presentation.A_FIRST, Presentation.B_FIRST
    readings: list[dict[str, Any]] = [
        {"preference": Preference.A, "order": first},
        {"preference": None, "order": second},
        {"preference": Preference.A, "order": first},
        {"preference": Preference.B, "order": second},
    ]
    battle = _battle("a", "b", Preference.TIE, *readings)
    assert len(final_readings(battle)) == 2
    assert lead_of(battle) == 0.0


def test_best_answer_is_paired_with_selected_answer() -> None:
    view = _view(*map(_answer, ("best", "second", "third")))
    battle = _battle("best", "third", Preference.A).battle

    def names(wanted: str, of: BattleRecord | None) -> list[str]:
        return [answer.system for answer in side_by_side(view, of, wanted)]

    assert names("", battle) == ["best", "third"]
    assert names("second", battle) == ["best", "second"]
    assert names("", None) == ["best", "second"]
    assert names("best", None) == ["best", "second"]
    assert side_by_side(_view(), battle) == ()


def test_best_answers_may_tie() -> None:
    won = _battle("a", "c", Preference.A), _battle("b", "c", Preference.A), _battle("a", "b", Preference.TIE)
    assert best_of(won) == {"a": Record(1, 2, 1), "b": Record(1, 2, 1)}
    assert best_of((*won, _battle("a", "d", None))) == best_of(won)
    assert best_of((*won, _battle("b", "d", Preference.A))) == {"b": Record(2, 3, 2)}
    assert best_of((_battle("a", "b", None),)) == {}
