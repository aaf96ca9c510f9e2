"""Means of metrics: over what was scored, or estimated where an LLM scored a sample."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from data.records import MetricEstimate, Submission
from data.stats import Interval
from data.store import Store
from leaderboard.standings.answer_stats import AnswerFact, MeanScore, SampledMean, mean_score


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


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMean:
    """A system's mean of a metric by one judge; `judge` is empty for the embedded version."""

    metric: str
    judge: str
    system: str
    submitted: int
    score: MeanScore

    def as_json(self) -> dict[str, object]:
        """A row of `arena metrics show --json`."""
        return {
            "metric": self.metric,
            "judge": self.judge or "embedded",
            "system": self.system,
            "submitted": self.submitted,
            "estimated": None,
            **self.score.as_json(),
        }


def stored_means(store: Store, entrants: Sequence[Submission], metric: str = "") -> tuple[StoredMean, ...]:
    """The means of what is scored of submissions, by metric, judge and system; of one metric where named."""
    facts: dict[tuple[str, str, int], list[AnswerFact]] = defaultdict(list)
    for score in store.scores.of_submissions([entrant.id for entrant in entrants]):
        if metric in ("", score.metric):
            fact = AnswerFact(
                question=score.question_id, domain=score.domain, words=0, scores={score.metric: score.score}
            )
            facts[score.metric, score.judge, score.submission].append(fact)
    by_number, estimates = {entrant.id: entrant for entrant in entrants}, estimated_means(store, entrants)
    rows = []
    for (name, judge, number), scored in facts.items():
        entrant = by_number[number]
        plain = mean_score(scored, name)
        estimate = estimates.get(score_label(name, judge), {}).get(entrant.system)
        whole = plain.answers + plain.undefined >= entrant.answers
        rows.append(
            StoredMean(
                metric=name,
                judge=judge,
                system=entrant.system,
                submitted=entrant.answers,
                score=plain if estimate is None or whole else replace(estimate, undefined=plain.undefined),
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.metric, row.judge, row.system)))
