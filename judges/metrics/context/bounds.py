"""The reference bounds of a whole set: how they are written, their means, and why some have none."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from data.records import MetricItem, Outcome, Passage, Score, unscored
from judges.base import each
from judges.llm.requests import CallFailure
from judges.llm.tasks import Task, TaskRunner
from judges.llm.templates import Input
from judges.metrics.comprehensiveness.claims import Missing
from judges.metrics.context.metric import AnswerCrux, Assessed, ContextCrux, Oracle


class Bound(StrEnum):
    """The three bounds."""

    NO_CONTEXT = "no context"
    ORACLE_CONTEXT = "oracle context"
    ORACLE_ANSWER = "oracle answer"


class Writer(Protocol):
    """The system whose bounds are wanted: it answers a question from passages, or from none."""

    async def write(self, question: str, passages: Sequence[Passage]) -> str | CallFailure:
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
    assessed = await oracle.assess(item)
    best = (
        ()
        if isinstance(assessed, Missing)
        else tuple(assessed.pool.passages[place] for place in assessed.required(oracle.settings.required))
    )
    context = ContextCrux(oracle)
    with_best = replace(item, contexts=best)
    return MappingProxyType(
        {
            Bound.NO_CONTEXT: {AnswerCrux.name: await _written(item, (), oracle, writer)},
            Bound.ORACLE_CONTEXT: {
                ContextCrux.name: _refused(item, assessed) or await context.score(with_best),
                AnswerCrux.name: _refused(item, assessed) or await _written(item, best, oracle, writer),
            },
            Bound.ORACLE_ANSWER: {AnswerCrux.name: await _reference(item, oracle)},
        }
    )


def _refused(item: MetricItem, assessed: Assessed | Missing) -> Score | None:
    if isinstance(assessed, Missing):
        return unscored(item, AnswerCrux.name, assessed.outcome, assessed.reason)
    return None


async def _written(
    item: MetricItem, passages: Sequence[Passage], oracle: Oracle, writer: Writer | None
) -> Score:
    if writer is None:
        reason = "No answer was written for this bound: there is no writer."
        return unscored(item, AnswerCrux.name, Outcome.MISSING, reason)
    text = await writer.write(item.question, passages)
    if isinstance(text, CallFailure):
        return unscored(item, AnswerCrux.name, text.outcome, text.detail)
    return await AnswerCrux(oracle).score(replace(item, answer=text))


async def _reference(item: MetricItem, oracle: Oracle) -> Score:
    if not (item.reference or "").strip():
        reason = "There is no reference to be the oracle's answer."
        return unscored(item, AnswerCrux.name, Outcome.MISSING, reason)
    # The reference is no ground truth of itself, where there is another one.
    other = item.passages and item.sub_questions
    ground_truth = None if other else item.reference
    return await AnswerCrux(oracle).score(replace(item, answer=item.reference or "", reference=ground_truth))


AT_ONCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundMean:
    """One bound of one metric over the questions of a set.

    Attributes:
        mean: Of the questions that have the bound; None where none has.
        questions: How many have it.
        reasons: Why others have not, with their number.
    """

    mean: float | None
    questions: int
    reasons: Mapping[str, int]


async def summarise_bounds(
    items: Iterable[MetricItem], oracle: Oracle, writer: Writer | None = None
) -> Mapping[Bound, Mapping[str, BoundMean]]:
    """Measure the bounds of every question and take their means by bound and metric.

    Raises:
        JudgeError: Asking as a whole cannot go on.

    Source: CRUX, section 4.2, Table 1.
    """
    values: dict[tuple[Bound, str], list[float]] = defaultdict(list)
    reasons: dict[tuple[Bound, str], Counter[str]] = defaultdict(Counter)
    for by_bound in await each(lambda item: reference_bounds(item, oracle, writer), items, at_once=AT_ONCE):
        for bound, by_metric in by_bound.items():
            for metric, score in by_metric.items():
                if score.outcome is Outcome.JUDGED and score.score is not None:
                    values[bound, metric].append(score.score)
                else:
                    reasons[bound, metric][score.reason] += 1
    means: dict[Bound, dict[str, BoundMean]] = {}
    for bound, metric in sorted({*values, *reasons}, key=lambda key: (list(Bound).index(key[0]), key[1])):
        of_bound = values[bound, metric]
        means.setdefault(bound, {})[metric] = BoundMean(
            mean=sum(of_bound) / len(of_bound) if of_bound else None,
            questions=len(of_bound),
            reasons=dict(reasons[bound, metric]),
        )
    return means


MOST_TOKENS = 2_048


class AnswerReply(BaseModel):
    """An answer."""

    model_config = ConfigDict(frozen=True)

    answer: Annotated[str, Field(min_length=1)]


UNAIDED = Task(name="write_unaided", reply=AnswerReply, max_tokens=MOST_TOKENS)
FROM_CONTEXT = Task(name="write_from_context", reply=AnswerReply, max_tokens=MOST_TOKENS)


class LlmWriter:
    """Writes the answers of the bounds.

    Args:
        runner: Runs the tasks on the LLM whose bounds are wanted.

    Source: CRUX, section 4.2 (the generator of the reference runs).
    """

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner

    async def write(self, question: str, passages: Sequence[Passage]) -> str | CallFailure:
        """Answer a question.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        if passages:
            anonymous = [Passage("", passage.text, passage.title) for passage in passages]
            inputs: dict[str, Input] = {"question": question, "passages": anonymous}
            reply = await self._runner.run(FROM_CONTEXT, inputs)
        else:
            reply = await self._runner.run(UNAIDED, {"question": question})
        return reply if isinstance(reply, CallFailure) else reply.answer
