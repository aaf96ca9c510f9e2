"""What mending a kind of error would gain: planted errors are found, noise gains nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import NotFoundError, UnrankableError
from leaderboard.battles import BattleTable, Winner
from leaderboard.counterfactual import CounterfactualGain, ErrorQuestions, RatedRound, counterfactual_gains
from leaderboard.ratings import rate

OURS = "ours"
QUESTIONS = 300
COSTLY, CHEAP, NOISE = "costly", "cheap", "noise"
LOSSES = {COSTLY: 2.0, CHEAP: 0.5, NOISE: 0.0}
"""Log-odds that a planted error costs in each battle of the answer that has it."""
STANDING_IN = 0.35
WINNERS = {Winner.A: "model_a", Winner.B: "model_b", Winner.TIE: "tie"}


def _planted(seed: int) -> tuple[BattleTable, dict[str, ErrorQuestions]]:
    """Five systems on 300 questions; a third of the answers of one have each kind of planted error."""
    random = np.random.default_rng(seed)
    systems = [OURS, "b", "c", "d", "e"]
    strength = dict(zip(systems, (0.3, 0.8, 0.2, -0.2, -0.6), strict=True))
    has = {error: random.random(QUESTIONS) < STANDING_IN for error in LOSSES}
    rows = []
    for question in range(QUESTIONS):
        for at, first in enumerate(systems):
            for second in systems[at + 1 :]:
                gap = strength[first] - strength[second]
                if first == OURS:
                    gap -= sum(loss for error, loss in LOSSES.items() if has[error][question])
                won = random.random() < 1 / (1 + np.exp(-gap))
                rows.append((f"q{question:03}", first, second, "model_a" if won else "model_b"))
    errors = {
        error: ErrorQuestions(
            present=[f"q{at:03}" for at in np.flatnonzero(mask)],
            absent=[f"q{at:03}" for at in np.flatnonzero(~mask)],
        )
        for error, mask in has.items()
    }
    return _table(rows), errors


def _table(rows: list[tuple[str, str, str, str]]) -> BattleTable:
    questions, first, second, winners = zip(*rows, strict=True)
    return BattleTable.from_columns(
        question_id=list(questions),
        domain=["d"] * len(rows),
        model_a=list(first),
        model_b=list(second),
        winner=list(winners),
    )


def _by_error(gains: tuple[CounterfactualGain, ...]) -> dict[str, CounterfactualGain]:
    return {gain.error: gain for gain in gains}


@pytest.mark.parametrize("seed", range(4))
def test_the_costliest_planted_error_comes_first(seed: int) -> None:
    """Of three planted kinds of error the one that costs most ranks first, with an interval above 0."""
    gains = counterfactual_gains(*_arguments(seed), draws=300)
    assert [gain.error for gain in gains][:1] == [COSTLY]
    assert gains[0].is_certain
    assert gains[0].questions + gains[0].absent == QUESTIONS


def _arguments(seed: int) -> tuple[BattleTable, str, dict[str, ErrorQuestions]]:
    table, errors = _planted(seed)
    return table, OURS, errors


@pytest.mark.slow
def test_gains_are_those_of_a_world_without_the_error() -> None:
    """Over 60 worlds the mean gain is near that of worlds without the error, and noise gains nothing.

    Intervals cover that gain about as often as they say.
    """
    found: dict[str, list[float]] = {error: [] for error in LOSSES}
    covered = dict.fromkeys(LOSSES, 0)
    worlds = 60
    truth = {error: _true_gain(error) for error in LOSSES}
    for seed in range(worlds):
        for error, gain in _by_error(counterfactual_gains(*_arguments(seed), draws=200)).items():
            assert gain.points is not None
            assert gain.interval is not None
            found[error].append(gain.points)
            covered[error] += truth[error] in gain.interval
    for error, points in found.items():
        standard_error = float(np.std(points) / np.sqrt(worlds))
        assert abs(float(np.mean(points)) - truth[error]) < 4 * standard_error + 3
        assert covered[error] / worlds >= 0.86


def _true_gain(error: str) -> float:
    """Points between the ratings with all the errors and without one, where shares are as expected."""
    opponents = np.array([0.8, 0.2, -0.2, -0.6])
    ratings = []
    for left in (set(LOSSES), set(LOSSES) - {error}):
        share = np.zeros(4)
        for mask in range(8):
            standing = [name for at, name in enumerate(LOSSES) if mask >> at & 1]
            chance = STANDING_IN ** len(standing) * (1 - STANDING_IN) ** (3 - len(standing))
            loss = sum(LOSSES[name] for name in standing if name in left)
            share += chance / (1 + np.exp(-(0.3 - loss - opponents)))
        low, high = -20.0, 20.0
        for _ in range(80):
            middle = (low + high) / 2
            up = share.sum() > (1 / (1 + np.exp(opponents - middle))).sum()
            low, high = (middle, high) if up else (low, middle)
        ratings.append(low * 400 / np.log(10))
    return float(ratings[1] - ratings[0])


def test_gain_is_the_rating_without_the_error() -> None:
    """Against one opponent, with even records either way, the gain is a difference of two Elo ratings.

    120 questions, half with the error: 15 of 60 won there, 45 of 60 elsewhere. Mended, 90 of 120 are won but
    for the pull of the prior: from 0 to 400 log10(3) = 190.8 points.
    """
    rows = [
        (f"q{at:03}", OURS, "other", "model_a" if at % 4 == 0 or (at >= 60 and at % 4 != 3) else "model_b")
        for at in range(120)
    ]
    names = [f"q{at:03}" for at in range(120)]
    errors = {"halves": ErrorQuestions(present=names[:60], absent=names[60:])}
    (gain,) = counterfactual_gains(_table(rows), OURS, errors)
    assert gain.battles == 60
    assert gain.lost == 45
    assert gain.share == pytest.approx(0.25)
    assert gain.absent_share == pytest.approx(0.75)
    assert gain.points is not None
    assert gain.points == pytest.approx(190.8, rel=0.12)
    assert gain.points < 190.8
    assert gain.interval is not None
    assert gain.interval.lower < gain.points < gain.interval.upper


def test_an_error_in_every_answer_cannot_be_told() -> None:
    """Where fewer than five questions are without an error, its gain is not known, and it comes last."""
    table, errors = _planted(0)
    everywhere = ErrorQuestions(present=table.questions[4:], absent=table.questions[:4])
    gains = counterfactual_gains(table, OURS, {"everywhere": everywhere, **errors}, draws=50)
    assert gains[-1].error == "everywhere"
    assert gains[-1].points is None
    assert gains[-1].interval is None


def test_kinds_without_a_judged_question_are_left_out() -> None:
    """A kind of error that stands on no judged question is not listed."""
    table, _ = _planted(0)
    assert (
        counterfactual_gains(table, OURS, {"never": ErrorQuestions(present=["?"], absent=table.questions)})
        == ()
    )


def test_systems_without_a_rating_have_no_gains() -> None:
    """A system that lost every battle, or fought none, has no gain to tell."""
    lost = _table([(f"q{at}", OURS, "other", "model_b") for at in range(20)])
    errors = {"some": ErrorQuestions(present=["q1"], absent=[f"q{at}" for at in range(2, 20)])}
    with pytest.raises(UnrankableError):
        counterfactual_gains(lost, OURS, errors)
    with pytest.raises(NotFoundError):
        counterfactual_gains(lost, "nobody", errors)


@given(
    battles=st.lists(
        st.tuples(
            st.integers(0, 11), st.sampled_from(["b", "c"]), st.sampled_from(["model_a", "model_b", "tie"])
        ),
        min_size=12,
        max_size=60,
    ),
    present=st.sets(st.integers(0, 11)),
)
def test_gains_are_finite_and_shares_are_shares(
    battles: list[tuple[int, str, str]], present: set[int]
) -> None:
    """Whatever the battles, gains are finite, counts add up, and the better side of two has the gain."""
    sure = [("q0", OURS, other, "tie") for other in ("b", "c")]
    table = _table([*sure, *((f"q{at}", OURS, other, winner) for at, other, winner in battles)])
    names = set(table.questions)
    with_error = {f"q{at}" for at in present} & names
    errors = {"one": ErrorQuestions(present=with_error, absent=names - with_error)}
    for gain in counterfactual_gains(table, OURS, errors, draws=20):
        assert gain.questions + gain.absent == len(names)
        assert 0 <= gain.lost <= gain.battles
        assert gain.share is not None
        assert 0 <= gain.share <= 1
        if gain.points is None:
            assert gain.absent < 5
            continue
        assert gain.interval is not None
        assert np.isfinite([gain.points, gain.interval.lower, gain.interval.upper]).all()


def test_the_order_of_rows_changes_nothing() -> None:
    """Gains do not depend on the order of the battles or on which system is named first."""
    table, errors = _planted(1)
    turned = table.select(np.arange(len(table))[::-1])
    flip = np.array([1, 0, 2], dtype=np.int8)
    swapped = BattleTable(
        systems=turned.systems,
        questions=turned.questions,
        domains=turned.domains,
        a=turned.b,
        b=turned.a,
        winner=flip[turned.winner],
        question=turned.question,
        domain=turned.domain,
    )
    plain, other = (
        _by_error(counterfactual_gains(part, OURS, errors, draws=50)) for part in (table, swapped)
    )
    for error, gain in plain.items():
        assert other[error].points == pytest.approx(gain.points, abs=1e-6)


def test_what_has_nothing_to_do_with_verdicts_gains_little() -> None:
    """An "error" of every other question gains less than three standard errors of the rating."""
    table, _ = _planted(2)
    error = rate(table).of(OURS).se
    assert error is not None
    half = ErrorQuestions(present=table.questions[::2], absent=table.questions[1::2])
    (gain,) = counterfactual_gains(table, OURS, {"half": half}, draws=200)
    assert gain.points is not None
    assert abs(gain.points) < 3 * error


def test_own_battles_suffice_where_the_round_is_rated() -> None:
    """Gains from a system's own battles and the kept ratings of all are to the last digit those from all."""
    table, errors = _planted(1)
    rows = [
        (
            table.questions[table.question[row]],
            table.systems[table.a[row]],
            table.systems[table.b[row]],
            WINNERS[table.winner[row]],
        )
        for row in range(len(table))
    ]
    own = _table([row for row in rows if OURS in row])
    rated = RatedRound.of(table)
    assert counterfactual_gains(own, OURS, errors, rated=rated, draws=50) == counterfactual_gains(
        table, OURS, errors, draws=50
    )
    later = _table([*(row for row in rows if OURS in row), ("later", OURS, "b", "model_b")])
    assert counterfactual_gains(later, OURS, errors, rated=rated, draws=50) == counterfactual_gains(
        own, OURS, errors, rated=rated, draws=50
    )
