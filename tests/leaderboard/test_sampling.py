"""Cheaper rounds say the right thing about the whole from a part."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from data.errors import InputError, NotFoundError, StatisticsError
from leaderboard.battles import BattleTable
from leaderboard.rates import win_rates
from leaderboard.ratings import IntervalKind, rate
from leaderboard.sampling.adaptive import Contrast, NextBattles, neighbours, next_battles
from leaderboard.sampling.powered import Powered, power
from tests.narrow import known
from tests.sampled_rounds import table_of

NAMES = ("s0", "s1", "s2", "s3")


def world(seed: int, questions: int = 200, likeness: float = 0.8) -> tuple[BattleTable, np.ndarray]:
    """Every pair of four systems on every question: proxy shares, and the expensive verdicts."""
    random = np.random.default_rng(seed)
    pairs = list(combinations(range(4), 2))
    a, b = (np.tile([pair[side] for pair in pairs], questions) for side in (0, 1))
    question = np.repeat(np.arange(questions), len(pairs))
    quality = np.array([-0.6, -0.2, 0.2, 0.6]) + random.normal(0, 1, (questions, 4))
    margin = quality[question, a] - quality[question, b] + random.logistic(0, 1, len(a))
    noise = random.normal(0, margin.std(), len(a))
    share = 1 / (1 + np.exp(-likeness * margin - np.sqrt(1 - likeness**2) * noise))
    planned = table_of(a, b, question, share, len(NAMES))
    return planned, np.where(np.abs(margin) < 0.3, 0.5, (margin > 0).astype(float))


def drawn(verdicts: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A simple random sample's verdicts, and each battle's probability to be in it."""
    size = len(verdicts)
    judged = np.zeros(size, dtype=bool)
    judged[np.random.default_rng(seed).permutation(size)[: round(share * size)]] = True
    return np.where(judged, verdicts, np.nan), np.full(size, judged.mean())


def mean_score(table: BattleTable, system: str = "s3") -> tuple[float, float]:
    """A system's mean score and its clustered error."""
    row = win_rates(table, by_domain=False).of(system)
    assert row.clustered_error is not None
    return row.mean_score, row.clustered_error


def test_powered_scores_of_everything_are_the_verdicts() -> None:
    """When every battle was judged the proxy judge has no say."""
    planned, verdicts = world(1)
    found = power(planned, verdicts, np.ones(len(verdicts)))
    assert found.table.score == pytest.approx(verdicts)


def test_powered_scores_save_verdicts_with_a_good_cheap_judge_alone() -> None:
    """The gain grows with what the proxy judge knows, and a useless one costs little."""
    gains = []
    for likeness in (0.0, 0.6, 0.95):
        planned, verdicts = world(2, 400, likeness)
        sample, prob = drawn(verdicts, 0.15, 5)
        gains.append(power(planned, sample, prob).gain)
    assert gains[0] == pytest.approx(1.0, abs=0.15)
    assert gains[0] < gains[1] < gains[2]
    assert gains[2] > 1.8


def test_powered_scores_do_not_depend_on_sides() -> None:
    """Naming every battle the other way round mirrors every score."""
    planned, verdicts = world(3)
    assert planned.score is not None
    sample, prob = drawn(verdicts, 0.2, 1)
    mirrored = replace(
        planned,
        a=planned.b,
        b=planned.a,
        score=1 - planned.score,
        winner=(1 - planned.winner).astype(np.int8),
    )
    one, two = power(planned, sample, prob), power(mirrored, 1 - sample, prob)
    assert one.table.score is not None
    assert two.table.score == pytest.approx(1 - one.table.score)


def _two_waves(planned: BattleTable, verdicts: np.ndarray, seed: int) -> Powered:
    sample, prob = drawn(verdicts, 0.08, seed)
    start = power(planned, sample, prob)
    following = next_battles(
        planned,
        start.guess,
        np.isfinite(sample),
        100,
        contrasts=[Contrast("s2", "s3")],
        variance=start.variance,
        before=prob,
        seed=seed + 10_000,
    )
    sample[following.chosen] = verdicts[following.chosen]
    return power(planned, sample, following.sampling_prob)


