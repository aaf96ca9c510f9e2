import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import SpecError
from data.models import (
    OrderPolicy,
    Outcome,
    Passage,
    Preference,
    Presentation,
    Question,
    Verdict,
)
from judges.base import Judge, JudgeInput
from judges.catalogue import load_spec
from judges.lexical import LexicalJudge
from judges.lexical.judge import in_both_orders
from judges.spec import JudgeSpec
from tests.narrow import known


def spec_of(**changes: Any) -> JudgeSpec:  # noqa: ANN401 - fields of the spec
    return load_spec("lexical").model_copy(update={"order": OrderPolicy.PAPER, **changes})


PASSAGES = (
    Passage(
        "p1",
        "The Eiffel Tower was finished in 1889 for the World's Fair. It is 330 metres tall. "
        "Gustave Eiffel's company designed it.",
        "Eiffel Tower",
    ),
    Passage(
        "p2", "About seven million people visit the tower each year. The paint is renewed every seven years."
    ),
    Passage("p3", "Basil likes warm soil. Water it in the morning."),
)
QUESTION = Question(
    id="q1",
    domain="travel",
    question="What should I know about the Eiffel Tower?",
    passages=PASSAGES,
    reference="The Eiffel Tower, finished in 1889, is 330 metres tall with seven million visitors a year.",
)
WITHOUT_PASSAGES = Question(
    id="q2", domain="travel", question=QUESTION.question, reference=QUESTION.reference
)
COMPLETE = (
    "Finished in 1889 for the World's Fair, the Eiffel Tower is 330 metres tall. It was designed by Gustave "
    "Eiffel's company, is painted every seven years, and about seven million people visit it each year."
)
SHORT = "The Eiffel Tower is 330 metres tall."
WRONG = COMPLETE.replace("1889", "1925").replace("330", "210")
NONE = "I couldn't find an answer."


def settle(a: str, b: str, question: Question = QUESTION, side: str | None = None) -> Verdict:
    judge = LexicalJudge(spec_of())
    judge_input = JudgeInput(battle_id="x", question=question, answer_a=a, answer_b=b, reference_side=side)
    return asyncio.run(judge.judge(judge_input))


def test_it_is_a_judge() -> None:
    assert isinstance(LexicalJudge(spec_of()), Judge)


@pytest.mark.parametrize(
    ("better", "worse"),
    [(COMPLETE, SHORT), (COMPLETE, WRONG), (SHORT, NONE), (SHORT, ""), (SHORT, " \n"), (WRONG, "…")],
)
@pytest.mark.parametrize("question", [QUESTION, WITHOUT_PASSAGES])
def test_the_fuller_and_truer_answer_wins_from_either_side(
    better: str, worse: str, question: Question
) -> None:
    first, second = settle(better, worse, question), settle(worse, better, question)
    assert (first.preference, second.preference) == (Preference.A, Preference.B)
    margin = known(second.judgments[0].margin)
    assert first.judgments[0].margin == -margin < 0


@pytest.mark.parametrize(("a", "b"), [("", NONE), (NONE, NONE), (COMPLETE, COMPLETE), (SHORT, f" {SHORT} ")])
def test_equal_answers_and_two_silences_tie(a: str, b: str) -> None:
    verdict = settle(a, b)
    assert verdict.preference is Preference.TIE
    assert verdict.judgments[0].margin == 0


def test_a_long_truth_with_a_falsehood_loses_to_the_plain_truth() -> None:
    assert settle(
        WRONG, "The tower was finished in 1889, is 330 metres tall and designed by Eiffel."
    ).preference is (Preference.B)


def test_the_reference_cannot_be_opponent_and_ground_truth() -> None:
    verdict = settle(str(QUESTION.reference), SHORT, WITHOUT_PASSAGES, side="a")
    assert verdict.outcome is Outcome.UNREADABLE
    assert "opponent" in verdict.detail
    assert settle(str(QUESTION.reference), SHORT, side="a").outcome is Outcome.JUDGED


@pytest.mark.parametrize("reference", [None, "", "?!"])
def test_a_question_without_a_ground_truth_is_unreadable(reference: str | None) -> None:
    bare = Question(id="q3", domain="d", question="Why?", reference=reference)
    verdict = settle(COMPLETE, SHORT, bare)
    assert verdict.outcome is Outcome.UNREADABLE
    assert verdict.detail


