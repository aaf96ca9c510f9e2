"""Means of metrics: over what was scored, or estimated where an LLM scored a sample."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from data.records import MetricEstimate, Submission
from data.stats import Interval
from data.store import Store
from leaderboard.standings.answer_stats import MeanScore, SampledMean


def score_label(metric: str, judge: str) -> str:
    """A metric on boards: an LLM's scores stand beside the embedded ones, never in their place."""
    return f"{metric} {judge}".strip()


def estimated_means(store: Store, entrants: Sequence[Submission]) -> Mapping[str, Mapping[str, MeanScore]]:
    """Estimated means of submissions, by metric and system."""
    systems = {entrant.id: entrant.system for entrant in entrants}
    found: dict[str, dict[str, MeanScore]] = defaultdict(dict)
    for estimate in store.estimates.of_submissions(list(systems)):
        label = score_label(estimate.metric, estimate.judge)
        found[label][systems[estimate.submission]] = _mean(estimate)
    return found


def _mean(estimate: MetricEstimate) -> MeanScore:
    return MeanScore(
        mean=estimate.mean,
        interval=Interval(estimate.lower, estimate.upper),
        answers=estimate.scored,
        undefined=0,
        sampled=SampledMean(
            judge=estimate.judge,
            cheap_metric=estimate.cheap_metric,
            scored=estimate.scored,
            answers=estimate.answers,
            gain=estimate.gain,
            gain_interval=Interval(estimate.gain_lower, estimate.gain_upper),
        ),
    )
