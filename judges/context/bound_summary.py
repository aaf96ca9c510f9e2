"""The reference bounds of a whole set: means over its questions, and why some have none."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from data.records import MetricItem, Outcome, Score
from judges.context.bounds import Bound, Writer, reference_bounds
from judges.context.metric import Oracle

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
    places = asyncio.Semaphore(AT_ONCE)

    async def one(item: MetricItem) -> Mapping[Bound, Mapping[str, Score]]:
        async with places:
            return await reference_bounds(item, oracle, writer)

    values: dict[tuple[Bound, str], list[float]] = defaultdict(list)
    reasons: dict[tuple[Bound, str], Counter[str]] = defaultdict(Counter)
    for found in await asyncio.gather(*map(one, items)):
        for bound, by_metric in found.items():
            for metric, score in by_metric.items():
                if score.outcome is Outcome.JUDGED and score.score is not None:
                    values[bound, metric].append(score.score)
                else:
                    reasons[bound, metric][score.reason] += 1
    means: dict[Bound, dict[str, BoundMean]] = {}
    for bound, metric in sorted({*values, *reasons}, key=lambda key: (list(Bound).index(key[0]), key[1])):
        own = values[bound, metric]
        means.setdefault(bound, {})[metric] = BoundMean(
            mean=sum(own) / len(own) if own else None,
            questions=len(own),
            reasons=dict(reasons[bound, metric]),
        )
    return means
