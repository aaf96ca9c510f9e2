"""What a place depends on: sets that are found, beside every set that there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from data.errors import InputError, NotFoundError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings import counts, rate
from leaderboard.ratings.vocabulary import Cluster, IntervalKind
from leaderboard.trust.robustness.fragility import Exchange, Status, fragility
from leaderboard.trust.sections import Unit
from leaderboard.trust.sentences import exchange_sentence, first_place_sentence

Row = tuple[str, str, str, str, str]
WORDS = ("model_a", "model_b", "tie")
TIES = 0.15
NEWTON_STEPS = 60
LARGEST_STEP = 2.0
EQUAL = 1e-8


def table_of(rows: Sequence[Row]) -> BattleTable:
    """Rows of question, domain, both systems and winner."""
    return BattleTable.from_columns(*[list(column) for column in zip(*rows, strict=True)])


def random_rows(seed: int, systems: int, questions: int, *, met: float = 0.7) -> list[Row]:
    """Battles of most pairs on each question, better systems winning more often."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 0.7, systems)
    rows: list[Row] = []
    for question in range(questions):
        for a, b in combinations(range(systems), 2):
            if rng.random() > met:
                continue
            chance, drawn = 1 / (1 + np.exp(strength[b] - strength[a])), rng.random()
            winner = "tie" if drawn < TIES else WORDS[int(drawn > TIES + (1 - TIES) * chance)]
            rows.append((f"q{question:02d}", "d", f"s{a}", f"s{b}", winner))
    return rows


def points_of(table: BattleTable) -> dict[str, float | None]:
    """Ratings by the one way to rate battles."""
    rated = rate(table, interval=IntervalKind.SANDWICH, cluster=Cluster.NONE)
    return {rating.system: rating.rating for rating in rated.ratings}


def left_by(table: BattleTable, exchange: Exchange) -> BattleTable:
    """The battles that are not left out."""
    if exchange.unit is Unit.QUESTIONS:
        codes = [table.questions.index(name) for name in exchange.questions]
        return table.select(~np.isin(table.question, codes))
    out = Counter(
        (battle.question_id, battle.model_a, battle.model_b, battle.winner) for battle in exchange.battles
    )
    kept = []
    for row in range(len(table)):
        named = (
            table.questions[table.question[row]],
            table.systems[table.a[row]],
            table.systems[table.b[row]],
            WORDS[int(table.winner[row])],
        )
        kept.append(out[named] == 0)
        out[named] -= not kept[-1]
    assert not any(out.values())
    return table.select(np.array(kept))


@dataclass(frozen=True)
class EverySet:
    """Every set of questions of a size, by a second fit that shares nothing with the first.

    `wins` (questions, systems, systems) are shares of the win of the row's system against the column's.
    """

    wins: NDArray[np.float64]
    first: int
    second: int

    @classmethod
    def of(cls, table: BattleTable, first: str, second: str) -> EverySet:
        """Of some battles and two of their systems."""
        size = len(table.systems)
        wins = np.zeros((len(table.questions), size, size))
        np.add.at(wins, (table.question, table.a, table.b), table.share)
        np.add.at(wins, (table.question, table.b, table.a), 1 - table.share)
        return cls(wins, table.systems.index(first), table.systems.index(second))

    def smallest(self, most: int) -> int | None:
        """The size of the smallest set whose removal exchanges the two; None up to `most`."""
        return next((size for size in range(1, most + 1) if self.any_exchanges(size)), None)

    def any_exchanges(self, size: int) -> bool:
        """Whether some set of this size does."""
        sets = np.array(list(combinations(range(len(self.wins)), size)))
        out = np.zeros((len(sets), len(self.wins)))
        np.put_along_axis(out, sets, 1.0, axis=1)
        left = self.wins.sum(axis=0) - np.einsum("bq,qij->bij", out, self.wins)
        return bool((self._gaps(np.where(left < EQUAL, 0.0, left)) < -EQUAL).any())

    def _gaps(self, wins: NDArray[np.float64]) -> NDArray[np.float64]:
        """(B,) differences of the two log-odds ratings; NaN where the battles do not compare the two."""
        systems = wins.shape[1]
        reach = (wins > 0) | np.eye(systems, dtype=bool)
        for _ in range(systems):
            reach = np.einsum("bij,bjk->bik", reach.astype(int), reach.astype(int)) > 0
        group = reach[:, self.first, :] & reach[:, :, self.first]
        wins = wins * (group[:, :, None] & group[:, None, :])
        battles = wins + wins.transpose(0, 2, 1)
        theta = np.zeros(wins.shape[:2])
        for _ in range(NEWTON_STEPS):
            share = 1 / (1 + np.exp(theta[:, None, :] - theta[:, :, None]))
            slope = wins.sum(axis=2) - (battles * share).sum(axis=2)
            bent = battles * share * (1 - share)
            matrix = np.eye(systems) * (bent.sum(axis=2) + ~group)[:, :, None] - bent + 1 / systems
            step = np.linalg.solve(matrix, slope[:, :, None])[:, :, 0]
            largest = np.abs(step).max(axis=1, keepdims=True)
            theta += step * np.minimum(1.0, LARGEST_STEP / np.maximum(largest, EQUAL))
        assert np.abs(slope).max() < EQUAL
        return np.where(group[:, self.second], theta[:, self.first] - theta[:, self.second], np.nan)


