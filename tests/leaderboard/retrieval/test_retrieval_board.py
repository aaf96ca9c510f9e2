"""Boards of rankings: means, intervals, letters and paired differences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from data.errors import NotFoundError
from data.stats import Floats
from leaderboard.retrieval.board import RetrievalTable
from leaderboard.retrieval.files import trec_eval_lines
from leaderboard.retrieval.measures import MEASURES

AP = next(measure for measure in MEASURES if measure.name == "AP")


def _table(rows: Sequence[Sequence[float] | Floats], domains: Sequence[str] | None = None) -> RetrievalTable:
    values = np.array(rows, dtype=np.float64)
    systems, questions = values.shape
    return RetrievalTable(
        systems=tuple("abcdef"[:systems]),
        questions=tuple(f"q{number}" for number in range(questions)),
        domains=tuple(domains or ["d"] * questions),
        measures=(AP,),
        values={"AP": values},
        missing=np.zeros(values.shape, dtype=np.bool_),
    )


def test_intervals_and_tests_are_those_of_scipy() -> None:
    """Means have t intervals over questions, pairs the paired t test."""
    draw = np.random.default_rng(7)
    first = draw.uniform(0.2, 0.6, 40)
    table = _table([first, np.clip(first + draw.normal(0.05, 0.1, 40), 0, 1)])
    (gap,) = (one for one in table.compared("ap", "b", "a") if one.domain == "overall")
    test = stats.ttest_rel(table.values["AP"][1], table.values["AP"][0])
    assert gap.p_value == pytest.approx(test.pvalue)
    assert gap.interval is not None
    bounds = test.confidence_interval()
    assert (gap.interval.lower, gap.interval.upper) == pytest.approx((bounds.low, bounds.high))
    line = next(line for line in table.lines("AP") if line.system == "a")
    expected = stats.t.interval(0.95, 39, loc=first.mean(), scale=stats.sem(first))
    assert line.interval is not None
    assert (line.interval.lower, line.interval.upper) == pytest.approx(expected)


def test_letters_are_shared_where_questions_do_not_separate() -> None:
    """A clear loser has a letter of its own, and the ranks of two alike overlap."""
    draw = np.random.default_rng(3)
    base = draw.uniform(0.4, 0.6, 30)
    table = _table([base - 0.35, base, base + draw.normal(0, 0.05, 30)])
    best, second, last = table.lines("AP")
    assert (best.letters, second.letters, last.letters) == ("A", "A", "B")
    assert (best.rank_lower, best.rank_upper, last.rank_lower, last.rank_upper) == (1, 2, 3, 3)


def test_questions_that_all_agree_separate_by_the_sign_test() -> None:
    """Where every question has the same difference a t test does not exist; one question says nothing."""
    assert [line.letters for line in _table([[1.0] * 8, [0.0] * 8]).lines("AP")] == ["A", "B"]
    assert [line.letters for line in _table([[1.0] * 2, [0.0] * 2]).lines("AP")] == ["A", "A"]
    assert [line.letters for line in _table([[1.0], [0.0]]).lines("AP")] == ["A", "A"]


def test_domains_have_boards_of_their_own_and_undefined_values_are_counted() -> None:
    """What does not exist is in no mean; a system without any value comes last, unseparated."""
    nan = float("nan")
    table = _table([[nan, nan, nan], [0.5, nan, 1.0]], ["x", "y", "x"])
    best, last = table.lines("AP")
    assert (best.system, best.mean, best.questions, best.undefined) == ("b", 0.75, 2, 1)
    assert (last.mean, last.interval, last.letters) == (None, None, best.letters)
    assert table.lines("AP", "y")[0].mean is None
    with pytest.raises(NotFoundError, match="overall, x, y"):
        table.lines("AP", "z")


def test_output_is_what_trec_eval_prints() -> None:
    """A line a question and measure in its columns, then the run, the questions and the means."""
    lines = list(trec_eval_lines(_table([[0.5, 1.0]]), "a"))
    assert lines[0] == "map                   \tq0\t0.5000"
    assert lines[-3:] == [
        "runid                 \tall\ta",
        "num_q                 \tall\t2",
        "map                   \tall\t0.7500",
    ]
