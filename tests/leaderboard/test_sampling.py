"""Cheaper rounds say the right thing about the whole from a part."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.errors import InputError, NotFoundError, StatisticsError
from leaderboard.battles import BattleTable
from leaderboard.rates import win_rates
from leaderboard.ratings import IntervalKind, rate
from leaderboard.sampling.adaptive import NextBattles, neighbours, next_battles
from leaderboard.sampling.cheap_judge import PairTexts, pair_features, predicted_shares
from leaderboard.sampling.powered import Draw, Powered, power
from leaderboard.sampling.strata import Allocation, allocate, sample_questions, stratified_mean
from tests.narrow import known

NAMES = ("s0", "s1", "s2", "s3")


def world(seed: int, questions: int = 200, likeness: float = 0.8) -> tuple[BattleTable, np.ndarray]:
    """Every pair of four systems on every question: cheap shares, and the expensive verdicts."""
    random = np.random.default_rng(seed)
    pairs = list(combinations(range(4), 2))
    a, b = (np.tile([pair[side] for pair in pairs], questions) for side in (0, 1))
    question = np.repeat(np.arange(questions), len(pairs))
    quality = np.array([-0.6, -0.2, 0.2, 0.6]) + random.normal(0, 1, (questions, 4))
    margin = quality[question, a] - quality[question, b] + random.logistic(0, 1, len(a))
    noise = random.normal(0, margin.std(), len(a))
    share = 1 / (1 + np.exp(-likeness * margin - np.sqrt(1 - likeness**2) * noise))
    planned = BattleTable(
        systems=NAMES,
        questions=tuple(f"q{n}" for n in range(questions)),
        domains=("",),
        a=a.astype(np.int32),
        b=b.astype(np.int32),
        winner=np.where(share > 0.5, 0, 1).astype(np.int8),
        question=question.astype(np.int32),
        domain=np.zeros(len(a), dtype=np.int32),
        score=share,
    )
    return planned, np.where(np.abs(margin) < 0.3, 0.5, (margin > 0).astype(float))


def drawn(verdicts: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, Draw]:
    """A simple random sample's verdicts and its draw."""
    size = len(verdicts)
    judged = np.zeros(size, dtype=bool)
    judged[np.random.default_rng(seed).permutation(size)[: round(share * size)]] = True
    return np.where(judged, verdicts, np.nan), Draw(probability=np.full(size, judged.mean()), judged=judged)


def mean_score(table: BattleTable, system: str = "s3") -> tuple[float, float]:
    """A system's mean score and its clustered error."""
    row = win_rates(table, by_domain=False).of(system)
    assert row.clustered_error is not None
    return row.mean_score, row.clustered_error


@given(st.lists(st.integers(2, 60), min_size=1, max_size=6), st.data(), st.sampled_from(list(Allocation)))
@settings(max_examples=60, deadline=None)
def test_allocations_spend_the_sample_and_ask_no_domain_for_more_than_it_has(
    sizes: list[int], data: st.DataObject, allocation: Allocation
) -> None:
    """Any rule gives every domain two or more, and the total exactly."""
    named = {f"d{n}": size for n, size in enumerate(sizes)}
    total = data.draw(st.integers(2 * len(sizes), sum(sizes)))
    given_ = allocate(named, total, allocation, dict.fromkeys(named, 0.5))
    assert sum(given_.values()) == total
    assert all(2 <= given_[name] <= size for name, size in named.items())


def test_allocations_follow_their_rule() -> None:
    """Proportional follows size, equal ignores it, Neyman follows size times spread."""
    sizes = {"big": 900, "small": 100}
    assert allocate(sizes, 100) == {"big": 90, "small": 10}
    assert allocate(sizes, 100, Allocation.EQUAL) == {"big": 50, "small": 50}
    spreads = {"big": 0.1, "small": 0.9}
    assert allocate(sizes, 100, Allocation.NEYMAN, spreads) == {"big": 50, "small": 50}
    with pytest.raises(InputError, match="spread of big"):
        allocate(sizes, 100, Allocation.NEYMAN)
    with pytest.raises(InputError, match="cannot be sampled"):
        allocate(sizes, 1001)


def test_samples_are_seeded_and_report_chances() -> None:
    """Equal seeds draw equal questions; chances add up to the sample."""
    domains = ["x"] * 30 + ["y"] * 70
    one, two = (sample_questions(domains, 20, seed=3) for _ in range(2))
    assert one.chosen.tolist() == two.chosen.tolist()
    assert len(set(one.chosen.tolist())) == 20
    assert one.probability.sum() == pytest.approx(20)


def test_a_stratified_mean_of_everything_is_exact() -> None:
    """A full sample has no sampling error in the finite sense, and the plain mean as its mean."""
    random = np.random.default_rng(1)
    values, domains = random.random(50).tolist(), ["x"] * 20 + ["y"] * 30
    found = stratified_mean(values, domains, {"x": 20, "y": 30}, finite=True)
    assert found.mean == pytest.approx(np.mean(values))
    assert found.error == 0
    with pytest.raises(StatisticsError, match="1 of 30"):
        stratified_mean([0.5] * 3, ["x", "x", "y"], {"x": 20, "y": 30})