def compared(cases: int, *, first_seed: int) -> Iterator[tuple[int | None, int | None]]:
    """Sizes found, and the smallest there are, of random small tables; None for none within half."""
    seed, left = first_seed, cases
    while left:
        rng = np.random.default_rng(seed)
        table = table_of(random_rows(seed, int(rng.integers(3, 5)), int(rng.integers(8, 15))))
        seed += 1
        exchanges = [one for one in fragility(table).exchanges if one.status is not Status.TIED]
        if not exchanges:
            continue
        chosen = exchanges[int(rng.integers(len(exchanges)))]
        every = EverySet.of(table, chosen.first, chosen.second)
        yield chosen.size, every.smallest(chosen.of // 2)
        left -= 1


def hold_the_promise(sizes: Sequence[tuple[int | None, int | None]]) -> None:
    """Equal to brute force in nine of ten cases, never more than one larger, never smaller."""
    assert sum(found == smallest for found, smallest in sizes) >= 0.9 * len(sizes)
    for found, smallest in sizes:
        assert (found is None) == (smallest is None)
        assert found is None or smallest is None or smallest <= found <= smallest + 1


def test_sets_are_as_small_as_any_in_small_cases() -> None:
    """The fewest questions are those that trying every set finds."""
    hold_the_promise(list(compared(15, first_seed=10_000)))


@pytest.mark.slow
def test_sets_are_as_small_as_any_in_500_cases() -> None:
    """The promise of the documentation, over 500 random small tables."""
    hold_the_promise(list(compared(500, first_seed=0)))


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), unit=st.sampled_from(Unit))
def test_without_a_set_that_is_found_the_two_are_exchanged(seed: int, unit: Unit) -> None:
    """Rating the battles that are left puts the second before the first, by as much as is said."""
    table = table_of(random_rows(seed, 5, 30, met=0.5))
    before = points_of(table)
    for exchange in fragility(table, unit=unit).exchanges:
        first, second = before[exchange.first], before[exchange.second]
        assert first is not None
        assert second is not None
        assert exchange.points == pytest.approx(first - second, abs=1e-6)
        if exchange.status is not Status.FOUND:
            assert exchange.points_without is None
            continue
        after = points_of(left_by(table, exchange))
        first, second = after[exchange.first], after[exchange.second]
        assert first is not None
        assert second is not None
        assert first < second
        assert exchange.points_without == pytest.approx(first - second, abs=1e-6)


@pytest.mark.parametrize("met", [0.6, 1.0])
@pytest.mark.parametrize("unit", Unit)
def test_a_large_round_rests_on_the_same_sets(
    monkeypatch: pytest.MonkeyPatch, unit: Unit, met: float
) -> None:
    """How the verdicts of a question are held changes neither the sets nor what becomes of the ratings."""
    rows = list({row[:4]: row for row in random_rows(3, 5, 40, met=met)}.values())
    few = fragility(table_of(rows), unit=unit)
    monkeypatch.setattr(counts, "LARGE", 0)
    assert fragility(table_of(rows), unit=unit) == few


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_neither_names_nor_sides_nor_order_change_a_set(seed: int) -> None:
    """With systems renamed, sides swapped and rows shuffled the sizes are the same."""
    rows = random_rows(seed, 4, 24)
    turned = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}
    names = {f"s{number}": f"t{9 - number}" for number in range(4)}
    other = [(question, domain, names[b], names[a], turned[w]) for question, domain, a, b, w in rows]
    np.random.default_rng(seed).shuffle(other)
    sizes = []
    for table in (table_of(rows), table_of(other)):
        found = fragility(table).exchanges
        if any(one.status is Status.TIED for one in found):
            return
        both = [(names.get(one.first, one.first), names.get(one.second, one.second)) for one in found]
        sizes.append([(pair, one.size) for pair, one in zip(both, found, strict=True)])
    assert sizes[0] == sizes[1]


SPLIT = [
    *[(f"q{n}", "d", "a", "b", "model_a") for n in range(6)],
    *[(f"q{n}", "d", "a", "b", "model_b") for n in range(6, 10)],
]


