"""Means of a metric from a sample of expensive scores and cheap ones on all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from data.errors import InputError, StatisticsError
from leaderboard.sampling.means import ScoredAnswers, powered_means, sample_answers

TRUTH = np.array([0.4, 0.5, 0.65])


def answers(seed: int, likeness: float = 0.9, questions: int = 120) -> ScoredAnswers:
    """Three systems on every question, all scored; a question is harder for all or for none."""
    random = np.random.default_rng(seed)
    system, question = np.tile(np.arange(3), questions), np.repeat(np.arange(questions), 3)
    own = random.normal(0, 0.15, len(system)) + random.normal(0, 0.1, questions)[question]
    noise = random.normal(0, 0.18, len(system))
    cheap = 0.3 + 0.5 * (likeness * (TRUTH[system] + own) + np.sqrt(1 - likeness**2) * noise)
    return ScoredAnswers(
        systems=("x", "y", "z"),
        system=system.astype(np.int32),
        question=question.astype(np.int32),
        cheap=cheap,
        expensive=TRUTH[system] + own,
        sampling_prob=np.ones(len(system)),
    )


def sampled(every: ScoredAnswers, count: int, seed: int) -> ScoredAnswers:
    """The same with a sample of expensive scores alone."""
    taken, chance = sample_answers(every.system, count, seed)
    kept = np.full(len(every.system), np.nan)
    kept[taken] = every.expensive[taken]
    return replace(every, expensive=kept, sampling_prob=chance)


def test_scoring_every_answer_gives_plain_means() -> None:
    """Where everything is scored the proxy metric has no say."""
    every = answers(1)
    estimates = powered_means(every)
    for code, mean in enumerate(estimates.means):
        assert mean.mean == pytest.approx(every.expensive[every.system == code].mean())
    first, *_ = estimates.differences
    assert (first.system, first.against) == ("x", "y")
    assert first.mean == pytest.approx(estimates.means[0].mean - estimates.means[1].mean)


def test_samples_are_spread_over_systems() -> None:
    """Each system has its share of the sample to within one answer; the size is exact."""
    system = np.repeat(np.arange(3), [50, 100, 150]).astype(np.int32)
    taken, chance = sample_answers(system, 60, 4)
    assert len(taken) == 60
    assert np.abs(np.bincount(system[taken]) - [10, 20, 30]).max() <= 1
    assert chance == pytest.approx(0.2)
    assert not np.array_equal(taken, sample_answers(system, 60, 5)[0])


def test_a_good_cheap_metric_gains_and_a_useless_one_does_not() -> None:
    """The gain lies surely above 1.05 for one, and not for the other."""
    good = powered_means(sampled(answers(2, 0.95, 400), 400, 1)).differences[0]
    useless = powered_means(sampled(answers(2, 0.0, 400), 400, 1)).differences[0]
    assert good.gain_interval.lower > 2
    assert useless.gain_interval.upper < 1.3
    assert good.error < useless.error


def test_estimates_average_to_the_full_means() -> None:
    """Over many samples the mean error is noise, for means and for differences."""
    every = answers(3)
    full = powered_means(every)
    gaps = []
    for seed in range(300):
        part = powered_means(sampled(every, 90, seed))
        both = zip((*part.means, *part.differences), (*full.means, *full.differences), strict=True)
        gaps.append([ours.mean - whole.mean for ours, whole in both])
    assert (np.abs(np.mean(gaps, axis=0)) < 3.5 * np.std(gaps, axis=0) / np.sqrt(300)).all()


@pytest.mark.slow
def test_intervals_of_means_cover() -> None:
    """95 % intervals hold the truth in 93-97 % of rounds."""
    hits = []
    for seed in range(700):
        estimates = powered_means(sampled(answers(seed), 90, seed))
        hits += [TRUTH[code] in mean.interval for code, mean in enumerate(estimates.means)]
        hits += [TRUTH[0] - TRUTH[2] in estimates.differences[1].interval]
    assert 0.93 <= np.mean(hits) <= 0.97


def test_answers_without_a_cheap_score_count() -> None:
    """A proxy metric that declines leaves its answer with the level of its system, not out."""
    every = answers(4)
    every = replace(every, cheap=np.where(np.arange(len(every.cheap)) % 7 == 0, np.nan, every.cheap))
    estimates = powered_means(sampled(every, 150, 1))
    assert estimates.answers == 360
    assert all(abs(mean.mean - TRUTH[code]) < 0.1 for code, mean in enumerate(estimates.means))


def test_what_cannot_be_estimated_is_refused() -> None:
    """Too few scores, lost chances and lost columns are errors."""
    every = answers(5)
    with pytest.raises(StatisticsError, match="9 expensive scores"):
        powered_means(sampled(every, 9, 1))
    with pytest.raises(InputError, match="no chance"):
        powered_means(replace(every, sampling_prob=np.zeros(len(every.sampling_prob))))
    with pytest.raises(InputError, match="differ"):
        powered_means(replace(every, cheap=np.ones(3)))
    with pytest.raises(InputError, match="cannot be sampled"):
        sample_answers(every.system, 0, 1)
