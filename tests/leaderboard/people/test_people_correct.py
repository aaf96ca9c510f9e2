"""Ratings as people would give them, against a slow reference and what must hold of them."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from data.errors import InputError, NotFoundError, RecordError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.people import CorrectedTable, VoteRule, Votes, correct
from leaderboard.ratings import Anchor, Flag, IntervalKind, rate

POINTS = 400 / math.log(10)
QUICK = settings(max_examples=15, deadline=None)

Verdict = tuple[str, str, str, float]


@dataclass(frozen=True, slots=True)
class Vote:
    """One vote of a person."""

    question: str
    first: str
    second: str
    share: float
    chance: float


def plan_of(verdicts: list[Verdict]) -> BattleTable:
    """The judge's verdicts as a table."""
    return BattleTable.from_columns(
        question_id=[row[0] for row in verdicts],
        domain=["all"] * len(verdicts),
        model_a=[row[1] for row in verdicts],
        model_b=[row[2] for row in verdicts],
        winner=["tie"] * len(verdicts),
        score=[row[3] for row in verdicts],
    )


def votes_of(votes: list[Vote], *, chances: bool = True) -> Votes:
    """People's votes as columns."""
    return Votes.from_columns(
        [vote.question for vote in votes],
        [vote.first for vote in votes],
        [vote.second for vote in votes],
        score=[vote.share for vote in votes],
        sampling_prob=[vote.chance for vote in votes] if chances else None,
    )


@st.composite
def rounds(draw: st.DrawFn, share: float = 0.5, most: int = 2) -> tuple[list[Verdict], list[Vote]]:
    """A judge's round of 3–4 systems, and 1–2 votes on each drawn battle with two chances."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    systems = ["zeta", "alpha", "mid", "beta"][: draw(st.integers(3, 4))]
    verdicts, votes = [], []
    for number in range(draw(st.integers(20, 30))):
        for first, second in combinations(systems, 2):
            lean = 0.5 + 0.1 * (systems.index(second) - systems.index(first))
            verdicts.append((f"q{number}", first, second, float(random.random() < lean)))
            chance = share * (0.7 if number % 2 else 1.0)
            if random.random() < chance:
                for _ in range(random.integers(1, most + 1)):
                    value = float(random.choice([0.0, 0.5, 1.0]))
                    votes.append(Vote(f"q{number}", second, first, value, chance))
    return verdicts, votes


Battle = tuple[str, str, str]
Weights = dict[Battle, float]


def heard(votes: list[Vote]) -> tuple[Weights, Weights]:
    """Mean vote share for the first system by name, and inverse chance, of each labelled battle."""
    shares: dict[Battle, list[float]] = defaultdict(list)
    weight: Weights = defaultdict(float)
    for vote in votes:
        low, high = sorted((vote.first, vote.second))
        shares[vote.question, low, high].append(vote.share if vote.first == low else 1 - vote.share)
        weight[vote.question, low, high] = 1 / vote.chance
    return {battle: sum(several) / len(several) for battle, several in shares.items()}, weight


def expected(theta: dict[str, float], battle: Battle) -> float:
    """Share of the win that ratings give a battle's first system."""
    return 1 / (1 + math.exp(theta[battle[2]] - theta[battle[1]]))


def solved(systems: list[str], target: Weights, totals: Weights, ridge: float) -> dict[str, float]:
    """Log-odds ratings by a general minimiser."""

    def loss(values: np.ndarray) -> float:
        theta = dict(zip(systems, values, strict=True))
        found = ridge / 2 * float(values @ values)
        for battle, total in totals.items():
            gap = theta[battle[1]] - theta[battle[2]]
            found -= target[battle] * gap - total * float(np.logaddexp(0, gap))
        return found

    best = minimize(loss, np.zeros(len(systems)), method="BFGS", options={"gtol": 1e-9})
    return dict(zip(systems, best.x - (0 if ridge else best.x.mean()), strict=True))


