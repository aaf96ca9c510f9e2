"""Rounds in waves ask for what tells most, keep their chances, and end where they are told to."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import InputError, NotFoundError
from data.records import WavesEnd
from leaderboard.battles import BattleTable
from leaderboard.sampling.adaptive import Contrast, design_of
from leaderboard.sampling.asks import Ask, Question, widths_of
from leaderboard.sampling.chances import systematic, topped_up
from leaderboard.sampling.powered import power
from leaderboard.sampling.recalibration import recalibrated
from leaderboard.sampling.waves import (
    Ended,
    WavePlan,
    next_wave,
    scores_of,
)
from tests.sampled_rounds import Round, Stops, after_wave, begin, run_waves, simulated, stopped

GOLDEN = Path(__file__).parents[2] / "golden/sampling_waves.json"
LEADERS = Ask(question=Question.LEADERS)


def battles(seed: int = 0, likeness: float = 0.8, questions: int = 150) -> Round:
    """Five systems, every pair on every question."""
    return simulated(np.random.default_rng(seed), likeness, 5, questions)


def in_domains(table: BattleTable) -> BattleTable:
    """The same with every other question in a domain of its own."""
    return replace(table, domains=("law", "music"), domain=(table.question % 2).astype(np.int32))


@pytest.mark.parametrize("text", ["ranking", "leaders", "domains", "pair:s1,s2"])
def test_questions_are_read_as_they_are_written(text: str) -> None:
    """What a question is written as reads back as itself."""
    assert str(Ask.parse(text)) == text


@pytest.mark.parametrize("text", ["", "pair", "pair:s1", "pair:s1,s1", "pair:a,b,c", "ranking:s1", "all"])
def test_other_questions_are_refused(text: str) -> None:
    """A question that no round answers is refused with those that there are."""
    with pytest.raises(InputError, match="no question"):
        Ask.parse(text)


@given(st.lists(st.floats(0, 50), min_size=2, max_size=60), st.data())
def test_chances_spend_the_budget_within_their_bounds(worth: list[float], data: st.DataObject) -> None:
    """Chances of what is left add up to the budget, none is nothing, and the draw has exactly that size."""
    size = len(worth)
    before = np.array(data.draw(st.lists(st.floats(0, 0.9), min_size=size, max_size=size)))
    left = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    left[0] = True
    budget = data.draw(st.integers(1, int(left.sum())))
    chances = topped_up(np.array(worth), before, left, budget)
    assert chances[left].sum() == pytest.approx(budget, rel=1e-6)
    assert ((chances > 0) & (chances <= 1)).all()
    assert len(systematic(chances[left], 1)) == budget


def test_a_second_wave_makes_up_for_what_the_first_gave_too_little() -> None:
    """Two waves together draw in proportion to worth, although the first drew everything alike."""
    worth = np.linspace(0.5, 2, 400)
    first = np.full(400, 0.05)
    second = topped_up(worth, first, np.ones(400, dtype=bool), 80)
    together = 1 - (1 - first) * (1 - second)
    inner = (second > second.min()) & (second < 1)
    assert inner.sum() > 300
    assert (together / worth)[inner] == pytest.approx((together / worth)[inner][0])


def test_every_estimate_of_a_small_round_averages_to_the_truth() -> None:
    """Over every possible sample of a tiny round, weighed by chance, scores add up to the verdicts."""
    verdicts = np.array([1.0, 0.0, 0.5, 1.0, 1.0, 0.0])
    guess = np.array([0.8, 0.4, 0.5, 0.9, 0.2, 0.1])
    total, weight = np.zeros(6), 0.0
    for first in combinations(range(6), 2):
        left = np.ones(6, dtype=bool)
        left[list(first)] = False
        # The second wave's chances depend on guesses alone, the same in every sample, as with cross-fitting.
        wanted = np.sqrt(guess * (1 - guess))
        anew = np.clip(wanted, 0.05, 1.0)
        for flags in range(16):
            drawn = np.zeros(6, dtype=bool)
            drawn[np.flatnonzero(left)[[bool(flags >> bit & 1) for bit in range(4)]]] = True
            probability = np.where(drawn, anew, 1 - anew)[left].prod() / 15
            chance = 1 - (1 - 2 / 6) * (1 - anew)
            judged = ~left | drawn
            total += probability * (guess + judged / chance * (verdicts - guess))
            weight += probability
    assert weight == pytest.approx(1.0)
    assert total == pytest.approx(verdicts)


def test_scores_of_waves_average_to_the_verdicts() -> None:
    """Over many draws of one round, each system's mean score is that of judging every battle."""
    world = battles(3, questions=60)
    sums = []
    for seed in range(40):
        plan = WavePlan(ask=LEADERS, cap=120, pilot=40, seed=1000 * seed)
        state, _ = run_waves(plan, world)
        scores = scores_of(state).table.score
        assert scores is not None
        gap = scores - world.verdicts
        sums.append(np.bincount(world.planned.a, gap, 5) - np.bincount(world.planned.b, gap, 5))
    mean, error = np.mean(sums, axis=0), np.std(sums, axis=0) / np.sqrt(len(sums))
    assert (np.abs(mean) < 3.5 * error).all()


