"""The measures of one context from a table of ratings, as an object to print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from data.errors import RecordError
from data.records import Json
from judges.context.measures import answered_by, coverage, density, ranked_coverage
from judges.context.ratings import THRESHOLD, Ratings, check_threshold
from judges.context.subsets import Order, required_subset, uses

FIELDS = ("ratings", "tokens", "context", "threshold")
MOST_TOKENS = 1_000_000_000
ADVICE = 'Give {"ratings": [[…]], "tokens": […], "context": [places], "threshold": 3}.'


def context_report(obj: object) -> dict[str, Json]:
    """Measure a context, given the ratings of all passages.

    Args:
        obj: `{"ratings": [[…]], "tokens": […], "context": […], "threshold": 3}`: one row a passage, one
            column a sub-question; the tokens of each passage; the places (from 0) of the passages that
            the context has, best first; the rating from which a sub-question is answerable. Without
            `tokens` there is no density; without `context` it is all passages in their order; without
            `threshold` it is 3.

    Returns:
        `coverage`, `alpha_ndcg`, `density` (null where undefined; density beside the static required
        subset), `answerable` (places of sub-questions), `answered` (those that the context answers),
        `missing` (those that it does not), `required` (`static` and `dynamic`, places of passages in the
        order chosen), `uses` (what each passage is good for), `undefined` (why values are null).

    Raises:
        RecordError: The object has another shape, or a rating is off the scale.
    """
    if not isinstance(obj, Mapping):
        raise RecordError("A matrix of ratings is a JSON object.", advice=ADVICE)
    unknown = sorted(map(str, set(obj) - set(FIELDS)))
    if unknown or "ratings" not in obj:
        what = f"has the unknown fields {', '.join(unknown)}" if unknown else "has no ratings"
        raise RecordError(f"The matrix {what}.", advice=ADVICE)
    ratings = _ratings(obj)
    given = obj.get("context")
    context = ratings.require_passages(
        range(ratings.passages) if given is None else _sequence(given, "context"), "context"
    )
    tokens = _tokens(obj.get("tokens"), ratings.passages)
    required = {order: required_subset(ratings, order) for order in Order}
    answered = answered_by(ratings, context)
    dense = _density(ratings, context, required[Order.STATIC], tokens)
    return {
        "coverage": coverage(ratings, context),
        "alpha_ndcg": ranked_coverage(ratings, context),
        "density": dense,
        "answerable": ratings.answerable,
        "answered": answered,
        "missing": tuple(column for column in ratings.answerable if column not in answered),
        "required": {order.value: chosen for order, chosen in required.items()},
        "uses": tuple(use.value for use in uses(ratings, required[Order.STATIC])),
        "passages": ratings.passages,
        "sub_questions": ratings.sub_questions,
        "threshold": ratings.threshold,
        "undefined": _undefined(ratings, context, tokens, dense),
    }


def _ratings(obj: Mapping[str, object]) -> Ratings:
    threshold = obj.get("threshold", THRESHOLD)
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        raise RecordError(f"The threshold is {threshold!r}.", advice="Give a number above 0 and at most 5.")
    rows = [_sequence(row, "row of ratings") for row in _sequence(obj["ratings"], "list of ratings")]
    check_threshold(threshold)
    return Ratings.of(rows, threshold=float(threshold))


def _sequence(value: object, what: str) -> Sequence[object]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise RecordError(f"The {what} is not a list.", advice=ADVICE)
    return value


def _tokens(value: object, passages: int) -> tuple[int, ...] | None:
    if value is None:
        return None
    counts = _sequence(value, "list of tokens")
    if len(counts) != passages:
        message = f"There are {len(counts)} numbers of tokens for {passages} passages."
        raise RecordError(message, advice="Give one for every passage.")
    read = []
    for count in counts:
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST_TOKENS:
            message = f"A number of tokens is {count!r:.20}."
            raise RecordError(message, advice=f"Give whole numbers from 0 to {MOST_TOKENS:,}.")
        read.append(count)
    return tuple(read)


def _density(
    ratings: Ratings, context: Sequence[int], best: Sequence[int], tokens: Sequence[int] | None
) -> float | None:
    if tokens is None:
        return None
    return density(
        coverage(ratings, context),
        sum(tokens[place] for place in context),
        best_covered=coverage(ratings, best),
        best_tokens=sum(tokens[place] for place in best),
    )


def _undefined(
    ratings: Ratings, context: Sequence[int], tokens: Sequence[int] | None, dense: float | None
) -> dict[str, str]:
    if not ratings.answerable:
        reason = "No sub-question is answerable from these passages."
        return dict.fromkeys(("coverage", "alpha_ndcg", "density"), reason)
    if dense is not None:
        return {}
    if tokens is None:
        return {"density": "The tokens of the passages are not given."}
    empty = "required passages" if sum(tokens[place] for place in context) else "passages of the context"
    return {"density": f"The {empty} have no tokens."}