def test_the_reasons_name_what_was_said_missed_and_beyond() -> None:
    judgment = settle(WRONG, SHORT, side="b").judgments[0]
    reasons = json.loads(judgment.rationale)
    assert reasons["yardstick"] == "passages"
    assert {fact["passage"] for fact in reasons["b"]["missed"]} >= {"p1", "p2"}
    assert {"text": "It is 330 metres tall.", "passage": "p1"} in reasons["b"]["covered"]
    assert reasons["a"]["beyond"]
    assert (judgment.model, judgment.presentation, judgment.calls) == ("lexical-4", Presentation.A_FIRST, 0)


@pytest.mark.parametrize(
    ("a", "b"), [(COMPLETE, SHORT), (SHORT, WRONG), (f"{SHORT} Basil likes rain.", SHORT)]
)
@pytest.mark.parametrize("side", [None, "b"])
def test_the_shown_parts_sum_to_the_margin(a: str, b: str, side: str | None) -> None:
    judgment = settle(a, b, side=side).judgments[0]
    parts = json.loads(judgment.rationale)["parts"]
    assert judgment.margin is not None
    assert sum(part["b"] - part["a"] for part in parts) == pytest.approx(judgment.margin, abs=1e-9)


def test_each_judgment_stores_its_ground_truth() -> None:
    alone = Question(id="q4", domain="d", question=QUESTION.question, passages=PASSAGES)
    settled = (settle(COMPLETE, SHORT), settle(COMPLETE, SHORT, side="a"), settle(COMPLETE, SHORT, alone))
    stored = [json.loads(verdict.judgments[0].settings)["yardstick"] for verdict in settled]
    assert stored == ["reference", "passages", "passages"]


def test_a_language_that_cannot_be_read_is_refused_with_advice() -> None:
    korean = Question(id="q5", domain="d", question="왜?", reference="에펠탑은 330미터이다.", language="ko")
    verdict = settle("에펠탑은 330미터이다.", "모른다고 한다.", korean)
    assert verdict.outcome is Outcome.UNREADABLE
    assert "set.toml" in verdict.detail


def test_what_was_judged_before_changes_nothing() -> None:
    busy = LexicalJudge(spec_of())
    for other in ("Paris.", WRONG, NONE):
        busy.settle(JudgeInput(battle_id="y", question=QUESTION, answer_a=other, answer_b=SHORT))
    judge_input = JudgeInput(battle_id="x", question=QUESTION, answer_a=COMPLETE, answer_b=WRONG)
    assert busy.settle(judge_input) == LexicalJudge(spec_of()).settle(judge_input)


def test_both_orders_are_read_where_they_are_asked_for() -> None:
    judge = LexicalJudge(spec_of(order=OrderPolicy.BOTH))
    once = LexicalJudge(spec_of())
    for side in (None, "a", "b"):
        judge_input = JudgeInput(
            battle_id="x", question=QUESTION, answer_a=COMPLETE, answer_b=WRONG, reference_side=side
        )
        verdict, plain = judge.settle(judge_input), once.settle(judge_input)
        first, again = verdict.judgments
        assert (verdict.preference, verdict.flipped) == (plain.preference, False)
        assert plain.flipped is None
        assert (first.presentation, again.presentation) == (Presentation.A_FIRST, Presentation.B_FIRST)
        assert again.preference is first.preference
        assert (again.margin, again.rationale) == (first.margin, first.rationale)


def test_orders_that_disagree_are_a_tie() -> None:
    verdict = in_both_orders(settle(COMPLETE, WRONG), settle(COMPLETE, WRONG))
    assert (verdict.preference, verdict.flipped) == (Preference.TIE, True)
    assert verdict.judgments[1].preference is Preference.B


@pytest.mark.parametrize("lexical", [{"balence": 1.0}, {"tie_band": -1}, {"scale": "wide"}])
def test_settings_are_checked(lexical: dict[str, float]) -> None:
    with pytest.raises(SpecError, match=next(iter(lexical))):
        LexicalJudge(spec_of(lexical=lexical))


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_get_mirrored_verdicts(a: str, b: str) -> None:
    judge = LexicalJudge(spec_of())
    one = judge.settle(JudgeInput(battle_id="x", question=QUESTION, answer_a=a, answer_b=b))
    two = judge.settle(JudgeInput(battle_id="x", question=QUESTION, answer_a=b, answer_b=a))
    assert one.preference is not None
    assert one.preference.flipped is two.preference