def test_a_known_round_is_drawn_as_ever() -> None:
    """The golden round's battles, wave by wave, and its widths: a stored draw can be made again."""
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    world = battles(21)
    plan, state, waves = WavePlan(ask=LEADERS, target_width=180, cap=600, seed=7), begin(world.planned), []
    while not isinstance(wave := next_wave(plan, state), Ended):
        waves.append(wave.chosen.tolist())
        state = after_wave(state, wave, world.verdicts[wave.chosen])
    assert wave.widths is not None
    (asked,) = wave.widths.asked
    assert waves == golden["waves"]
    assert [asked.contrast.first, asked.contrast.second] == golden["leaders"]
    assert wave.reason.value == golden["reason"]
    assert asked.points == pytest.approx(golden["points"], abs=1e-4)
    assert asked.width == pytest.approx(golden["width"], abs=1e-4)


def test_equal_seeds_draw_equal_rounds() -> None:
    """The draw follows from plan, state and seed."""
    world = battles(1)
    plan = WavePlan(ask=LEADERS, cap=200, seed=4)
    (one, _), (two, _) = run_waves(plan, world), run_waves(plan, world)
    assert np.array_equal(one.verdicts, two.verdicts, equal_nan=True)
    other, _ = run_waves(replace(plan, seed=5), world)
    assert not np.array_equal(one.verdicts, other.verdicts, equal_nan=True)


def test_a_round_ends_at_its_width_or_its_cap() -> None:
    """A wide target is reached before the cap; a target out of reach spends the cap, never more."""
    world = battles(2)
    state, ended = run_waves(WavePlan(ask=LEADERS, target_width=250, cap=1000), world)
    assert ended.reason is WavesEnd.WIDTH
    assert ended.widths is not None
    assert ended.widths.widest <= 250
    assert 100 <= state.judged.sum() < 1000
    state, ended = run_waves(WavePlan(ask=LEADERS, target_width=1, cap=130), world)
    assert ended.reason is WavesEnd.SPEND
    assert state.judged.sum() == 130


def test_a_round_ends_where_the_rest_would_tell_no_more() -> None:
    """With a proxy judge that is nearly always right, questions are soon all that is left to chance."""
    world = battles(4, questions=100)
    sure = replace(world.planned, score=np.clip(world.verdicts, 0.02, 0.98))
    state, ended = run_waves(WavePlan(ask=LEADERS, target_width=1, cap=1000), Round(sure, world.verdicts))
    assert ended.reason is WavesEnd.NOTHING_LEFT
    assert state.judged.sum() < 1000


def test_a_cap_below_the_pilot_ends_without_widths() -> None:
    """Too few verdicts for a pilot are bought, and nothing is claimed from them."""
    state, ended = run_waves(WavePlan(ask=LEADERS, cap=12), battles())
    assert (int(state.judged.sum()), ended) == (12, Ended(reason=WavesEnd.SPEND, widths=None))


@pytest.mark.parametrize("text", ["ranking", "leaders", "domains", "pair:s0,s3"])
def test_rounds_answer_every_question(text: str) -> None:
    """Each question has its differences, first and second in the order found, and a width for each."""
    world = battles(5)
    planned = in_domains(world.planned)
    _, ended = run_waves(WavePlan(ask=Ask.parse(text), cap=300), Round(planned, world.verdicts))
    assert ended.widths is not None
    asked = ended.widths.asked
    assert len(asked) == {"ranking": 4, "leaders": 1, "domains": 8, "pair:s0,s3": 1}[text]
    assert all(np.isfinite(width.width) for width in asked)
    assert {width.contrast.domain for width in asked} == ({"law", "music"} if text == "domains" else {None})
    if text == "pair:s0,s3":
        assert asked[0].contrast == Contrast("s0", "s3")


def test_asked_about_a_pair_most_battles_are_theirs() -> None:
    """Waves go to the systems asked about, above their share of the plan."""
    world = battles(6)
    state, _ = run_waves(WavePlan(ask=Ask.parse("pair:s0,s3"), cap=300), world)
    touching = np.isin(world.planned.a, [0, 3]).astype(float) + np.isin(world.planned.b, [0, 3])
    assert touching[state.judged].mean() > 1.15 * touching.mean()


def test_several_differences_are_balanced_by_the_widest() -> None:
    """The greatest expected variance is below that of chances that serve the sum of all."""
    world = battles(7)
    guess = world.planned.share
    design = design_of(
        world.planned, guess, [Contrast("s0", "s1"), Contrast("s2", "s3"), Contrast("s3", "s4")]
    )
    # Guesses of one pair are far worse than others'.
    poor = (world.planned.a == 0) & (world.planned.b == 1)
    variance = np.where(poor, 0.25, 0.02)

    def greatest(counts: np.ndarray) -> float:
        chance = topped_up(
            np.sqrt(variance * design.worth(counts)),
            np.zeros(len(guess)),
            np.ones(len(guess), dtype=bool),
            60,
        )
        return float(design.variances(variance * (1 / chance - 1)).max())

    assert greatest(design.balance(variance)) < 0.97 * greatest(np.ones(3))


