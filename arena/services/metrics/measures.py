"""What scores hold beside the score itself: the measures that each family's paper reports, per answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from data.models import Outcome, Score
from data.store.scores import ScoredAnswer
from judges.metrics.registry import SCORE, Measure

ALPHA_NDCG = "alpha_ndcg"
COUNTS = ("supported", "contradicted", "undecided")
K_FROM = "median number of claims of the scored answers"


def pooled_rankings(answers: Sequence[ScoredAnswer]) -> dict[tuple[str, str], float | None]:
    """α-nDCG of contexts by system and question, with one ideal a question for all systems.

    What was scored before rankings were kept has None.
    """
    from judges.metrics.context.measures import pooled_ranked_coverage  # noqa: PLC0415 - of contexts alone

    by_question: dict[str, dict[str, Score]] = {}
    for answer in answers:
        by_question.setdefault(answer.question_id, {})[answer.system] = Score(
            id=answer.question_id,
            metric=answer.metric,
            outcome=answer.outcome,
            score=answer.score,
            details=answer.details,
        )
    return {
        (system, question): value
        for question, scores in by_question.items()
        for system, value in pooled_ranked_coverage(scores).items()
    }


def claims_at(answers: Sequence[ScoredAnswer]) -> float | None:
    """The K of F1@K: the median number of claims of scored answers; None where they have no counts."""
    from judges.metrics.factuality.measures import median_claims  # noqa: PLC0415 - of factuality alone

    numbers = [
        sum(answer.details[name] for name in COUNTS)
        for answer in answers
        if answer.outcome is Outcome.JUDGED and all(isinstance(answer.details.get(n), int) for n in COUNTS)
    ]
    return median_claims(numbers) if numbers else None


def values_of(answer: ScoredAnswer, measures: Sequence[Measure], k: float | None) -> dict[str, float | None]:
    """The measures of an answer; None where one is undefined, or the answer has no score.

    Args:
        answer: With its details.
        measures: Of its metric.
        k: Of F1@K.
    """
    if answer.score is None:
        return dict.fromkeys((measure.name for measure in measures), None)
    values = {measure.name: _number(answer.details, measure.path) for measure in measures if measure.path}
    values[SCORE] = answer.score
    if any(not measure.path and measure.name != SCORE for measure in measures):
        values |= _at_k(answer.details, k)
    return {measure.name: values[measure.name] for measure in measures}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredScores:
    """Scores of a set by one metric and judge, in the order of systems and questions.

    `rankings` are α-nDCG of contexts by system and question; `quoting` says whether details, which quote
    texts, may be shown.
    """

    judge: str
    answers: tuple[ScoredAnswer, ...]
    measures: tuple[Measure, ...]
    k: float | None
    untried: int
    rankings: Mapping[tuple[str, str], float | None] = field(default_factory=dict)
    quoting: bool = True

    def values(self, answer: ScoredAnswer) -> dict[str, float | None]:
        """The measures of one of the answers."""
        values = values_of(answer, self.measures, self.k)
        if ALPHA_NDCG in values:
            values[ALPHA_NDCG] = self.rankings.get((answer.system, answer.question_id))
        return values


def posteriors_of(answer: ScoredAnswer) -> list[float] | None:
    """The posteriors of an answer's claims in their order; None where its metric gives none."""
    claims = answer.details.get("claims")
    found = [claim.get("posterior") for claim in claims or () if isinstance(claim, Mapping)]
    known = [float(value) for value in found if isinstance(value, float | int)]
    return known if known and len(known) == len(found) else None


def _at_k(details: Mapping[str, Any], k: float | None) -> dict[str, float | None]:
    from judges.metrics.factuality.measures import Counts, f1_at, recall_at  # noqa: PLC0415 - as above

    stored = {name: details.get(name) for name in COUNTS}
    numbers = {name: number for name, number in stored.items() if isinstance(number, int)}
    if k is None or len(numbers) < len(COUNTS):
        return {"recall_at_k": None, "f1_at_k": None}
    counts = Counts(**numbers)
    return {"recall_at_k": recall_at(counts, k), "f1_at_k": f1_at(counts, k)}


def _number(details: Mapping[str, Any], path: Sequence[str]) -> float | None:
    value: Any = details
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