def reference_corrected(verdicts: list[Verdict], votes: list[Vote]) -> tuple[dict[str, float], float]:
    """Corrected ratings and the judge's weight, battle by battle in dictionaries: slow and plain."""
    systems = sorted({name for row in verdicts for name in row[1:3]})
    judge = {(q, a, b) if a < b else (q, b, a): x if a < b else 1 - x for q, a, b, x in verdicts}
    people, weight = heard(votes)
    of_judge = solved(systems, judge, dict.fromkeys(judge, 1.0), 0.05)
    voted = {battle: weight[battle] * share for battle, share in people.items()}
    alone = solved(systems, voted, {battle: weight[battle] for battle in people}, 0)
    ends = {
        battle: np.array([(name == battle[1]) - (name == battle[2]) for name in systems], dtype=float)
        for battle in judge
    }
    beyond = {battle: x - expected(of_judge, battle) for battle, x in judge.items()}
    information, judged, turned = (np.zeros((len(systems), len(systems))) for _ in range(3))
    for battle, end in ends.items():
        p, q = expected(of_judge, battle), expected(alone, battle)
        judged += p * (1 - p) * np.outer(end, end)
        turned += (weight[battle] - 1) * p * (1 - p) * np.outer(end, end)
        information += weight[battle] * q * (1 - q) * np.outer(end, end)
    inverse = np.linalg.pinv(information)
    turned = turned @ np.linalg.inv(judged + 0.05 * np.eye(len(systems)))
    parts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros((2, len(systems))))
    for battle, end in ends.items():
        gap = people[battle] - expected(alone, battle) if battle in people else 0.0
        parts[battle[0]][0] += inverse @ (weight[battle] * gap * end)
        parts[battle[0]][1] += inverse @ (
            (weight[battle] - 1) * beyond[battle] * end - turned @ (beyond[battle] * end)
        )
    square = sum(float(part[1] @ part[1]) for part in parts.values())
    tuned = max(sum(float(part[0] @ part[1]) for part in parts.values()) / square, 0.0)
    target = {
        battle: weight[battle] * people.get(battle, 0.0) - tuned * (weight[battle] - 1) * beyond[battle]
        for battle in judge
    }
    theta = solved(systems, target, {battle: weight[battle] for battle in judge}, 0)
    return {name: 1000 + POINTS * value for name, value in theta.items()}, tuned


def shown(table: CorrectedTable) -> dict[str, tuple[float | None, ...]]:
    """Each system's numbers."""
    return {
        row.system: (
            row.corrected.value,
            row.corrected.lower,
            row.corrected.upper,
            row.people.value,
            row.people.lower,
            row.judge.value,
            row.rank_lower,
            row.rank_upper,
        )
        for row in table.ratings
    }


def agree(one: CorrectedTable, other: CorrectedTable) -> None:
    """Two tables have the same numbers."""
    left, right = shown(one), shown(other)
    assert left.keys() == right.keys()
    for system, numbers in left.items():
        assert numbers == pytest.approx(right[system], abs=1e-6)


@pytest.mark.long
@QUICK
@given(rounds())
def test_ratings_are_those_of_the_plain_reference(given_round: tuple[list[Verdict], list[Vote]]) -> None:
    """Corrected ratings and the judge's weight are those of a second, slow implementation."""
    verdicts, votes = given_round
    table = correct(plan_of(verdicts), votes_of(votes))
    ratings, weight = reference_corrected(verdicts, votes)
    assert table.judge_weight == pytest.approx(weight, abs=1e-3)
    for row in table.ratings:
        assert row.corrected.value == pytest.approx(ratings[row.system], abs=0.1)


@QUICK
@given(rounds(share=1.0), st.sampled_from(list(IntervalKind)))
def test_votes_on_every_battle_leave_nothing_to_correct(
    given_round: tuple[list[Verdict], list[Vote]], kind: IntervalKind
) -> None:
    """Where people voted on every battle with chance 1, the corrected ratings are theirs."""
    verdicts, votes = given_round
    every = [
        Vote(row[0], row[1], row[2], float(number % 3) / 2, 1.0) for number, row in enumerate(verdicts)
    ] + [Vote(vote.question, vote.first, vote.second, vote.share, 1.0) for vote in votes]
    table = correct(plan_of(verdicts), votes_of(every), interval=kind, bootstrap=20)
    assert table.evidence.labelled_battles == len(verdicts)
    assert table.evidence.gain == pytest.approx(1.0)
    for row in table.ratings:
        assert row.corrected.value == pytest.approx(row.people.value, abs=1e-6)
        assert row.corrected.width == pytest.approx(row.people.width, abs=1e-6)


@QUICK
@given(rounds(share=0.5, most=1))
def test_people_s_ratings_are_those_of_rating_their_votes(
    given_round: tuple[list[Verdict], list[Vote]],
) -> None:
    """Votes alone give what `rate` gives of the votes weighted by their inverse chances."""
    verdicts, votes = given_round
    table = correct(plan_of(verdicts), votes_of(votes))
    plain = rate(
        BattleTable.from_columns(
            [vote.question for vote in votes],
            ["all"] * len(votes),
            [vote.first for vote in votes],
            [vote.second for vote in votes],
            ["tie"] * len(votes),
            [vote.share for vote in votes],
            [1 / vote.chance for vote in votes],
        ),
        interval=IntervalKind.SANDWICH,
    )
    for row in table.ratings:
        assert row.people.value == pytest.approx(plain.of(row.system).rating, abs=1e-6)