def test_impossible_plans_are_refused() -> None:
    """No verdicts, no width, unknown systems and empty rounds are errors."""
    world = battles()
    with pytest.raises(InputError, match="at least one verdict"):
        WavePlan(ask=LEADERS, cap=0)
    with pytest.raises(InputError, match="width above 0"):
        WavePlan(ask=LEADERS, cap=9, target_width=0)
    with pytest.raises(NotFoundError, match="s9"):
        run_waves(WavePlan(ask=Ask.parse("pair:s1,s9"), cap=90), world)
    empty = world.planned.select(np.zeros(len(world.planned), dtype=bool))
    with pytest.raises(InputError, match="No battle is planned"):
        next_wave(WavePlan(ask=LEADERS, cap=9), begin(empty))
    one = world.planned.select((world.planned.a == 0) & (world.planned.b == 1))
    with pytest.raises(NotFoundError, match="opera"):
        design_of(one, one.share, [Contrast("s0", "s1", "opera")])
    with pytest.raises(NotFoundError, match="No planned battle names s9"):
        design_of(one, one.share, [Contrast("s0", "s9")])


def test_guesses_improve_with_a_second_cheap_judge() -> None:
    """Two proxy judges with errors of their own leave less open than one, and one more of noise no more."""
    world = battles(10, 0.7, 400)
    random = np.random.default_rng(1)
    verdicts = world.verdicts
    second = 1 / (1 + np.exp(-2 * (verdicts - 0.5) - random.normal(0, 1.5, len(verdicts))))
    judged = np.zeros(len(verdicts), dtype=bool)
    judged[random.permutation(len(verdicts))[:600]] = True

    def left_open(*others: np.ndarray) -> float:
        guess = recalibrated(world.planned, verdicts, judged, others=others)[0]
        return float(np.mean((verdicts - guess) ** 2))

    alone = left_open()
    assert left_open(second) < 0.92 * alone
    assert left_open(random.random(len(verdicts))) < 1.02 * alone
    with pytest.raises(InputError, match="3 shares"):
        left_open(np.ones(3))


def test_the_expected_error_of_guesses_is_what_they_err_by() -> None:
    """Among battles called sure and among those called open, squared errors are as large as expected."""
    world = battles(11, 0.9, 400)
    judged = np.zeros(len(world.verdicts), dtype=bool)
    judged[np.random.default_rng(1).permutation(len(judged))[:600]] = True
    guess, variance = recalibrated(world.planned, world.verdicts, judged)
    squares = (world.verdicts - guess) ** 2
    for part in np.array_split(np.argsort(variance), 3):
        assert variance[part].mean() == pytest.approx(squares[part].mean(), rel=0.25, abs=0.01)


def test_the_gain_has_an_interval_that_says_when_it_is_near_nothing() -> None:
    """A proxy judge that knows nothing is surely below the gain of 1.05 that counts; a good one above."""
    for likeness, above in ((0.0, False), (0.9, True)):
        world = battles(12, likeness, 400)
        judged = np.zeros(len(world.verdicts), dtype=bool)
        judged[np.random.default_rng(2).permutation(len(judged))[:600]] = True
        verdicts = np.where(judged, world.verdicts, np.nan)
        scored = power(world.planned, verdicts, np.full(len(judged), judged.mean()))
        assert scored.gain in scored.gain_interval
        assert (scored.gain_interval.lower > 1.05) is above
        assert above or scored.gain_interval.upper < 1.05


def test_widths_are_infinite_where_there_is_no_estimate() -> None:
    """A system that never loses has no rating: its differences are open, not zero."""
    world = battles(13)
    won = np.where(world.planned.b == 4, 0.0, np.where(world.planned.a == 4, 1.0, world.verdicts))
    widths = widths_of(replace(world.planned, score=won), Ask.parse("pair:s0,s4"))
    assert widths.widest == np.inf
    assert widths.asked[0].points is None


def _kept(ended: Stops, most: float) -> None:
    assert ended.share <= most
    # Three standard errors around 95 %: 93-97 % needs more repeats than a test may take.
    slack = 3 * np.sqrt(0.95 * 0.05 / len(ended.gaps))
    assert 0.95 - max(0.02, slack) <= ended.coverage <= min(1.0, 0.95 + max(0.02, slack))


@pytest.mark.slow
@pytest.mark.parametrize(("likeness", "most"), [(0.7, 0.40), (0.9, 0.22)])
def test_asked_about_the_leaders_a_round_stops_early(likeness: float, most: float) -> None:
    """Eight systems, 500 questions: the part of a plain sample's verdicts at equal width, with coverage."""
    _kept(stopped(LEADERS, likeness, 8, 500, 0.1, 100), most)


@pytest.mark.slow
@pytest.mark.parametrize(("likeness", "most"), [(0.7, 1 / 3), (0.9, 1 / 6)])
def test_a_large_round_stops_earlier(likeness: float, most: float) -> None:
    """Twenty systems, 2,000 questions: a third and a sixth of a plain sample's verdicts."""
    _kept(stopped(LEADERS, likeness, 20, 2000, 0.02, 5), most)
