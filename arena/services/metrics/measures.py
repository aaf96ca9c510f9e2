"""What scores hold beside the score itself: the measures that each family's paper reports, per answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from data.records import Outcome, Score
from data.store.boards.scores import ScoredAnswer
from judges.metrics.registry import (
    CITATION,
    COMPREHENSIVENESS,
    CONTEXT,
    COVERAGE,
    FACTUALITY,
    NUGGETS,
    metric_info,
)

SCORE = "score"
ALPHA_NDCG = "alpha_ndcg"
COUNTS = ("supported", "contradicted", "undecided")
K_FROM = "median number of claims of the scored answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One number of a scored answer.

    Attributes:
        name: In JSON and as the name of a column.
        symbol: In its paper.
        path: Where the details of a score hold it; empty where it is computed.
    """

    name: str
    symbol: str
    path: tuple[str, ...] = ()


def _stored(name: str, symbol: str, *path: str) -> Measure:
    return Measure(name=name, symbol=symbol, path=path or (name,))


_FACTUALITY = (
    _stored("supported", "#S"),
    _stored("contradicted", "#C"),
    _stored("undecided", "#U"),
    Measure(name="recall_at_k", symbol="R@K"),
    Measure(name="f1_at_k", symbol="F1@K"),
    _stored("entropy", "E"),
    _stored("entropy_repaired", "E repaired"),
    _stored("mean_context_posterior", "mean P(c)"),
)
_COMPREHENSIVENESS = tuple(
    _stored(name, symbol, "counts", name)
    for name, symbol in (("covered", "covered"), ("missing", "missing"), ("basis", "basis"))
)
MEASURES: Mapping[str, tuple[Measure, ...]] = MappingProxyType(
    {
        COMPREHENSIVENESS: _COMPREHENSIVENESS,
        FACTUALITY: _FACTUALITY,
        COVERAGE: (_stored("factuality", "S_fact"), _stored("coverage", "S_cov")),
        CITATION: (
            _stored("precision", "P"),
            _stored("recall", "R"),
            _stored("sentences", "sentences", "counts", "sentences"),
            _stored("uncited", "uncited", "counts", "uncited"),
            _stored("unsupported", "unsupported", "counts", "unsupported"),
        ),
        NUGGETS: (
            _stored("weighted_strict", "W strict"),
            _stored("vital", "V"),
            _stored("vital_strict", "V strict"),
            _stored("all", "A"),
            _stored("all_strict", "A strict"),
            *(
                _stored(name, name.replace("_", " "), "counts", name)
                for name in ("support", "partial_support", "not_support", "undecided")
            ),
        ),
        CONTEXT: (_stored(ALPHA_NDCG, "α-nDCG"), _stored("density", "Den"), _stored("tokens", "tokens")),
    }
)
"""By family."""
SYMBOLS: Mapping[str, str] = MappingProxyType(
    {FACTUALITY: "Pr", COVERAGE: "ICAT", CONTEXT: "Cov", CITATION: "F1", NUGGETS: "W"}
)
"""What the score itself is called, by family."""


def measures_of(metric: str) -> tuple[Measure, ...]:
    """The measures of a metric, the score first.

    Raises:
        NotFoundError: There is no such metric.
    """
    family = metric_info(metric).family
    score = Measure(name=SCORE, symbol=SYMBOLS.get(family, SCORE))
    more = MEASURES.get(family, ())
    if metric == "answer-crux":
        more = tuple(measure for measure in more if measure.name != ALPHA_NDCG)
    return (score, *more)


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