def agreeing(noise: float) -> tuple[list[Verdict], list[Vote]]:
    """300 questions of four systems, a fifth voted on; the judge says what people say, or a coin does."""
    random = np.random.default_rng(3)
    verdicts, votes = [], []
    for number in range(300):
        for first, second in combinations("abcd", 2):
            share = float(random.random() < 0.6)
            verdict = float(random.random() < 0.5) if random.random() < noise else share
            verdicts.append((f"q{number}", first, second, verdict))
            if random.random() < 0.2:
                votes.append(Vote(f"q{number}", first, second, share, 0.2))
    return verdicts, votes


@pytest.mark.parametrize("kind", list(IntervalKind))
def test_a_judge_equal_to_people_narrows_the_intervals(kind: IntervalKind) -> None:
    """With a judge that says what people say, a fifth of labels gives intervals half as wide."""
    verdicts, votes = agreeing(0.0)
    table = correct(plan_of(verdicts), votes_of(votes), interval=kind, bootstrap=300)
    assert table.evidence.correlation == pytest.approx(1.0)
    assert table.evidence.gain is not None
    assert table.evidence.gain > 3
    assert "worth having" in table.advice
    for row in table.ratings:
        assert row.corrected.width is not None
        assert row.people.width is not None
        assert row.corrected.width < 0.6 * row.people.width


def test_a_judge_that_throws_coins_is_called_useless() -> None:
    """With verdicts that have nothing to do with votes the advice is to leave the judge."""
    verdicts, votes = agreeing(1.0)
    table = correct(plan_of(verdicts), votes_of(votes))
    assert table.judge_weight < 0.1
    assert table.evidence.gain == pytest.approx(1.0, abs=0.03)
    assert "adds nothing" in table.advice


@QUICK
@given(rounds(), st.randoms(use_true_random=False))
def test_rows_and_sides_may_stand_in_any_order(
    given_round: tuple[list[Verdict], list[Vote]], random: Random
) -> None:
    """Shuffled rows and swapped sides, in verdicts and votes alike, change no number."""
    verdicts, votes = given_round
    swapped = [
        (q, b, a, 1 - x) if number % 2 else (q, a, b, x) for number, (q, a, b, x) in enumerate(verdicts)
    ]
    turned = [
        Vote(vote.question, vote.second, vote.first, 1 - vote.share, vote.chance) if number % 3 else vote
        for number, vote in enumerate(votes)
    ]
    random.shuffle(swapped)
    random.shuffle(turned)
    agree(
        correct(plan_of(verdicts), votes_of(votes), seed=4),
        correct(plan_of(swapped), votes_of(turned), seed=4),
    )


def test_renaming_systems_renames_the_ratings() -> None:
    """Mirrored names (a for d, b for c) give the same ratings under the other names."""
    verdicts, votes = agreeing(0.5)
    other = dict(zip("abcd", "dcba", strict=True))
    mirrored = correct(
        plan_of([(q, other[a], other[b], x) for q, a, b, x in verdicts]),
        votes_of([Vote(v.question, other[v.first], other[v.second], v.share, v.chance) for v in votes]),
    )
    table = correct(plan_of(verdicts), votes_of(votes))
    for row in table.ratings:
        assert mirrored.of(other[row.system]).corrected.value == pytest.approx(row.corrected.value)
        assert mirrored.of(other[row.system]).corrected.upper == pytest.approx(row.corrected.upper)


def test_bootstrap_and_sandwich_agree() -> None:
    """Both kinds of interval are about as wide, around the same rating; the same seed gives the same."""
    verdicts, votes = agreeing(0.4)
    plan, labels = plan_of(verdicts), votes_of(votes)
    sandwich = correct(plan, labels)
    bootstrap = correct(plan, labels, interval=IntervalKind.BOOTSTRAP, bootstrap=600, seed=5)
    again = correct(plan, labels, interval=IntervalKind.BOOTSTRAP, bootstrap=600, seed=5)
    assert bootstrap.as_json() == again.as_json()
    for row in sandwich.ratings:
        other = bootstrap.of(row.system)
        assert other.corrected.value == row.corrected.value
        for one, two in ((row.corrected, other.corrected), (row.people, other.people)):
            assert one.width == pytest.approx(two.width, rel=0.15)


def test_the_anchor_stands_where_it_is_put() -> None:
    """An anchor's corrected rating is the given one, without width, and the others keep their distances."""
    verdicts, votes = agreeing(0.4)
    free = correct(plan_of(verdicts), votes_of(votes))
    held = correct(plan_of(verdicts), votes_of(votes), anchor=Anchor(system="b", rating=1200))
    anchor = held.of("b").corrected
    assert (anchor.value, anchor.lower, anchor.upper) == pytest.approx((1200, 1200, 1200))
    for row in free.ratings:
        gap = (row.corrected.value or 0) - (free.of("b").corrected.value or 0)
        assert (held.of(row.system).corrected.value or 0) - 1200 == pytest.approx(gap)