@pytest.mark.slow
@pytest.mark.parametrize("allocation", list(Allocation))
def test_stratified_intervals_cover(allocation: Allocation) -> None:
    """95 % intervals of what the full round would say cover 93–97 % under each allocation."""
    random = np.random.default_rng(2)
    domains = np.repeat(["x", "y", "z"], [600, 300, 100])
    values = (random.random(1000) < np.repeat([0.1, 0.5, 0.8], [600, 300, 100])).astype(float)
    sizes = {"x": 600, "y": 300, "z": 100}
    hits = 0
    for seed in range(1500):
        sample = sample_questions(
            domains.tolist(), 150, seed=seed, allocation=allocation, spreads={"x": 0.3, "y": 0.5, "z": 0.4}
        )
        found = stratified_mean(
            values[sample.chosen].tolist(), domains[sample.chosen].tolist(), sizes, finite=True
        )
        hits += values.mean() in found.interval
    assert 0.93 <= hits / 1500 <= 0.97


def test_powered_scores_of_everything_are_the_verdicts() -> None:
    """When every battle was judged the cheap judge has no say."""
    planned, verdicts = world(1)
    every = Draw(probability=np.ones(len(verdicts)), judged=np.ones(len(verdicts), dtype=bool))
    found = power(planned, verdicts, [every])
    assert found.table.score == pytest.approx(verdicts)
    assert found.judged == len(verdicts)


def test_powered_scores_save_verdicts_with_a_good_cheap_judge_alone() -> None:
    """The gain grows with what the cheap judge knows, and a useless one costs little."""
    gains = []
    for likeness in (0.0, 0.6, 0.95):
        planned, verdicts = world(2, 400, likeness)
        sample, draw = drawn(verdicts, 0.15, 5)
        gains.append(power(planned, sample, [draw]).gain)
    assert gains[0] == pytest.approx(1.0, abs=0.15)
    assert gains[0] < gains[1] < gains[2]
    assert gains[2] > 1.8


def test_powered_scores_do_not_depend_on_sides() -> None:
    """Naming every battle the other way round mirrors every score."""
    planned, verdicts = world(3)
    assert planned.score is not None
    sample, draw = drawn(verdicts, 0.2, 1)
    mirrored = replace(
        planned,
        a=planned.b,
        b=planned.a,
        score=1 - planned.score,
        winner=(1 - planned.winner).astype(np.int8),
    )
    one, two = power(planned, sample, [draw]), power(mirrored, 1 - sample, [draw])
    assert one.table.score is not None
    assert two.table.score == pytest.approx(1 - one.table.score)


def _two_rounds(planned: BattleTable, verdicts: np.ndarray, seed: int) -> Powered:
    sample, first = drawn(verdicts, 0.08, seed)
    start = power(planned, sample, [first])
    following = next_battles(
        planned, start.guess, first.judged, 100, targets=[("s2", "s3")], seed=seed + 10_000
    )
    judged = first.judged.copy()
    judged[following.chosen] = True
    second = Draw(probability=following.probability, judged=judged)
    return power(planned, np.where(judged, verdicts, np.nan), [first, second], worth=following.worth)


@pytest.mark.slow
@pytest.mark.parametrize("adaptive", [False, True])
def test_powered_estimates_are_unbiased_and_their_intervals_cover(adaptive: bool) -> None:
    """Over many samples the mean error is noise, and 95 % intervals cover the truth of the world."""
    gaps, hits, repeats = [], 0, 500
    truth = np.mean([mean_score(replace(p, score=v))[0] for p, v in (world(s) for s in range(900, 1000))])
    for seed in range(repeats):
        planned, verdicts = world(seed)
        if adaptive:
            table = _two_rounds(planned, verdicts, seed).table
        else:
            sample, draw = drawn(verdicts, 0.16, seed)
            table = power(planned, sample, [draw]).table
        found, error = mean_score(table)
        gaps.append(found - mean_score(replace(planned, score=verdicts))[0])
        hits += int(abs(found - truth) <= 1.97 * error)
    assert abs(np.mean(gaps)) < 0.2 * np.std(gaps)
    assert 0.925 <= hits / repeats <= 0.975


def test_powered_scores_can_be_rated() -> None:
    """Ratings from a sixth of the verdicts agree with the full round's within their errors."""
    planned, verdicts = world(4, 400)
    sample, draw = drawn(verdicts, 0.16, 2)
    ours = rate(power(planned, sample, [draw]).table, interval=IntervalKind.SANDWICH)
    full = rate(replace(planned, score=verdicts), interval=IntervalKind.SANDWICH)
    plain = rate(
        replace(planned, score=verdicts).select(np.flatnonzero(draw.judged)), interval=IntervalKind.SANDWICH
    )
    for system in NAMES:
        mine, whole, part = ours.of(system), full.of(system), plain.of(system)
        assert mine.rating is not None
        assert whole.rating is not None
        assert mine.se is not None
        assert part.se is not None
        assert abs(mine.rating - whole.rating) < 3 * mine.se
        assert mine.se < part.se