def test_two_systems_are_exchanged_by_what_makes_the_difference() -> None:
    """Six wins against four: without three of them the other one leads, by questions and by battles alike."""
    for unit in Unit:
        (exchange,) = fragility(table_of(SPLIT), unit=unit).exchanges
        assert (exchange.first, exchange.second, exchange.size, exchange.of) == ("a", "b", 3, 10)
        assert set(exchange.questions) <= {f"q{n}" for n in range(6)}
    assert {battle.winner for battle in exchange.battles} == {"model_a"}


def test_equal_ratings_need_nothing_left_out() -> None:
    """Five wins each: the two are tied, and the set is empty."""
    (exchange,) = fragility(table_of([*SPLIT[1:], ("q0", "d", "b", "a", "model_a")])).exchanges
    assert exchange.status is Status.TIED
    assert (exchange.size, exchange.points) == (0, 0.0)
    assert exchange_sentence(exchange.as_json(), "questions") == "a and b have the same rating."


def test_a_clear_lead_is_not_exchanged_within_half() -> None:
    """Nine wins of ten: no half of the questions holds what it takes, and that is said."""
    rows = [(f"q{n}", "d", "a", "b", "model_b" if n == 0 else "model_a") for n in range(10)]
    (exchange,) = fragility(table_of(rows)).exchanges
    assert exchange.status is Status.NOT_FOUND
    assert exchange.size is None
    said = exchange_sentence(exchange.as_json(), "questions")
    assert said == "No set of up to half of the 10 questions was found whose removal would put b ahead of a."


def test_systems_without_a_rating_have_no_neighbours() -> None:
    """Who never loses has no rating that could fall; it is named, and asking for it says why not."""
    rows = [*SPLIT, *[(f"q{n}", "d", "best", "a", "model_a") for n in range(5)]]
    table = table_of(rows)
    rests = fragility(table)
    assert rests.unrated == ("best",)
    assert [(one.first, one.second) for one in rests.exchanges] == [("a", "b")]
    with pytest.raises(UnrankableError, match="do not compare best with a"):
        fragility(table, pair=("best", "a"))
    with pytest.raises(NotFoundError, match="names 'nobody'"):
        fragility(table, pair=("a", "nobody"))
    with pytest.raises(InputError, match="named twice"):
        fragility(table, pair=("a", "a"))


def test_groups_apart_have_neighbours_of_their_own() -> None:
    """Systems that no battle links are never neighbours; each group has its own questions."""
    rows = [*SPLIT, *[(f"p{n}", "d", "x", "y", WORDS[n % 3 == 0]) for n in range(9)]]
    pairs = [(one.first, one.second, one.of) for one in fragility(table_of(rows)).exchanges]
    assert pairs == [("a", "b", 10), ("x", "y", 9)]


def test_first_place_is_no_matter_of_the_reference() -> None:
    """The reference may stand first; who leads is asked among the others."""
    rows = [
        (f"q{n}", "d", one, "human", WORDS[int(n not in won)])
        for one, won in (("a", range(9)), ("b", range(13, 20)))
        for n in range(20)
    ]
    rests = fragility(table_of(rows), reference="human")
    assert rests.exchanges[0].first == "human"
    assert rests.first_place is not None
    assert (rests.first_place.first, rests.first_place.second) == ("a", "b")
    said = first_place_sentence(rests.as_json())
    assert said == "3 questions of 20 decide first place: without them b would stand before a."


def test_soft_verdicts_and_weights_count_as_they_are_rated() -> None:
    """With shares of the win and counts of rows the refit agrees with the ratings of what is left."""
    rng = np.random.default_rng(3)
    rows = random_rows(3, 4, 40)
    question, domain, a, b, winner = (list(column) for column in zip(*rows, strict=True))
    score, weight = rng.random(len(rows)).tolist(), rng.integers(1, 4, len(rows)).tolist()
    soft = BattleTable.from_columns(question, domain, a, b, ["tie"] * len(winner), score, weight)
    found = [one for one in fragility(soft).exchanges if one.status is Status.FOUND]
    assert found
    for exchange in found:
        after = points_of(left_by(soft, exchange))
        first, second = after[exchange.first], after[exchange.second]
        assert first is not None
        assert second is not None
        assert exchange.points_without == pytest.approx(first - second, abs=1e-6)
    with pytest.raises(InputError, match="count for several"):
        fragility(soft, unit=Unit.BATTLES)


def test_long_sets_are_cut_in_a_snapshot_and_counted() -> None:
    """A board names the first few questions of a set and says how many there are beside them."""
    (exchange,) = fragility(table_of(SPLIT)).exchanges
    fields = exchange.as_json(2)
    assert fields["size"] == 3
    assert fields["questions"] == list(exchange.questions[:2])
    assert fields["unnamed"] == 1
