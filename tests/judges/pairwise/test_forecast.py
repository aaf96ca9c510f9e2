from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.models import GroundTruth, JudgeKind, Outcome, Passage, Question
from judges.base import JudgeInput
from judges.catalogue import load_spec
from judges.lexical.judge import LexicalJudge
from judges.pairwise.forecast import NO_GROUND_TRUTH, NO_PASSAGES, REFERENCE_PLAYS, cannot_decide
from judges.pairwise.llm_judge import declined
from judges.spec import JudgeSpec, make_spec

SILENCE = "I couldn't find an answer."
TEXTS = st.sampled_from(["", " ", "Blue light is scattered."])
QUESTIONS = st.builds(
    lambda reference, passages: Question(
        id="q",
        domain="d",
        question="Why is the sky blue?",
        reference=reference,
        passages=tuple(Passage(f"p{at}", text) for at, text in enumerate(passages)),
    ),
    st.none() | TEXTS,
    st.lists(TEXTS, max_size=2),
)


def _contest(question: Question, *, against_reference: bool, silent: bool = False) -> JudgeInput:
    text = SILENCE if silent else "The sky is blue since blue light is scattered."
    reference = question.reference or ""
    return JudgeInput(
        battle_id="b",
        question=question,
        answer_a=text,
        answer_b=reference if against_reference and reference.strip() else "It is blue.",
        reference_side="b" if against_reference else None,
    )


@given(QUESTIONS, st.booleans(), st.booleans(), st.sampled_from([GroundTruth.NONE, GroundTruth.REFERENCE]))
def test_embedded_judge_matches_forecast(
    question: Question, against_reference: bool, silent: bool, ground_truth: GroundTruth
) -> None:
    """It is unreadable exactly if there is a reason; missing answers need no ground truth."""
    spec = make_spec({"name": "x", "kind": JudgeKind.LEXICAL, "yardstick": ground_truth})
    judge_input = _contest(question, against_reference=against_reference, silent=silent)
    reason = cannot_decide(spec, question, against_reference=against_reference, silent=silent)
    verdict = asyncio.run(LexicalJudge(spec).judge(judge_input))
    assert (verdict.outcome is Outcome.UNREADABLE) is bool(reason)


@given(QUESTIONS, st.booleans(), st.sampled_from(["reference-free", "reference", "passages"]))
def test_llm_judge_matches_forecast(question: Question, against_reference: bool, name: str) -> None:
    """It declines exactly if `cannot_decide` has a reason, also for missing answers."""
    spec = load_spec(name)
    judge_input = _contest(question, against_reference=against_reference)
    reason = cannot_decide(spec, question, against_reference=against_reference, silent=True)
    assert bool(declined(spec.ground_truth, judge_input)) is bool(reason)


@pytest.mark.parametrize(("quorum", "reason"), [(None, REFERENCE_PLAYS), (1, ""), (2, REFERENCE_PLAYS)])
def test_panel_needs_enough_deciding_members(quorum: int | None, reason: str) -> None:
    """With a quorum of one, the member without a ground truth is enough."""
    question = Question(id="q", domain="d", question="Why?", reference="So.")
    panel = _panel(("reference", "reference-free"), quorum)
    assert cannot_decide(panel, question, against_reference=True) == reason
    assert cannot_decide(panel, question, against_reference=False) == ""


def test_reasons_name_missing_input() -> None:
    bare = Question(id="q", domain="d", question="Why?")
    assert cannot_decide(load_spec("passages"), bare, against_reference=False) == NO_PASSAGES
    assert cannot_decide(load_spec("lexical"), bare, against_reference=False) == NO_GROUND_TRUTH


def _panel(names: tuple[str, ...], quorum: int | None) -> JudgeSpec:
    members = tuple(load_spec(name) for name in names)
    return make_spec({"name": "panel", "kind": JudgeKind.PANEL, "members": members, "quorum": quorum})
