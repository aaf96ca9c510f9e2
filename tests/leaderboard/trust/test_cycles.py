"""How often a judge makes cycles: counted, and beside what counting one after another gives."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.errors import UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings import IntervalKind, Settings, counts, rate, rate_beside_star
from leaderboard.trust.robustness.cycles import Cycles, count_cycles
from leaderboard.trust.robustness.star import star_ranking
from leaderboard.trust.sentences import cycles_sentence, star_sentence

GOLDEN = Path(__file__).parents[2] / "golden" / "cycles.json"
Row = tuple[str, str, str, str, str]
WORDS = ("model_a", "model_b", "tie")
COVERAGE_DRAWS = 200


def table_of(rows: list[Row]) -> BattleTable:
    """Rows of question, domain, both systems and winner."""
    return BattleTable.from_columns(*[list(column) for column in zip(*rows, strict=True)])


def random_rows(seed: int, systems: int, questions: int, *, met: float = 0.8, ties: float = 0.2) -> list[Row]:
    """Verdicts by coins, on most pairs of each question; some pairs are judged in both orders."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for question in range(questions):
        for a, b in combinations(range(systems), 2):
            for _ in range(int(rng.integers(1, 3)) if rng.random() < met else 0):
                winner = "tie" if rng.random() < ties else WORDS[int(rng.integers(2))]
                rows.append((f"q{question:02d}", "d", f"s{a}", f"s{b}", winner))
    return rows


def counted_one_by_one(rows: list[Row]) -> tuple[int, ...]:
    """Triples, strict ones, cycles, those with one tie, weak cycles of them, and those with two ties."""
    margins: dict[tuple[str, str, str], float] = {}
    for question, _, a, b, winner in rows:
        worth = {"model_a": 1.0, "model_b": -1.0, "tie": 0.0}[winner]
        for one, other, value in ((a, b, worth), (b, a, -worth)):
            margins[question, one, other] = margins.get((question, one, other), 0.0) + value
    names = sorted({name for row in rows for name in row[2:4]})
    counts = [0] * 6
    for question in {row[0] for row in rows}:
        for x, y, z in combinations(names, 3):
            ways = [(question, x, y), (question, y, z), (question, z, x)]
            if not all(way in margins for way in ways):
                continue
            signs = [int(np.sign(margins[way])) for way in ways]
            ties, turn = signs.count(0), abs(sum(signs))
            counts[0] += 1
            counts[1] += ties == 0
            counts[2] += ties == 0 and turn == 3
            counts[3] += ties == 1
            counts[4] += ties == 1 and turn == 2
            counts[5] += ties == 2
    return tuple(counts)


def counts_of(cycles: Cycles) -> tuple[int, ...]:
    """The same of a count."""
    return (
        cycles.triples,
        cycles.strict,
        cycles.cycles,
        cycles.one_tie,
        cycles.one_tie_cycles,
        cycles.two_ties,
    )


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), systems=st.integers(3, 7), met=st.sampled_from([0.4, 0.8, 1.0]))
def test_counts_are_those_of_going_through_every_triple(seed: int, systems: int, met: float) -> None:
    """Ties, pairs that were not judged and several battles of a pair: each triple counts once."""
    rows = [*random_rows(seed, systems, 12, met=met), *LOOP]
    assert counts_of(count_cycles(table_of(rows))) == counted_one_by_one(rows)


@pytest.mark.parametrize("met", [0.6, 1.0])
def test_a_large_round_counts_what_was_judged_alone(monkeypatch: pytest.MonkeyPatch, met: float) -> None:
    """Pairs of which a question has no verdict make no triples, however the verdicts are held."""
    rows = list({row[:4]: row for row in random_rows(1, 6, 12, met=met)}.values())
    few = count_cycles(table_of(rows))
    monkeypatch.setattr(counts, "LARGE", 0)
    many = count_cycles(table_of(rows))
    assert counts_of(many) == counted_one_by_one(rows)
    assert many == few


LOOP: list[Row] = [
    ("loop", "d", "s0", "s1", "model_a"),
    ("loop", "d", "s1", "s2", "model_a"),
    ("loop", "d", "s0", "s2", "model_b"),
]


def test_one_cycle_is_found_named_and_linked_to_its_question() -> None:
    """A over B, B over C, C over A: one cycle of one triple, with its question and in its order."""
    cycles = count_cycles(table_of(LOOP))
    assert counts_of(cycles) == (1, 1, 1, 0, 0, 0)
    (question,) = cycles.worst_questions
    assert (question.question, question.cycles, question.consistence) == ("loop", 1, 0.0)
    (triple,) = cycles.worst_triples
    assert triple.systems == ("s0", "s1", "s2")
    assert (triple.cycles, triple.same_way, triple.strict) == (1, 1, 1)
    (total,) = cycles.over_questions.listed
    assert total.systems == ("s0", "s1", "s2")
    assert total.shares == (1.0, 1.0, 1.0)
    assert total.draws == 1.0