def test_next_battles_spend_the_budget_on_what_is_asked_about() -> None:
    """Asked about two systems, most of the battles drawn are theirs; none was judged before."""
    planned, verdicts = world(5)
    scores = known(planned.score)
    _, draw = drawn(verdicts, 0.1, 3)

    def ask(targets: list[tuple[str, str]]) -> NextBattles:
        return next_battles(planned, scores, draw.judged, 200, targets=targets, seed=1)

    focused, even = ask([("s2", "s3")]), ask([])
    assert len(focused.chosen) == 200
    assert not draw.judged[focused.chosen].any()
    assert focused.probability[~draw.judged].sum() == pytest.approx(200)
    assert focused.probability.min() > 0
    assert (focused.probability[draw.judged] == 1).all()

    def theirs(found: NextBattles) -> float:
        rows = found.chosen
        return float(np.isin(planned.a[rows], [2, 3]).mean() + np.isin(planned.b[rows], [2, 3]).mean())

    assert theirs(focused) > 1.1 * theirs(even)
    assert focused.chosen.tolist() == ask([("s2", "s3")]).chosen.tolist()
    assert neighbours(["s3", "s2", "s1"]) == (("s3", "s2"), ("s2", "s1"))


def test_more_budget_than_battles_judges_the_rest() -> None:
    """A budget above what is left takes all of it."""
    planned, verdicts = world(6, 20)
    assert planned.score is not None
    found = next_battles(planned, planned.score, np.zeros(len(verdicts), dtype=bool), 10_000)
    assert len(found.chosen) == len(verdicts)
    assert (found.probability == 1).all()


def test_impossible_requests_are_refused() -> None:
    """No budget, unknown systems, lost verdicts and lost chances are errors, not biased numbers."""
    planned, verdicts = world(7, 20)
    assert planned.score is not None
    none = np.zeros(len(verdicts), dtype=bool)
    with pytest.raises(InputError, match="budget of 0"):
        next_battles(planned, planned.score, none, 0)
    with pytest.raises(NotFoundError, match="s9"):
        next_battles(planned, planned.score, none, 5, targets=[("s1", "s9")])
    sample, draw = drawn(verdicts, 0.2, 1)
    with pytest.raises(InputError, match="has no verdict"):
        power(planned, np.full(len(verdicts), np.nan), [draw])
    with pytest.raises(InputError, match="no chance"):
        power(planned, sample, [replace(draw, probability=np.zeros(len(verdicts)))])
    with pytest.raises(StatisticsError, match="cannot recalibrate"):
        power(planned, sample, [replace(draw, judged=none)])


def pair(better: int, seed: int) -> tuple[PairTexts, float]:
    """A pair of which one answer is long and on topic, the other short and off it."""
    random = np.random.default_rng(seed)
    words = [f"w{n}" for n in random.permutation(40)]
    good, bad = " ".join(words[:25]) + ".", " ".join(f"x{n}" for n in random.permutation(30)[:6])
    answers = (good, bad) if better == 0 else (bad, good)
    texts = PairTexts(question=words[0], answer_a=answers[0], answer_b=answers[1], yardstick=" ".join(words))
    return texts, 1.0 - better


def test_a_trained_cheap_judge_learns_from_paid_verdicts() -> None:
    """Trained on a quarter of the verdicts, it tells long relevant answers from short ones elsewhere."""
    made = [pair(n % 2, n) for n in range(80)]
    features = pair_features([texts for texts, _ in made])
    verdicts = np.array([share for _, share in made])
    questions = np.arange(80, dtype=np.int32)
    paid = np.where(np.arange(80) % 4 < 1, verdicts, np.nan)
    paid[1] = verdicts[1]
    shares = predicted_shares(features, paid, questions)
    assert ((shares > 0.5) == (verdicts > 0.5)).mean() > 0.95
    flipped = predicted_shares(-features, 1 - paid, questions)
    assert flipped == pytest.approx(1 - shares, abs=1e-3)


def test_features_change_sign_with_the_sides_and_take_empty_texts() -> None:
    """Swapping the answers negates every feature; nothing at all gives zeros."""
    texts, _ = pair(0, 1)
    swapped = replace(texts, answer_a=texts.answer_b, answer_b=texts.answer_a)
    assert pair_features([texts]) == pytest.approx(-pair_features([swapped]))
    empty = PairTexts(question="", answer_a="", answer_b="")
    assert not pair_features([empty]).any()
    assert pair_features([]).shape[0] == 0


def test_a_classifier_needs_verdicts_of_other_questions() -> None:
    """Verdicts on one question predict nothing for that question; one-sided ones on many do."""
    features = np.ones((10, 2))
    with pytest.raises(StatisticsError, match="no verdicts"):
        predicted_shares(features, np.ones(10), np.zeros(10, dtype=np.int32))
    assert (predicted_shares(features, np.ones(10), np.arange(10, dtype=np.int32)) > 0.5).all()
