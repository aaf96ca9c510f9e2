"""Nugget recall: the nuggets of a question that an answer states, in full or in part.

The six scores follow TREC's RAG track.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import repeat
from math import fsum
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict

from data.declines import declines
from data.errors import JudgeError
from data.models import Importance, Json, MetricItem, Nugget, Outcome, Score, unscored
from data.text import is_blank
from judges.llm.requests import CallFailure
from judges.llm.tasks import Task, TaskRunner
from judges.llm.templates import Tagged
from judges.metrics.dry_run import ids
from judges.metrics.factuality.embedded import ENTAILED_FROM, LexicalRelations
from judges.metrics.registry import Metric, refuse_options
from judges.metrics.relations.model import Entailment, Pair, Related
from judges.metrics.shortening import GuardedMetric
from judges.pairwise.cleaning import clean


class Assignment(StrEnum):
    """Assignment of a nugget to an answer: stated in full, in part, or not."""

    SUPPORT = "support"
    PARTIAL = "partial_support"
    NONE = "not_support"


CREDIT: Mapping[Assignment, float] = MappingProxyType(
    {Assignment.SUPPORT: 1.0, Assignment.PARTIAL: 0.5, Assignment.NONE: 0.0}
)
STRICT: Mapping[Assignment, float] = MappingProxyType(
    {Assignment.SUPPORT: 1.0, Assignment.PARTIAL: 0.0, Assignment.NONE: 0.0}
)
WEIGHT: Mapping[Importance, float] = MappingProxyType({Importance.VITAL: 1.0, Importance.OKAY: 0.5})
"""Weights of nuggets in the weighted scores."""
Graded = tuple[Importance, Assignment]


@dataclass(frozen=True, slots=True, kw_only=True)
class NuggetScores:
    """The six scores of an answer, 0–1.

    Attributes:
        all: Mean credit of all nuggets: 1 for support, ½ for partial support.
        all_strict: The same with no credit for partial support.
        vital: Mean credit of the vital nuggets; None if there are none.
        vital_strict: The same with no credit for partial support.
        weighted: Mean credit of all nuggets, okay nuggets weighing half.
        weighted_strict: The same with no credit for partial support.
    """

    all: float
    all_strict: float
    vital: float | None
    vital_strict: float | None
    weighted: float
    weighted_strict: float


def nugget_scores(graded: Sequence[Graded]) -> NuggetScores:
    """Score the grades of one answer's nuggets.

    Source: Pradeep et al. (2024), "Initial Nugget Evaluation Results for the TREC 2024 RAG Track with the
    AutoNuggetizer Framework", the section on scoring. A question without vital nuggets, which the track's
    script scores 0, has no vital score here.
    """
    if not graded:
        raise JudgeError("Cannot score without nuggets.", advice="Pass at least one nugget.")
    alike = dict.fromkeys(Importance, 1.0)
    vital = {Importance.VITAL: 1.0, Importance.OKAY: 0.0}
    has_vital = any(importance is Importance.VITAL for importance, _ in graded)
    return NuggetScores(
        all=_mean(graded, alike, CREDIT),
        all_strict=_mean(graded, alike, STRICT),
        vital=_mean(graded, vital, CREDIT) if has_vital else None,
        vital_strict=_mean(graded, vital, STRICT) if has_vital else None,
        weighted=_mean(graded, WEIGHT, CREDIT),
        weighted_strict=_mean(graded, WEIGHT, STRICT),
    )


def _mean(
    graded: Sequence[Graded], weights: Mapping[Importance, float], credit: Mapping[Assignment, float]
) -> float:
    total = fsum(weights[importance] * credit[assignment] for importance, assignment in graded)
    return total / fsum(weights[importance] for importance, _ in graded)


NAME = "nuggets"
BATCH = 10
"""Nuggets per request, as in AutoNuggetizer."""
FULL_FROM = 0.7
"""Minimum probability of an entailment for full support in the embedded version."""
NO_NUGGETS = "The question has no nuggets."
UNDECIDED = "No reply on a nugget could be read."
Assigned = Assignment | CallFailure | None


class AssignedNugget(BaseModel):
    """A nugget by its id, and its grade."""

    model_config = ConfigDict(frozen=True)

    nugget: str
    assignment: Assignment


class AssignmentReply(BaseModel):
    """The reply to `assign_nuggets`."""

    model_config = ConfigDict(frozen=True)

    assigned: tuple[AssignedNugget, ...]


ASSIGNMENT = Task(
    name="assign_nuggets",
    reply=AssignmentReply,
    max_tokens=1_024,
    stub=lambda inputs: {
        "assigned": [{"nugget": key, "assignment": "support"} for key in ids(inputs["nuggets"])]
    },
)


class LlmAssigner:
    """Grades the nuggets of a question, ten per request."""

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner

    async def assign(self, item: MetricItem, answer: str) -> Sequence[Assigned]:
        """Grade all nuggets, in order; None for nuggets without a grade."""
        starts = range(0, len(item.nuggets), BATCH)
        batches = [item.nuggets[start : start + BATCH] for start in starts]
        replies = await asyncio.gather(*(self._ask(item, answer, batch) for batch in batches))
        return [grade for reply in replies for grade in reply]

    async def _ask(self, item: MetricItem, answer: str, batch: Sequence[Nugget]) -> list[Assigned]:
        ids = [f"n{place}" for place in range(1, len(batch) + 1)]
        nuggets = [Tagged("nugget", nugget.text, key) for nugget, key in zip(batch, ids, strict=True)]
        reply = await self._runner.run(
            ASSIGNMENT, {"question": item.question, "answer": Tagged("answer", answer), "nuggets": nuggets}
        )
        if isinstance(reply, CallFailure):
            return [reply] * len(batch)
        grades: dict[str, set[Assignment]] = {}
        for entry in reply.assigned:
            grades.setdefault(entry.nugget, set()).add(entry.assignment)
        # Contradictory grades count as none.
        return [next(iter(grades[key])) if len(grades.get(key, ())) == 1 else None for key in ids]


class LexicalAssigner:
    """Grade nuggets with factuality's relation model, using the answer as the premise.

    Full support needs an entailment with a probability of `FULL_FROM`; a weaker entailment is partial, as is
    an answer with enough of the nugget's terms that lacks one of its figures, dates or names.
    """

    def __init__(self) -> None:
        self._relations = LexicalRelations()

    async def assign(self, item: MetricItem, answer: str) -> Sequence[Assigned]:
        """Relate every nugget to the answer."""
        pairs = [Pair(answer, nugget.text) for nugget in item.nuggets]
        relations = await self._relations.relate(pairs, question=item.question)
        return [row if isinstance(row, CallFailure) else _grade(row) for row in relations]


def _grade(relation: Related) -> Assignment:
    if relation.stance is Entailment.ENTAILMENT:
        return Assignment.SUPPORT if relation.probability >= FULL_FROM else Assignment.PARTIAL
    # The probability of a neutral relation is the share of missing terms.
    enough = relation.stance is Entailment.NEUTRAL and 1 - relation.probability >= ENTAILED_FROM
    return Assignment.PARTIAL if enough else Assignment.NONE


class NuggetRecall:
    """Scores an answer by the weighted mean credit of its question's nuggets."""

    name = NAME

    def __init__(self, assigner: LlmAssigner | LexicalAssigner) -> None:
        self._assigner = assigner

    async def score(self, item: MetricItem) -> Score:
        """Score one answer by the weighted score of TREC's RAG track.

        A nugget without an importance counts as vital. An empty answer or a refusal scores 0 without a
        request. A nugget saying that no answer exists is credited only to answers that decline.

        Returns:
            The score with `details`: the six scores (`all`, `all_strict`, `vital`, `vital_strict`,
            `weighted`, `weighted_strict`), `nuggets` (`text`, `importance`, `assignment`: null if undecided)
            and `counts` (`nuggets`, `vital`, `okay`, the assignments, `undecided`: in no score).

        Source: Pradeep et al. (2024), as in `nugget_scores`.
        """
        if not item.nuggets:
            return unscored(item, NAME, Outcome.UNREADABLE, NO_NUGGETS)
        answer, question = clean(item.answer), item.question
        answers = not declines(answer, question)
        is_silent = not answers and not is_blank(answer)
        stating = tuple(nugget for nugget in item.nuggets if not declines(nugget.text, question))
        assigned: Iterator[Assigned] = repeat(Assignment.NONE)
        if answers and stating:
            assigned = iter(await self._assigner.assign(replace(item, nuggets=stating), answer))
        of_declining = Assignment.SUPPORT if is_silent else Assignment.NONE
        grades = [next(assigned) if nugget in stating else of_declining for nugget in item.nuggets]
        for grade in grades:
            if isinstance(grade, CallFailure) and grade.outcome is not Outcome.UNREADABLE:
                return unscored(item, NAME, grade.outcome, grade.detail)
        return _scored(item, [None if isinstance(grade, CallFailure) else grade for grade in grades])


