"""The judge's own error: its parts, what they depend on, and what they make of intervals."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit

from data.errors import InputError
from leaderboard.battles import BattleTable
from leaderboard.ratings import Anchor, Flag, IntervalKind, Method, rate
from leaderboard.trust.judge_error.rates import rates_of_readings
from leaderboard.trust.judge_error.ratings import ErrorTable, rate_readings
from leaderboard.trust.judge_error.readings import Readings
from leaderboard.vocabulary import OVERALL, ErrorKind
from tests.narrow import known
from tests.simulated_judge import SANDWICH, Judge, trials

SYSTEMS = ("a", "b", "c", "d")
PAIRS = tuple(combinations(SYSTEMS, 2))
WITH_JUDGE = (ErrorKind.JUDGE, ErrorKind.ALL)


def readings_of(judge: Judge | None = None, **design: float) -> Readings:
    """One simulated round."""
    chosen: dict[str, int | float] = {"questions": 40, "wordings": 4, "repeats": 2} | design
    return next(
        trials(
            judge or Judge(),
            questions=int(chosen["questions"]),
            wordings=int(chosen["wordings"]),
            repeats=int(chosen["repeats"]),
            count=1,
            seed=int(chosen.get("seed", 0)),
            share=float(chosen.get("share", 1)),
        )
    ).readings


def rows_of(winners: list[str]) -> BattleTable:
    """All pairs of four systems on as many questions as there are winners for."""
    battles = [(f"q{number // 6}", *PAIRS[number % 6]) for number in range(len(winners))]
    question, first, second = (list(column) for column in zip(*battles, strict=True))
    return BattleTable.from_columns(question, ["all"] * len(winners), first, second, winners)


def repeated(table: BattleTable, times: int) -> BattleTable:
    """Every row so many times, one copy after the other."""
    return table.select(np.tile(np.arange(len(table)), times))


@pytest.mark.long
@given(
    winners=st.lists(st.sampled_from(["model_a", "model_b", "tie"]), min_size=36, max_size=60),
    times=st.integers(2, 4),
)
def test_wordings_with_the_same_verdicts_have_no_part(winners: list[str], times: int) -> None:
    """However the battles ended, wordings that never change a verdict add nothing, and repeats neither."""
    table = rows_of(winners)
    wording = [f"w{copy}" for copy in range(times) for _ in range(len(table))]
    readings = Readings.from_table(repeated(table, 2 * times), [*wording, *wording])
    rates = rates_of_readings(readings, ErrorKind.JUDGE)
    for system in SYSTEMS:
        for part in rates.parts[system, OVERALL].values():
            assert part.wordings == pytest.approx(0, abs=1e-9)
            assert part.wordings_by_question == pytest.approx(0, abs=1e-9)
            assert part.repeats == pytest.approx(0, abs=1e-9)
    plain = rate(table, interval=IntervalKind.SANDWICH)
    if any(row.flags for row in plain.ratings):
        return
    found = rate_readings(readings, ErrorKind.ALL, SANDWICH)
    for row in plain.ratings:
        parts = found.parts[row.system]
        assert parts.wordings == pytest.approx(0, abs=1e-6)
        assert parts.questions == pytest.approx(known(row.se), rel=1e-6)
        # Another round has other questions too, so that its distance varies twice as much.
        assert known(found.table.of(row.system).se) == pytest.approx(np.sqrt(2) * known(row.se), rel=1e-6)


@given(seed=st.integers(0, 1000))
@settings(max_examples=6, deadline=None)
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    """Rows in any order, with either system first, give the same bytes."""
    random = np.random.default_rng(seed)
    judge = Judge(systems=4)
    wins = judge.read(random, judge.qualities(random, 12), wordings=3, repeats=2)
    table, wording, repeat = judge.table(wins)
    order = random.permutation(len(table))
    turned = table.select(order)
    swapped = random.random(len(order)) < 0.5
    turned = replace(
        turned,
        a=np.where(swapped, turned.b, turned.a),
        b=np.where(swapped, turned.a, turned.b),
        winner=np.where(swapped, 1 - turned.winner, turned.winner).astype(np.int8),
    )
    shuffled = Readings.from_table(
        turned, [wording[row] for row in order.tolist()], [repeat[row] for row in order.tolist()]
    )
    straight = Readings.from_table(table, wording, repeat)
    for kind in WITH_JUDGE:
        rated = [rate_readings(readings, kind, SANDWICH).as_json() for readings in (shuffled, straight)]
        assert rated[0] == rated[1]
        one, other = (rates_of_readings(readings, kind) for readings in (shuffled, straight))
        assert one.as_json() == other.as_json()


def test_few_wordings_take_students_t() -> None:
    """Where wordings decide the error, the interval reaches t with as many degrees less one."""
    judge = Judge(by_wording=1.0, by_question=0.2, on_single=0.0)
    for wordings in (2, 4, 7):
        found = rate_readings(readings_of(judge, questions=200, wordings=wordings), ErrorKind.JUDGE, SANDWICH)
        for row in found.table.ratings:
            freedom = known(found.parts[row.system].degrees_of_freedom)
            reach = (known(row.upper) - known(row.lower)) / 2 / known(row.se)
            assert reach == pytest.approx(stdtrit(freedom, 0.975), rel=1e-9)
            assert wordings - 1 <= freedom
        largest = max(found.parts.values(), key=lambda parts: known(parts.wordings))
        assert known(largest.degrees_of_freedom) < wordings - 1 + 0.5
        assert any("few wordings make wide intervals" in note for note in found.notes) is (wordings < 8)


def test_one_wording_leaves_its_share_unknown_and_says_so() -> None:
    """Repeats alone tell the repeats' part; that of wordings is null, not 0, and a note says why."""
    found = rate_readings(readings_of(wordings=1), ErrorKind.ALL)
    assert "wordings: 1, their share of the error is unknown" in found.notes
    for parts in found.parts.values():
        assert (parts.wordings, parts.wordings_by_question) == (None, None)
        assert known(parts.repeats) > 0
    assert all(row["components"]["wordings"] is None for row in listed(found))


