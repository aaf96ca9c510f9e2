"""Reference bounds: what coverage is without any retrieval, with the best there could be, and at its best.

Between the answer without context and the answer from the oracle context lies what retrieval can be worth;
the oracle answer shows what the sub-questions and the rater leave within reach.

Source: CRUX, section 4.2, Table 1 (#1 direct prompting, #2 oracle result, #3 oracle retrieval).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from data.records import MetricItem, Outcome, Passage, Score, unscored
from judges.comprehensiveness.claims import Missing
from judges.context.metric import AnswerCrux, Assessed, ContextCrux, Oracle
from judges.llm.requests import Unanswered


class Bound(StrEnum):
    """The three bounds."""

    NO_CONTEXT = "no context"
    ORACLE_CONTEXT = "oracle context"
    ORACLE_ANSWER = "oracle answer"


class Writer(Protocol):
    """The system whose bounds are wanted: it answers a question from passages, or from none."""

    async def write(self, question: str, passages: Sequence[Passage]) -> str | Unanswered:
        """Answer a question.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        ...


async def reference_bounds(
    item: MetricItem, oracle: Oracle, writer: Writer | None = None
) -> Mapping[Bound, Mapping[str, Score]]:
    """Measure the bounds of one question.

    Args:
        item: The question with its passages and reference; its answer and contexts are not looked at.
        oracle: Rates, as for the metrics.
        writer: Writes the answers of the first two bounds; without one, those have no answer score.

    Returns:
        For each bound its scores by metric (`context-crux`, `answer-crux`); what cannot be measured is
        there as a score without a value, with its reason.

    Raises:
        JudgeError: Asking as a whole cannot go on.
    """
    found = await oracle.assess(item)
    best = (
        ()
        if isinstance(found, Missing)
        else tuple(found.pool.passages[place] for place in found.required(oracle.settings.required))
    )
    context = ContextCrux(oracle)
    with_best = replace(item, contexts=best)
    return MappingProxyType(
        {
            Bound.NO_CONTEXT: {AnswerCrux.name: await _written(item, (), oracle, writer)},
            Bound.ORACLE_CONTEXT: {
                ContextCrux.name: _refused(item, found) or await context.score(with_best),
                AnswerCrux.name: _refused(item, found) or await _written(item, best, oracle, writer),
            },
            Bound.ORACLE_ANSWER: {AnswerCrux.name: await _reference(item, oracle)},
        }
    )


def _refused(item: MetricItem, found: Assessed | Missing) -> Score | None:
    if isinstance(found, Missing):
        return unscored(item, AnswerCrux.name, found.outcome, found.reason)
    return None


async def _written(
    item: MetricItem, passages: Sequence[Passage], oracle: Oracle, writer: Writer | None
) -> Score:
    if writer is None:
        reason = "No answer was written for this bound: there is no writer."
        return unscored(item, AnswerCrux.name, Outcome.MISSING, reason)
    text = await writer.write(item.question, passages)
    if isinstance(text, Unanswered):
        return unscored(item, AnswerCrux.name, text.outcome, text.detail)
    return await AnswerCrux(oracle).score(replace(item, answer=text))


async def _reference(item: MetricItem, oracle: Oracle) -> Score:
    if not (item.reference or "").strip():
        reason = "There is no reference to be the oracle's answer."
        return unscored(item, AnswerCrux.name, Outcome.MISSING, reason)
    # The reference is no yardstick of itself, where there is another one.
    other = item.passages and item.sub_questions
    yardstick = None if other else item.reference
    return await AnswerCrux(oracle).score(replace(item, answer=item.reference or "", reference=yardstick))
