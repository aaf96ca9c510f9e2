"""A metric by an LLM on a sample of a set's answers, and a cheap one on all: means with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.services.metrics.scoring import MetricRun
from data.errors import InputError, StatisticsError
from data.records import MetricEstimate, Outcome, Submission
from data.records.plain import to_json
from data.store import Store
from data.store.boards.scores import EMBEDDED, AnswerKey
from leaderboard.sampling.means import (
    PoweredMean,
    PoweredMeans,
    ScoredAnswers,
    powered_means,
    sample_answers,
)
from leaderboard.sampling.powered import LEAST_GAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSampling:
    """How a metric is sampled.

    Attributes:
        cheap_metric: The metric whose embedded version scores all answers.
        spend: Answers that the LLM scores: a number, or a share such as `10%`.
        seed: Of the sample.
    """

    cheap_metric: str
    spend: str
    seed: int = 0

    def count(self, answers: int) -> int:
        """Answers to score, of all.

        Raises:
            InputError: What to spend is neither a number nor a share, or not above nothing.
        """
        text = self.spend.strip()
        try:
            value = float(text.removesuffix("%")) / 100 * answers if text.endswith("%") else float(int(text))
        except ValueError:
            value = float("nan")
        if not 0 < value < float("inf"):
            message = f"{self.spend!r} is no number of answers."
            raise InputError(message, advice="Spend a number of answers such as 200, or a share such as 10%.")
        return min(answers, max(1, round(value)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledMetricRun:
    """What a sampled run did and tells.

    Attributes:
        cheap: The run of the proxy metric over all answers.
        expensive: The run of the LLM's over the sample.
        answers: All answers.
        unscored: Answers of the sample that have no score of the LLM.
        estimates: Means and differences; None where a part of the sample was not tried or is too small.
        missing: Why there are no estimates; empty where there are.
    """

    cheap: MetricRun
    expensive: MetricRun
    answers: int
    unscored: int
    estimates: PoweredMeans | None
    missing: str = ""

    @property
    def useless(self) -> bool:
        """Whether no mean gains from the proxy metric: a plain sample would do as well."""
        means = () if self.estimates is None else self.estimates.means
        return bool(means) and all(mean.gain < LEAST_GAIN for mean in means)

    def as_json(self) -> dict[str, Any]:
        """One object: both runs, and the estimates with their intervals."""
        return {
            "cheap": self.cheap.as_json(),
            "expensive": self.expensive.as_json(),
            "answers": self.answers,
            "unscored": self.unscored,
            "estimates": None if self.estimates is None else to_json(self.estimates),
            "missing": self.missing or None,
            "plain_sample_does_as_well": self.useless,
        }


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class SampledFrame:
    """The answers of a set, and those that were drawn.

    Attributes:
        systems: Systems, to the numbers of their submissions.
        seed: Of the sample.
        keys: (N,) the answers.
        places: Of those drawn.
        sampling_prob: (N,) chance of each to be drawn.
    """

    systems: Mapping[str, int]
    seed: int
    keys: tuple[AnswerKey, ...]
    places: NDArray[np.int64]
    sampling_prob: NDArray[np.float64]

    @classmethod
    def drawn(cls, store: Store, entrants: Sequence[Submission], sampling: MetricSampling) -> SampledFrame:
        """Draw answers, spread evenly over systems."""
        numbers = tuple(entrant.id for entrant in entrants)
        keys = store.scores.answers_of(numbers)
        if not keys:
            raise InputError("No answer is there to be scored.", advice="Add submissions to the set first.")
        _, system = np.unique([key.system for key in keys], return_inverse=True)
        places, prob = sample_answers(system.astype(np.int32), sampling.count(len(keys)), sampling.seed)
        systems = {entrant.system: entrant.id for entrant in entrants}
        return cls(systems=systems, seed=sampling.seed, keys=keys, places=places, sampling_prob=prob)

    @property
    def sampled(self) -> frozenset[int]:
        """The store's numbers of the answers drawn."""
        return frozenset(self.keys[place].number for place in self.places)

    def estimated(self, store: Store, cheap: MetricRun, expensive: MetricRun) -> SampledMetricRun:
        """Read both metrics' scores back, and estimate."""
        drawn = self._scores(store, expensive.metric, expensive.judge)
        kept = np.full(len(self.keys), np.nan)
        kept[self.places] = drawn[self.places]
        unscored = len(self.places) - int(np.isfinite(kept).sum())
        untried = expensive.pending + expensive.outcomes[Outcome.SKIPPED]
        estimates, missing = None, ""
        if untried:
            missing = f"{untried:,} answers of the sample were not tried; the same command goes on with them."
        else:
            try:
                estimates = powered_means(self._answers(self._scores(store, cheap.metric, EMBEDDED), kept))
            except StatisticsError as error:
                missing = str(error)
        if estimates is not None:
            store.estimates.put(self._kept(estimates, cheap, expensive))
        return SampledMetricRun(
            cheap=cheap,
            expensive=expensive,
            answers=len(self.keys),
            unscored=unscored,
            estimates=estimates,
            missing=missing,
        )

    def _kept(self, estimates: PoweredMeans, cheap: MetricRun, expensive: MetricRun) -> list[MetricEstimate]:
        """The means as they are stored, each with the differences to the systems after it."""
        return [
            MetricEstimate(
                submission=self.systems[mean.system],
                metric=expensive.metric,
                judge=expensive.judge,
                cheap_metric=cheap.metric,
                seed=self.seed,
                answers=mean.answers,
                scored=mean.scored,
                **_figures(mean),
                differences=[
                    {"against": gap.against, **_figures(gap)}
                    for gap in estimates.differences
                    if gap.system == mean.system
                ],
            )
            for mean in estimates.means
        ]

    def _scores(self, store: Store, metric: str, judge: str) -> NDArray[np.float64]:
        known = {
            (score.system, score.question_id): score.score
            for score in store.scores.detailed(list(self.systems.values()), metric=metric, judge=judge)
            if score.score is not None
        }
        return np.array([known.get((key.system, key.question_id), np.nan) for key in self.keys])

    def _answers(self, cheap: NDArray[np.float64], expensive: NDArray[np.float64]) -> ScoredAnswers:
        systems, system = np.unique([key.system for key in self.keys], return_inverse=True)
        _, question = np.unique([key.question_id for key in self.keys], return_inverse=True)
        # Answers that the LLM could not score are taken for a random part of the sample.
        readable = np.isfinite(expensive).sum() / len(self.places)
        return ScoredAnswers(
            systems=tuple(systems.tolist()),
            system=system.astype(np.int32),
            question=question.astype(np.int32),
            cheap=cheap,
            expensive=expensive,
            sampling_prob=self.sampling_prob * readable,
        )


def _figures(mean: PoweredMean) -> dict[str, float]:
    return {
        "mean": mean.mean,
        "error": mean.error,
        "lower": mean.interval.lower,
        "upper": mean.interval.upper,
        "gain": mean.gain,
        "gain_lower": mean.gain_interval.lower,
        "gain_upper": mean.gain_interval.upper,
    }