def test_no_repeats_leave_their_share_with_single_questions_and_say_so() -> None:
    """Without another asking in the same words, `repeats` is null."""
    found = rate_readings(readings_of(repeats=1), ErrorKind.ALL)
    assert any(note.startswith("repeats: none in the same words") for note in found.notes)
    for parts in found.parts.values():
        assert parts.repeats is None
        assert known(parts.wordings_by_question) > 0


def listed(found: ErrorTable) -> list[dict[str, dict[str, float | None]]]:
    """The ratings of the JSON."""
    rows = found.as_json()["ratings"]
    assert isinstance(rows, list)
    return rows


def test_battles_that_were_read_once_tell_nothing() -> None:
    """Without any second reading there is an error that says what to do, never another interval."""
    once = Readings.from_table(rows_of(["model_a", "model_b", "tie"] * 12))
    for kind in WITH_JUDGE:
        with pytest.raises(InputError, match="No battle was read again"):
            rate_readings(once, kind)
        with pytest.raises(InputError, match="No battle was read again"):
            rates_of_readings(once, kind)


def test_other_models_are_refused() -> None:
    """The parts are those of Bradley-Terry ratings; another model is an error, not another number."""
    with pytest.raises(InputError, match="Bradley-Terry"):
        rate_readings(readings_of(), ErrorKind.ALL, replace(SANDWICH, method=Method.DAVIDSON))


def test_parts_of_a_rate_are_those_of_a_plain_analysis_of_variance() -> None:
    """On a complete design the parts of a win rate are the textbook's of wordings crossed with questions.

    A second implementation, by sums of squares over a system's battles on each question.
    """
    random = np.random.default_rng(4)
    judge = Judge(systems=2, by_wording=0.5, on_single=1.0)
    wins = judge.read(random, judge.qualities(random, 60), wordings=5, repeats=3)
    found = rates_of_readings(Readings.from_table(*judge.table(wins)), ErrorKind.ALL)
    cell = wins[..., 0].mean(axis=0)  # wordings × questions
    wordings, questions = cell.shape
    shift = cell.mean(axis=1, keepdims=True) - cell.mean()
    rest = cell - cell.mean(axis=0) - shift
    interaction = (rest**2).sum() / (wordings - 1) / (questions - 1)
    repeats = wins[..., 0].var(axis=0, ddof=1).mean()
    between = (shift**2).sum() / (wordings - 1)
    part = found.parts["s00", OVERALL]["win_rate"]
    assert known(part.repeats) == pytest.approx(np.sqrt(repeats / questions), rel=1e-9)
    assert known(part.wordings) == pytest.approx(np.sqrt(between - interaction / questions), rel=1e-9)
    by_question = (interaction - repeats / 3) / questions
    assert known(part.wordings_by_question) == pytest.approx(np.sqrt(max(by_question, 0)), rel=1e-6)
    sampling = cell.mean(axis=0).var(ddof=1) / questions
    judged = max(by_question, 0) / wordings + repeats / questions / wordings / 3
    assert known(part.questions) == pytest.approx(np.sqrt(sampling - judged), rel=1e-6)


def test_moves_of_ratings_are_those_of_refits() -> None:
    """The spread of wordings agrees with ratings fitted anew to each wording, to a few per cent."""
    judge = Judge(by_wording=0.3)
    random = np.random.default_rng(8)
    wins = judge.read(random, judge.qualities(random, 400), wordings=6, repeats=1)
    found = rate_readings(Readings.from_table(*judge.table(wins)), ErrorKind.JUDGE, SANDWICH)
    refits = np.array(
        [
            rate(judge.table(wins[:, [wording]])[0], interval=IntervalKind.SANDWICH).points
            for wording in range(6)
        ]
    )
    for system, spread in zip(("s00", "s03", "s05"), refits.std(axis=0, ddof=1)[[0, 3, 5]], strict=True):
        parts = found.parts[system]
        between = np.hypot(known(parts.wordings), known(parts.wordings_by_question))
        assert between == pytest.approx(float(spread), rel=0.06)