def test_a_judge_with_one_order_never_goes_in_a_cycle() -> None:
    """Where the better name always wins the share is 0, with an interval, and consistence is 1."""
    rows = [(f"q{n}", "d", a, b, "model_a") for n in range(20) for a, b in combinations("vwxyz", 2)]
    cycles = count_cycles(table_of(rows))
    assert cycles.share.share == 0.0
    assert cycles.share.interval is not None
    assert cycles.share.interval.lower == 0.0
    assert 0 < cycles.share.interval.upper < 0.25
    assert cycles.consistence.mean == 1.0
    assert not cycles.worst_questions
    assert not cycles.worst_triples


def test_coins_go_in_cycles_as_often_as_is_said() -> None:
    """Fair coins without ties: the share's interval holds one quarter, and consistence is that of coins."""
    single = {(row[0], row[2], row[3]): row for row in random_rows(5, 6, 150, met=1.0, ties=0.0)}
    coins = count_cycles(table_of(list(single.values())))
    assert coins.share.interval is not None
    assert 0.25 in coins.share.interval
    assert coins.consistence.interval is not None
    assert coins.consistence.coin_flips is not None
    assert coins.consistence.coin_flips in coins.consistence.interval


@pytest.mark.slow
def test_intervals_of_cycles_cover_the_share_of_coins() -> None:
    """Of 200 judges that flip coins, the 95 % intervals of 93 to 98 in a hundred hold one quarter."""
    held = 0
    for seed in range(COVERAGE_DRAWS):
        single = {(row[0], row[2], row[3]): row for row in random_rows(seed, 5, 60, met=0.9, ties=0.0)}
        interval = count_cycles(table_of(list(single.values()))).share.interval
        assert interval is not None
        held += 0.25 in interval
    assert 0.92 <= held / COVERAGE_DRAWS <= 0.985


def test_ties_fall_either_way_in_the_coefficient() -> None:
    """With one tie that could close a cycle, half a circular triad is expected: ζ is ½ of three systems."""
    rows: list[Row] = [*LOOP[:2], ("loop", "d", "s0", "s2", "tie")]
    cycles = count_cycles(table_of(rows))
    assert counts_of(cycles) == (1, 0, 0, 1, 1, 0)
    assert cycles.consistence.mean == 0.5
    assert cycles.share.share is None
    assert cycles_sentence(cycles.as_json()).startswith("All 1 triples")


def test_battles_against_the_reference_alone_have_no_cycles() -> None:
    """A star has no triple, and counting says so instead of giving 0."""
    rows = [(f"q{n}", "d", name, "human", WORDS[n % 2]) for n in range(6) for name in "ab"]
    with pytest.raises(UnrankableError, match="no cycles"):
        count_cycles(table_of(rows))


def rounded(fields: object) -> object:
    """JSON with its keys in their order, and numbers to nine digits."""
    return json.dumps(json.loads(json.dumps(fields), parse_float=lambda text: round(float(text), 9)))


def test_counts_are_the_golden_ones() -> None:
    """The JSON of a fixed table, key by key, stays as it was published."""
    found = count_cycles(table_of([*random_rows(11, 5, 25), *LOOP]), seed=4).as_json()
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert rounded(found) == rounded(golden)


def test_the_star_says_who_stands_elsewhere() -> None:
    """Places by the battles against the reference alone, beside those by all battles."""
    rows: list[Row] = []
    for n in range(30):
        rows.append((f"q{n}", "d", "a", "human", WORDS[int(n >= 12)]))
        rows.append((f"q{n}", "d", "b", "human", WORDS[int(n >= 10)]))
        rows.append((f"q{n}", "d", "b", "a", WORDS[int(n >= 27)]))
    settings_ = Settings(interval=IntervalKind.SANDWICH, bootstrap=None)
    both = rate_beside_star(table_of(rows), "human", settings_)
    star = star_ranking(both.mixed.ratings, both.star.ratings, "human").as_json()
    rows_of = star_ranking(both.mixed.ratings, both.star.ratings, "human").places
    places = {place.system: (place.place, place.star_place) for place in rows_of}
    assert places == {"human": (1, 1), "b": (2, 3), "a": (3, 2)}
    assert star["moved"] == ["b", "a"]
    assert star_sentence(star) == (
        "2 of 2 systems have other places by the battles against human alone: "
        "b place 2 instead of 1, a place 1 instead of 2."
    )
    alone = rate(table_of([row for row in rows if row[3] == "human"]), interval=IntervalKind.SANDWICH)
    same = star_ranking(both.star.ratings, alone.ratings, "human").as_json()
    assert star_sentence(same) == "The order is the same by the battles against human alone."