def test_a_majority_counts_a_battle_once() -> None:
    """Two votes against one give the whole battle; without a majority it is tied."""
    verdicts = [(f"q{number}", "a", "b", 1.0) for number in range(4)]
    cast: dict[str, list[float]] = {"q0": [1, 1, 0], "q1": [0, 0, 1], "q2": [1, 0.5, 0], "q3": [1, 1, 0]}
    votes = [Vote(q, "a", "b", float(share), 1.0) for q, shares in cast.items() for share in shares]
    majority = correct(plan_of(verdicts), votes_of(votes), rule=VoteRule.MAJORITY).of("a").people.value
    mean = correct(plan_of(verdicts), votes_of(votes)).of("a").people.value

    def expects(share: float) -> float:
        gap = brentq(lambda value: 1 / (1 + math.exp(-value)) - share, -5, 5)
        return 1000 + POINTS * float(gap) / 2

    assert majority == pytest.approx(expects(2.5 / 4))
    assert mean == pytest.approx(expects((2 / 3 + 1 / 3 + 0.5 + 2 / 3) / 4))


def test_without_chances_the_share_labelled_is_the_chance() -> None:
    """Votes without chances count like votes whose chance is the share of labelled battles."""
    verdicts, votes = agreeing(0.4)
    share = len(votes) / len(verdicts)
    plain = votes_of(votes, chances=False)
    said = [Vote(vote.question, vote.first, vote.second, vote.share, share) for vote in votes]
    agree(correct(plan_of(verdicts), plain), correct(plan_of(verdicts), votes_of(said)))


def test_a_system_without_votes_has_no_corrected_rating() -> None:
    """A system nobody voted on keeps the judge's rating, has none by people, and any rank is open."""
    verdicts, votes = agreeing(0.4)
    table = correct(
        plan_of(verdicts), votes_of([vote for vote in votes if "d" not in (vote.first, vote.second)])
    )
    row = table.of("d")
    assert (row.corrected.value, row.people.value, row.labelled_battles) == (None, None, 0)
    assert row.judge.value is not None
    assert table.of("a").corrected.value is not None


REFUSED = {
    "off the plan": ("q9", "a", "b", 1.0, 0.5, RecordError, "row 3: the vote is on no planned battle"),
    "unknown system": ("q0", "a", "x", 1.0, 0.5, RecordError, "the system 'x' is not in the plan"),
    "a second chance": ("q0", "a", "b", 1.0, 0.4, RecordError, "row 3, column"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_votes_that_do_not_fit_the_plan_are_refused(
    case: tuple[str, str, str, float, float, type[Exception], str],
) -> None:
    """A vote on no planned battle, or with another chance than its battle's, is named with its place."""
    question, first, second, share, chance, kind, words = case
    verdicts = [("q0", "a", "b", 1.0), ("q1", "a", "b", 0.0)]
    votes = [Vote("q0", "a", "b", 1.0, 0.5), Vote("q1", "a", "b", 0.0, 0.5)]
    with pytest.raises(kind, match=words):
        correct(plan_of(verdicts), votes_of([*votes, Vote(question, first, second, share, chance)]))


def test_what_cannot_be_estimated_is_refused() -> None:
    """No votes, votes on one question, votes all for one side, and an anchor nobody voted on are refused."""
    verdicts, votes = agreeing(0.4)
    plan = plan_of(verdicts)
    with pytest.raises(InputError, match="no votes"):
        correct(plan, votes_of([]))
    with pytest.raises(InputError, match="wide"):
        correct(plan, votes_of(votes), width=0)
    both = [Vote("q0", "a", "b", 1.0, 0.5), Vote("q0", "a", "b", 0.0, 0.5)]
    with pytest.raises(UnrankableError, match="one question"):
        correct(plan, votes_of(both))
    with pytest.raises(UnrankableError, match="do not compare"):
        correct(plan, votes_of([Vote("q0", "a", "b", 1.0, 0.5), Vote("q1", "a", "b", 1.0, 0.5)]))
    without = [vote for vote in votes if "d" not in (vote.first, vote.second)]
    with pytest.raises(NotFoundError, match="anchor"):
        correct(plan, votes_of(without), anchor=Anchor(system="d"))


def test_votes_without_variation_have_no_interval() -> None:
    """Where every vote is a tie the ratings are equal, no interval is claimed, and every rank is open."""
    verdicts, votes = agreeing(0.4)
    tied = [Vote(vote.question, vote.first, vote.second, 0.5, vote.chance) for vote in votes]
    table = correct(plan_of(verdicts), votes_of(tied))
    for row in table.ratings:
        assert row.people.value == pytest.approx(1000)
        assert (row.people.lower, row.corrected.upper, row.se) == (None, None, None)
        assert (row.rank_lower, row.rank_upper) == (1, 4)
        assert Flag.NO_INTERVAL in row.flags