def test_a_sample_stands_for_the_whole_round() -> None:
    """Over several draws a tenth of the battles gives on average the parts that all of them give."""
    judge = Judge(by_wording=0.3, on_single=0.5)
    whole = rate_readings(readings_of(judge, questions=150, wordings=8, seed=3), ErrorKind.ALL, SANDWICH)
    random = np.random.default_rng([3, 0])
    wins = judge.read(random, judge.qualities(random, 150), wordings=8, repeats=2)
    table, wording, repeat = judge.table(wins)
    own = (np.array(wording) == "w0") & (np.array(repeat) == "0")
    squares: dict[str, list[float]] = {"wordings": [], "repeats": []}
    for seed in range(12):
        drawn = np.random.default_rng(seed).random(wins.shape[2:]) < 0.1
        rows = np.flatnonzero(own | np.broadcast_to(drawn, wins.shape).ravel())
        sample = Readings.from_table(
            table.select(rows),
            [wording[row] for row in rows.tolist()],
            [repeat[row] for row in rows.tolist()],
            own=own[rows],
        )
        found = rate_readings(sample, ErrorKind.ALL, SANDWICH)
        assert found.counts.reworded < found.counts.battles / 5
        assert any(f"of {found.counts.battles:,}" in note for note in found.notes)
        for name, drawn_squares in squares.items():
            drawn_squares.extend(known(getattr(part, name)) ** 2 for part in found.parts.values())
    for name, drawn_squares in squares.items():
        expected = np.mean([known(getattr(part, name)) ** 2 for part in whole.parts.values()])
        assert np.mean(drawn_squares) == pytest.approx(expected, rel=0.25)


def test_all_is_never_narrower_than_the_judge_alone() -> None:
    """What counts more is no surer, however few degrees of freedom the judge's part has."""
    for seed in range(6):
        readings = readings_of(wordings=2, questions=25, seed=seed)
        alone, everything = (rate_readings(readings, kind, SANDWICH).table for kind in WITH_JUDGE)
        for row in alone.ratings:
            other = everything.of(row.system)
            assert known(other.lower) <= known(row.lower) < known(row.upper) <= known(other.upper)
            assert other.rank_lower <= row.rank <= other.rank_upper


def test_an_anchor_has_no_error_and_lends_its_own() -> None:
    """The anchor's interval is its rating; the others' errors are of their distance from it."""
    anchored = replace(SANDWICH, anchor=Anchor(system="s02", rating=1200))
    found = rate_readings(readings_of(), ErrorKind.ALL, anchored)
    fixed = found.table.of("s02")
    assert (fixed.rating, fixed.lower, fixed.upper) == (1200, 1200, 1200)
    assert all(known(row.se) > 0 for row in found.table.ratings if row.system != "s02")


def test_a_system_that_no_retested_battle_links_has_no_interval() -> None:
    """Its error is not made up: null ends, a flag, and a note that names it."""
    judge = Judge(systems=4)
    random = np.random.default_rng(2)
    wins = judge.read(random, judge.qualities(random, 30), wordings=3, repeats=1)
    table, wording, repeat = judge.table(wins)
    own = np.array(wording) == "w0"
    outside = (table.a == 3) | (table.b == 3)
    rows = np.flatnonzero(own | ~outside)
    readings = Readings.from_table(
        table.select(rows),
        [wording[row] for row in rows.tolist()],
        [repeat[row] for row in rows.tolist()],
        own=own[rows],
    )
    found = rate_readings(readings, ErrorKind.ALL)
    row = found.table.of("s03")
    assert (row.lower, row.upper, row.flags) == (None, None, (Flag.NO_INTERVAL,))
    assert any("s03" in note for note in found.notes)
    assert known(found.table.of("s00").lower) < known(found.table.of("s00").upper)


def test_a_wording_of_few_battles_is_left_out_and_named() -> None:
    """Wordings are compared on the same battles; one that would leave too few is left out and said."""
    judge = Judge(systems=4)
    random = np.random.default_rng(2)
    wins = judge.read(random, judge.qualities(random, 30), wordings=4, repeats=1)
    table, wording, repeat = judge.table(wins)
    rows = np.flatnonzero((np.array(wording) != "w3") | (table.question < 5))
    found = rate_readings(
        Readings.from_table(
            table.select(rows),
            [wording[row] for row in rows.tolist()],
            [repeat[row] for row in rows.tolist()],
        ),
        ErrorKind.ALL,
    )
    assert found.counts.wordings == 3
    assert any("'w3'" in note for note in found.notes)