def _scored(item: MetricItem, grades: Sequence[Assignment | None]) -> Score:
    importances = [nugget.importance or Importance.VITAL for nugget in item.nuggets]
    known = [
        (importance, grade)
        for importance, grade in zip(importances, grades, strict=True)
        if grade is not None
    ]
    if not known:
        return unscored(item, NAME, Outcome.UNREADABLE, UNDECIDED)
    scores = nugget_scores(known)
    of_importance = Counter(importances)
    counts = Counter(grades)
    nuggets: list[Json] = [
        {
            "text": nugget.text,
            "importance": importance.value,
            "assignment": None if grade is None else grade.value,
        }
        for nugget, importance, grade in zip(item.nuggets, importances, grades, strict=True)
    ]
    return Score(
        id=item.id,
        metric=NAME,
        outcome=Outcome.JUDGED,
        score=scores.weighted,
        details={
            **asdict(scores),
            "nuggets": nuggets,
            "counts": {
                "nuggets": len(grades),
                **{importance.value: of_importance[importance] for importance in Importance},
                **{grade.value: counts[grade] for grade in Assignment},
                "undecided": counts[None],
            },
        },
    )


def build(name: str, *, runner: TaskRunner | None, options: Mapping[str, Json]) -> Metric:
    """Build `nuggets`; without a runner, the embedded version."""
    refuse_options(name, options)
    return (
        GuardedMetric(NuggetRecall(LexicalAssigner()))
        if runner is None
        else NuggetRecall(LlmAssigner(runner))
    )
