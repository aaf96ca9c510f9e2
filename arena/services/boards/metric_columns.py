"""Which metrics a board shows, and why one of them is not computed for a question set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from data.records import Question
from data.store import Store


class Need(StrEnum):
    """What a metric's scores rest on, beside question and answer."""

    PASSAGES = "passages"
    YARDSTICK = "passages or references"
    ASPECTS = "aspects"
    SUB_QUESTIONS = "sub-questions"
    CONTEXTS = "contexts"
    CITATIONS = "citations"
    NUGGETS = "nuggets"


HAS: dict[Need, Callable[[Question], bool]] = {
    Need.PASSAGES: lambda question: bool(question.passages),
    Need.YARDSTICK: lambda question: bool(question.passages or question.reference),
    Need.ASPECTS: lambda question: bool(question.aspects),
    Need.SUB_QUESTIONS: lambda question: bool(question.sub_questions),
    Need.NUGGETS: lambda question: bool(question.nuggets),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardMetric:
    """A metric that boards show.

    The embedded version is run. `needs` is what the set, or the answers, must have; `missing` says why it is
    not computed for a set, and is empty where it is.
    """

    name: str
    label: str
    needs: tuple[Need, ...]
    of_reference: bool = True
    missing: str = ""


BOARD_METRICS: tuple[BoardMetric, ...] = (
    BoardMetric(name="comprehensiveness-nli", label="Comprehensiveness", needs=(Need.YARDSTICK,)),
    BoardMetric(name="factuality-fr3", label="Factuality", needs=(Need.PASSAGES,)),
    BoardMetric(name="coverage-icat-s", label="Aspects", needs=(Need.ASPECTS, Need.PASSAGES)),
    BoardMetric(name="answer-crux", label="Sub-questions", needs=(Need.SUB_QUESTIONS,)),
    BoardMetric(
        name="context-crux", label="Context", needs=(Need.SUB_QUESTIONS, Need.CONTEXTS), of_reference=False
    ),
    BoardMetric(
        name="citation-support",
        label="Citations",
        needs=(Need.CITATIONS,),
        of_reference=False,
    ),
    BoardMetric(name="nuggets", label="Nuggets", needs=(Need.NUGGETS,)),
)
NO_QUESTION = "no question of the set has {need}"
NO_CONTEXTS = "no answers file gives the contexts that its system was given"
NO_CITATIONS = "no answer cites by numbers in brackets"
OF_ANSWERS: dict[Need, str] = {Need.CONTEXTS: NO_CONTEXTS, Need.CITATIONS: NO_CITATIONS}


def board_metrics(store: Store, set_name: str) -> tuple[BoardMetric, ...]:
    """The metrics that boards of a set show, those that it has no data for with the reason.

    Raises:
        NotFoundError: There is no such set.
    """
    summary = store.sets.summary(set_name)
    has = dict.fromkeys(HAS, False)
    for _, question in store.sets.numbered(summary.id):
        has = {need: there or HAS[need](question) for need, there in has.items()}
        if all(has.values()):
            break
    live = store.submissions.find(set_name=set_name, newest=True)
    numbers = [entrant.id for entrant in live]
    has[Need.CONTEXTS] = store.scores.with_contexts(numbers)
    has[Need.CITATIONS] = store.scores.with_citations(numbers)
    return tuple(_for_set(metric, has) for metric in BOARD_METRICS)


def why_missing(needs: Sequence[Need], has: dict[Need, bool]) -> str:
    """Why a metric cannot be computed, in half a sentence; empty where it can."""
    lacking = [need for need in needs if not has[need]]
    return "; ".join(OF_ANSWERS.get(need, NO_QUESTION.format(need=need)) for need in lacking)


def _for_set(metric: BoardMetric, has: dict[Need, bool]) -> BoardMetric:
    return BoardMetric(
        name=metric.name,
        label=metric.label,
        needs=metric.needs,
        of_reference=metric.of_reference,
        missing=why_missing(metric.needs, has),
    )
