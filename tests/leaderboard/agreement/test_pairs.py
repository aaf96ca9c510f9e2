"""Agreement equals scikit-learn, SciPy and evalica, with intervals over questions."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from data.errors import RecordError, StatisticsError
from data.models import Preference
from leaderboard.agreement import coefficients
from leaderboard.agreement.coefficients import Resampling, krippendorff_alpha
from leaderboard.agreement.comparison import compare_rankings
from leaderboard.agreement.pairs import CalibrationPair, calibrate, majority
from leaderboard.battles import BattleTable
from tests.battle_tables import coded
from tests.narrow import known, listed

QUICK = Resampling(resamples=200, seed=1)
SIDES = [Preference.A, Preference.TIE, Preference.B]


def pair(
    label: float | tuple[float, ...],
    preference: Preference | None,
    *,
    question: str = "q",
    margin: float | None = None,
) -> CalibrationPair:
    labels = label if isinstance(label, tuple) else (label,)
    return CalibrationPair(
        id="p", domain="d", question=question, labels=labels, preference=preference, margin=margin
    )


def simulated(seed: int) -> list[CalibrationPair]:
    random = np.random.default_rng(seed)
    pairs = []
    for index in range(200):
        label = float(random.choice([-2, -1, 0, 1, 2]))
        margin = float(np.clip(label / 2 + random.normal(0, 0.7), -1, 1))
        side = SIDES[int(np.sign(margin) * (abs(margin) > 0.2)) + 1]
        pairs.append(pair(label, side, question=f"q{index // 2}", margin=margin))
    return pairs


def test_coefficients_agree_with_other_libraries() -> None:
    pairs = simulated(1)
    result = calibrate(pairs, QUICK).overall
    people = [int(np.sign(row.labels[0])) for row in pairs]
    judge = [SIDES.index(row.preference) - 1 for row in pairs if row.preference is not None]
    assert result.kappa.value == pytest.approx(cohen_kappa_score(judge, people))
    margins, labels = [known(row.margin) for row in pairs], [float(row.labels[0]) for row in pairs]
    assert result.pearson.value == pytest.approx(stats.pearsonr(margins, labels).statistic)
    assert result.spearman.value == pytest.approx(stats.spearmanr(margins, labels).statistic)
    hits = [a == b for a, b in zip(judge, people, strict=True)]
    assert result.accuracy.value == pytest.approx(np.mean(hits))
    decided = [hit for hit, b in zip(hits, people, strict=True) if b != 0]
    assert result.decisive_accuracy.value == pytest.approx(np.mean(decided))
    assert result.tie_rate.value == pytest.approx(judge.count(0) / len(judge))


def test_krippendorffs_alpha_equals_evalicas() -> None:
    random = np.random.default_rng(2)
    values = random.integers(1, 5, (60, 4)).astype(float)
    values[random.random(values.shape) < 0.2] = np.nan
    theirs = evalica.alpha(pd.DataFrame(values.T), distance="nominal").alpha
    assert krippendorff_alpha(values, resampling=QUICK).value == pytest.approx(theirs)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30))
def test_rank_correlations_equal_scipys(points: list[tuple[int, int]]) -> None:
    x, y = (np.array(side, dtype=float) for side in zip(*points, strict=True))
    ours = float(coefficients.spearman(x, y, np.ones(len(x)))), coefficients.kendall(x, y)
    if len(set(x.tolist())) == 1 or len(set(y.tolist())) == 1:
        assert np.isnan(ours).all()
        return
    assert ours == pytest.approx((stats.spearmanr(x, y).statistic, stats.kendalltau(x, y).statistic))
    # Weights equal repeated pairs, and several draws are independent.
    draws = np.random.default_rng(len(x)).integers(0, 3, (5, len(x)))
    draws[:, :2] += 1
    with warnings.catch_warnings(action="ignore", category=stats.ConstantInputWarning):
        repeated = [stats.spearmanr(np.repeat(x, draw), np.repeat(y, draw)).statistic for draw in draws]
    assert coefficients.spearman(x, y, draws.astype(float)) == pytest.approx(repeated, nan_ok=True)


def test_ties_miss_decided_pairs_and_unreadable_pairs_are_excluded() -> None:
    pairs = [
        pair(-1, Preference.A),
        pair(2, Preference.TIE),
        pair(0, Preference.A),
        pair(1, None),
        pair(1, Preference.B),
    ]
    result = calibrate(pairs, QUICK).overall
    assert (result.pairs, result.unreadable, result.decided) == (5, 1, 3)
    assert result.decisive_accuracy.value == pytest.approx(2 / 3)
    assert result.accuracy.value == pytest.approx(2 / 4)
    assert result.tie_rate.value == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    ("labels", "people"),
    [
        ((-2, 1, 1), Preference.B),
        ((1, 0, 0), Preference.TIE),
        ((-1, 0, 2), Preference.TIE),
        ((-1, 1), Preference.TIE),
        ((-2, -0.5, 1, 1), Preference.TIE),
        ((-2, -0.5, -1, 1), Preference.A),
        ((0.5,), Preference.B),
    ],
)
def test_people_prefer_side_with_majority(labels: tuple[float, ...], people: Preference) -> None:
    """Labels are merged to a, tie or b by majority, regardless of their size."""
    result = pair(labels, people)
    assert result.people is people
    agreement = calibrate([result], QUICK).overall
    assert agreement.accuracy.value == 1
    assert agreement.decided == (people is not Preference.TIE)
    assert agreement.mean_label == result.mean_label == pytest.approx(sum(labels) / len(labels))


@given(st.lists(st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0]), min_size=1, max_size=7))
def test_majority_flips_with_sides_and_ignores_order(labels: list[float]) -> None:
    """Order and size of labels do not count."""
    side = majority(labels)
    assert majority([-label for label in labels]) is side.flipped
    assert majority(sorted(labels)) is side
    assert majority([np.sign(label) for label in labels]) is side


def test_correlations_use_mean_label() -> None:
    """A pair that the majority calls a tie still leans to b in the correlation."""
    pairs = [pair((-2, 1, 1), Preference.A, margin=-0.1), pair((1, 0, 0), Preference.B, margin=0.6)]
    pairs += [pair((2, 2, -1), Preference.B, margin=0.9)]
    result = calibrate(pairs, QUICK).overall
    assert result.pearson.value == pytest.approx(stats.pearsonr([-0.1, 0.6, 0.9], [0, 1 / 3, 1]).statistic)


def test_missing_value_is_null() -> None:
    constant = calibrate([pair(0, Preference.TIE), pair(0, Preference.TIE)], QUICK).as_json()
    assert constant["accuracy"] == 1
    for name in ("decisive_accuracy", "kappa", "pearson", "spearman", "alpha"):
        assert constant[name] is None
    empty = calibrate([], QUICK).as_json()
    assert empty["pairs"] == 0
    assert empty["accuracy"] is None
    json.dumps([constant, empty], allow_nan=False)


def test_intervals_contain_value_and_are_seeded() -> None:
    pairs = simulated(5)
    once, again = (calibrate(pairs, QUICK).overall for _ in range(2))
    assert once == again
    for name, result in once.estimates().items():
        if name != "annotator_alpha":
            assert result.value is not None
            assert result.interval is not None
            assert result.value in result.interval


def test_pairs_of_one_question_are_resampled_together() -> None:
    pairs = [pair(1 if i % 3 else -1, Preference.B, question=f"q{i}") for i in range(40)]
    once = calibrate(pairs, QUICK).overall.accuracy.interval
    copied = calibrate([row for row in pairs for _ in range(10)], QUICK).overall.accuracy.interval
    assert once is not None
    assert copied is not None
    assert copied.width == pytest.approx(once.width)


def test_labels_out_of_range_are_refused() -> None:
    with pytest.raises(RecordError, match="labels"):
        pair(3.0, Preference.A)


def board(seed: int) -> BattleTable:
    random = np.random.default_rng(seed)
    systems = ("s0", "s1", "s2", "s3", "s4", "ref")
    question, system = np.divmod(np.arange(600), 5)
    chance = 0.2 + 0.1 * system
    winner = np.where(random.random(600) < chance, 0, 1)
    return coded(systems, 120, system, np.full(600, 5), winner, question)


def test_rankings_of_equal_verdicts_agree() -> None:
    result = compare_rankings([board(1), board(1)]).as_json()
    assert (result["tau"], result["lower"], result["upper"]) == (1, 1, 1)
    assert all(row["ranks"][0] == row["ranks"][1] for row in listed(result["systems"]))


def test_rankings_with_one_common_system_are_refused() -> None:
    other = replace(board(1), systems=("t0", "t1", "t2", "t3", "t4", "ref"))
    with pytest.raises(StatisticsError, match="needs at least two"):
        compare_rankings([board(1), other])
