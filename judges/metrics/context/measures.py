"""Coverage, ranked coverage and density of a context; undefined values are None."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.errors import RecordError
from data.files.strict_json import in_words
from data.models import Json, Score
from judges.metrics.context.ratings import (
    HIGHEST,
    LOWEST,
    THRESHOLD,
    BoolArray,
    Order,
    Ratings,
    required_subset,
    uses,
)

ALPHA = 0.5
DENSITY_WEIGHT = 0.5


def answered_by(ratings: Ratings, context: Collection[int]) -> tuple[int, ...]:
    """Return the answerable sub-questions that the passages of a context answer.

    Source: CRUX, Eq. 3 (the maximum over the passages reaches the threshold).
    """
    columns = np.flatnonzero(ratings.answers[list(context)].any(axis=0))
    return tuple(int(column) for column in columns)


def coverage(ratings: Ratings, context: Collection[int]) -> float | None:
    """Return the share of answerable sub-questions that a context answers, 0–1; None if none is answerable.

    Source: CRUX, Eq. 3.
    """
    if not ratings.answerable:
        return None
    return len(answered_by(ratings, context)) / len(ratings.answerable)


def ranked_coverage(
    ratings: Ratings, ranking: Sequence[int], *, judged: Sequence[int] | None = None, alpha: float = ALPHA
) -> float | None:
    """Compute α-nDCG with sub-questions as subtopics.

    A passage gains 1 for each sub-question that it answers, times 1 − α for every earlier passage that also
    answers it, discounted by the logarithm of its rank. The ideal ranking greedily takes the judged passage
    with the largest gain (the last one in ties, like TREC's ndeval). Systems are comparable only with the
    same ideal; then a further useful passage at the end of a ranking never lowers a score.

    Args:
        ratings: All rated passages.
        ranking: Indexes of passages, best first; a repetition keeps its rank and gains nothing.
        judged: Indexes of the passages in the ideal ranking, the same for all systems; by default all.
        alpha: Discount for repeated answers.

    Returns:
        0–1; above 1 only if the greedy ideal is not optimal, or if a ranked passage is not judged; None if
        the judged passages answer nothing.

    Source: Clarke et al. (2008); CRUX, Eq. 4. Eq. 4 sums its ideal over Z*; here, as in ir-measures, the
    ideal ranks all judged passages.
    """
    if not 0 <= alpha <= 1:
        raise RecordError(f"α is {alpha}.", advice="Use a number from 0 to 1.")
    if not ratings.answerable:
        return None
    useful = ratings.useful
    ranked = useful[list(ranking)]
    ranked[[rank for rank, place in enumerate(ranking) if place in ranking[:rank]]] = False
    gains = _gains(ranked, alpha)
    ideal = _discounted(_ideal_gains(useful if judged is None else useful[list(judged)], alpha))
    return _discounted(gains) / ideal if ideal else None


def pooled_ranked_coverage(scores: Mapping[str, Score], *, alpha: float = ALPHA) -> dict[str, float | None]:
    """Compute α-nDCG of several systems' contexts for a question with a common ideal ranking.

    The ideal ranks the passages of the question and of all these systems, identified by id and ratings. The
    value of a system is None without ratings, or if nothing is answerable (see `ranked_coverage`).
    """
    places: dict[tuple[str, tuple[float, ...]], int] = {}
    rankings: dict[str, list[int]] = {}
    thresholds: set[float] = set()
    for system, score in scores.items():
        own, oracle = score.details.get("ratings"), score.details.get("oracle_ratings")
        if score.score is None or own is None or oracle is None:
            continue
        thresholds.add(float(str(score.details["threshold"])))
        for key in _rated(oracle):
            places.setdefault(key, len(places))
        context = [places.setdefault(key, len(places)) for key in _rated(own)]
        ranking: Any = score.details.get("ranking", range(len(context)))
        rankings[system] = [context[int(place)] for place in ranking]
    if not rankings:
        return dict.fromkeys(scores)
    if len(thresholds) > 1:
        message = f"The scores have the thresholds {', '.join(f'{row:g}' for row in sorted(thresholds))}."
        raise RecordError(message, advice="Compare scores with the same settings.")
    table = Ratings.of([row for _, row in places], threshold=thresholds.pop())
    values = {system: ranked_coverage(table, ranking, alpha=alpha) for system, ranking in rankings.items()}
    return {system: values.get(system) for system in scores}


def _rated(rows: Any) -> list[tuple[str, tuple[float, ...]]]:  # noqa: ANN401 - stored JSON
    return [(str(row["passage"]), tuple(map(float, row["ratings"]))) for row in rows]


def _gains(useful: BoolArray, alpha: float) -> list[float]:
    earlier = np.zeros(useful.shape[1])
    gains = []
    for row in useful:
        gains.append(float(((1 - alpha) ** earlier[row]).sum()))
        earlier += row
    return gains


def _ideal_gains(useful: BoolArray, alpha: float) -> list[float]:
    remaining = useful.copy()
    earlier = np.zeros(useful.shape[1])
    gains = []
    for _ in range(len(useful)):
        offered = remaining @ ((1 - alpha) ** earlier)
        best = int(np.flatnonzero(np.isclose(offered, offered.max()))[-1])
        if not offered[best]:
            break
        gains.append(float(offered[best]))
        earlier += remaining[best]
        remaining[best] = False
    return gains


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def density(
    covered: float | None,
    tokens: int,
    *,
    best_covered: float | None,
    best_tokens: int,
    weight: float = DENSITY_WEIGHT,
) -> float | None:
    """Return the coverage of a text per length, relative to the oracle context.

    Returns:
        1 for the oracle context, more for denser texts; None if a coverage is undefined, the oracle covers
        nothing, or a text has no tokens.

    Source: CRUX, Eq. 5.
    """
    if covered is None or not best_covered or not tokens or not best_tokens:
        return None
    return float(((covered / tokens) / (best_covered / best_tokens)) ** weight)


MAX_TOKENS = 1_000_000_000
ADVICE = 'The format is {"ratings": [[…]], "tokens": […], "context": [places], "threshold": 3}.'
NOTHING_ANSWERABLE = "No sub-question is answerable from these passages."
Number = Annotated[int, Field(strict=True, ge=0, le=MAX_TOKENS)]
Rating = Annotated[float, Field(strict=True, ge=LOWEST, le=HIGHEST)]


class _Matrix(BaseModel):
    model_config = ConfigDict(extra="forbid")

    ratings: list[list[Rating]]
    tokens: list[Number] | None = None
    context: list[Number] | None = None
    threshold: Annotated[float, Field(strict=True, gt=LOWEST, le=HIGHEST)] = THRESHOLD


def context_report(obj: object) -> dict[str, Json]:
    """Measure a context from the ratings of all passages.

    Args:
        obj: `{"ratings": [[…]], "tokens": […], "context": […], "threshold": 3}`: one row per passage, one
            column per sub-question; the tokens of each passage; the indexes (from 0) of the context's
            passages, best first; the minimum rating of an answer. Without `tokens` the density is
            undefined; without `context` it is all passages in order.

    Returns:
        `coverage`, `alpha_ndcg`, `density` (null if undefined; relative to the static required subset),
        `answerable` (indexes of sub-questions), `answered` and `missing` (by the context), `required`
        (`static` and `dynamic`, indexes of passages in the order of choice), `uses` (of each passage),
        `undefined` (reasons for nulls).
    """
    try:
        matrix = _Matrix.model_validate(obj)
    except ValidationError as error:
        raise RecordError(f"Invalid matrix: {in_words(error)[0]}.", advice=ADVICE) from error
    ratings = Ratings.of(matrix.ratings, threshold=matrix.threshold)
    every, tokens = range(ratings.passages), matrix.tokens
    context = list(every) if matrix.context is None else matrix.context
    if not set(context) <= set(every) or len(set(context)) != len(context):
        raise RecordError("The context contains a repeated or unknown passage.", advice=ADVICE)
    if tokens is not None and len(tokens) != ratings.passages:
        message = f"There are {len(tokens)} token counts for {ratings.passages} passages."
        raise RecordError(message, advice="Pass one number per passage.")
    required = {order: required_subset(ratings, order) for order in Order}
    best, answered = required[Order.STATIC], answered_by(ratings, context)
    undefined: dict[str, Json] = {}
    dense = None
    if tokens is not None:
        dense = density(
            coverage(ratings, context),
            sum(tokens[place] for place in context),
            best_covered=coverage(ratings, best),
            best_tokens=sum(tokens[place] for place in best),
        )
    if not ratings.answerable:
        undefined = dict.fromkeys(("coverage", "alpha_ndcg", "density"), NOTHING_ANSWERABLE)
    elif tokens is None:
        undefined = {"density": "The tokens of the passages are missing."}
    elif dense is None:
        empty = "required passages" if sum(tokens[place] for place in context) else "passages of the context"
        undefined = {"density": f"The {empty} have no tokens."}
    return {
        "coverage": coverage(ratings, context),
        "alpha_ndcg": ranked_coverage(ratings, context),
        "density": dense,
        "answerable": ratings.answerable,
        "answered": answered,
        "missing": tuple(column for column in ratings.answerable if column not in answered),
        "required": {order.value: chosen for order, chosen in required.items()},
        "uses": tuple(use.value for use in uses(ratings, best)),
        "passages": ratings.passages,
        "sub_questions": ratings.sub_questions,
        "threshold": ratings.threshold,
        "undefined": undefined,
    }


SUB_QUESTIONS = 10


class ContextSettings(BaseModel):
    """Settings of the metrics.

    Attributes:
        threshold: Minimum rating of an answer (η, section 3.1).
        alpha: Discount for repeated answers in ranked coverage.
        density_weight: Exponent w of density (Eq. 5).
        required: Order of choice of the required subset, the Z* of density.
        sub_questions: Number of sub-questions to write for a question without any (15 for DUC, 10 for
            Multi-News).
        weighted: Whether ratings are expected values over token probabilities.
        ratings: Earlier ratings of passages by sub-question and text, which are reused.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    threshold: Annotated[float, Field(gt=0, le=HIGHEST)] = THRESHOLD
    alpha: Annotated[float, Field(ge=0, le=1)] = ALPHA
    density_weight: Annotated[float, Field(gt=0, le=10)] = DENSITY_WEIGHT
    required: Order = Order.STATIC
    sub_questions: Annotated[int, Field(ge=1, le=50)] = SUB_QUESTIONS
    weighted: bool = False
    ratings: Mapping[str, Mapping[str, Annotated[float, Field(ge=0, le=HIGHEST)]]] = Field(
        default_factory=dict
    )