@pytest.mark.slow
@pytest.mark.parametrize("adaptive", [False, True])
def test_powered_estimates_are_unbiased_and_their_intervals_cover(adaptive: bool) -> None:
    """Over many samples the mean error is noise, and 95 % intervals cover the truth of the world."""
    gaps, hits, repeats = [], 0, 500
    truth = np.mean([mean_score(replace(p, score=v))[0] for p, v in (world(s) for s in range(900, 1000))])
    for seed in range(repeats):
        planned, verdicts = world(seed)
        if adaptive:
            table = _two_waves(planned, verdicts, seed).table
        else:
            sample, prob = drawn(verdicts, 0.16, seed)
            table = power(planned, sample, prob).table
        found, error = mean_score(table)
        gaps.append(found - mean_score(replace(planned, score=verdicts))[0])
        hits += int(abs(found - truth) <= 1.97 * error)
    assert abs(np.mean(gaps)) < 0.2 * np.std(gaps)
    assert 0.925 <= hits / repeats <= 0.975


def test_powered_scores_can_be_rated() -> None:
    """Ratings from a sixth of the verdicts agree with the full round's within their errors."""
    planned, verdicts = world(4, 400)
    sample, prob = drawn(verdicts, 0.16, 2)
    ours = rate(power(planned, sample, prob).table, interval=IntervalKind.SANDWICH)
    full = rate(replace(planned, score=verdicts), interval=IntervalKind.SANDWICH)
    plain = rate(
        replace(planned, score=verdicts).select(np.flatnonzero(np.isfinite(sample))),
        interval=IntervalKind.SANDWICH,
    )
    for system in NAMES:
        mine, whole, part = ours.of(system), full.of(system), plain.of(system)
        assert mine.rating is not None
        assert whole.rating is not None
        assert mine.se is not None
        assert part.se is not None
        assert abs(mine.rating - whole.rating) < 3 * mine.se
        assert mine.se < part.se


def _next(planned: BattleTable, judged: np.ndarray, budget: int, contrasts: list[Contrast]) -> NextBattles:
    guess = known(planned.score)
    return next_battles(
        planned,
        guess,
        judged,
        budget,
        contrasts=contrasts,
        variance=np.maximum(guess * (1 - guess), 0.02),
        before=np.where(judged, 0.1, 0.0),
        seed=1,
    )


def test_next_battles_spend_the_budget_on_what_is_asked_about() -> None:
    """Asked about two systems, most of the battles drawn are theirs; none was judged before."""
    planned, verdicts = world(5)
    judged = np.isfinite(drawn(verdicts, 0.1, 3)[0])
    focused, even = (_next(planned, judged, 200, asked) for asked in ([Contrast("s2", "s3")], []))
    assert len(focused.chosen) == 200
    assert not judged[focused.chosen].any()
    assert focused.sampling_prob[~judged].sum() == pytest.approx(200)
    assert focused.sampling_prob.min() > 0

    def theirs(found: NextBattles) -> float:
        rows = found.chosen
        return float(np.isin(planned.a[rows], [2, 3]).mean() + np.isin(planned.b[rows], [2, 3]).mean())

    assert theirs(focused) > 1.1 * theirs(even)
    assert focused.chosen.tolist() == _next(planned, judged, 200, [Contrast("s2", "s3")]).chosen.tolist()
    assert neighbours(["s3", "s2", "s1"]) == (("s3", "s2"), ("s2", "s1"))


def test_more_budget_than_battles_judges_the_rest() -> None:
    """A budget above what is left takes all of it."""
    planned, verdicts = world(6, 20)
    found = _next(planned, np.zeros(len(verdicts), dtype=bool), 10_000, [])
    assert len(found.chosen) == len(verdicts)
    assert (found.sampling_prob == 1).all()


def test_impossible_requests_are_refused() -> None:
    """No budget, unknown systems and lost chances are errors, not biased numbers."""
    planned, verdicts = world(7, 20)
    none = np.zeros(len(verdicts), dtype=bool)
    with pytest.raises(InputError, match="budget of 0"):
        _next(planned, none, 0, [])
    with pytest.raises(NotFoundError, match="s9"):
        _next(planned, none, 5, [Contrast("s1", "s9")])
    sample, prob = drawn(verdicts, 0.2, 1)
    with pytest.raises(InputError, match="no chance"):
        power(planned, sample, np.zeros(len(verdicts)))
    with pytest.raises(InputError, match="not between 0 and 1"):
        power(planned, sample, 2 + prob)
    with pytest.raises(StatisticsError, match="cannot recalibrate"):
        power(planned, np.full(len(verdicts), np.nan), prob)
