"""Each question as a tournament: who was preferred to whom on it, and how many triples form a cycle.

Source: Kendall & Babington Smith (1940), "On the method of paired comparisons", for circular triads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.battles import BattleTable
from leaderboard.ratings.counts import Floats, Ints

# Shares of the win this near to one half are ties: it is above the rounding of a mean.
TIED = 1e-9
# Numbers of one stack of tournaments: 16 MB.
STACK_NUMBERS = 4_000_000
LEAST_PAIRS = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class Verdicts:
    """What each question came to for each pair judged on it, in the order of questions.

    Attributes:
        question: (V,) code of the question.
        low: (V,) lower code of the pair.
        high: (V,) higher code.
        margin: (V,) mean share of the win of the lower code, less one half: 0 is a tie.
    """

    question: Ints
    low: Ints
    high: Ints
    margin: Floats

    def select(self, rows: NDArray[np.bool_]) -> Verdicts:
        """Some of the verdicts."""
        return Verdicts(
            question=self.question[rows], low=self.low[rows], high=self.high[rows], margin=self.margin[rows]
        )


def verdicts_of(table: BattleTable) -> Verdicts:
    """Sum up the battles of each pair on each question; several come to their mean share of the win."""
    size = np.int64(len(table.systems))
    swapped = table.a > table.b
    low, high = np.where(swapped, table.b, table.a), np.where(swapped, table.a, table.b)
    keys, place = np.unique((table.question * size + low) * size + high, return_inverse=True)
    weight = np.ones(len(table)) if table.weight is None else table.weight
    counted = np.bincount(place, weight, len(keys))
    won = np.bincount(place, weight * np.where(swapped, 1 - table.share, table.share), len(keys))
    met = counted > 0
    rest, high_code = np.divmod(keys[met], size)
    question, low_code = np.divmod(rest, size)
    margin = won[met] / counted[met] - 1 / 2
    margin[np.abs(margin) < TIED] = 0.0
    return Verdicts(question=question, low=low_code, high=high_code, margin=margin)


@dataclass(frozen=True, eq=False, kw_only=True)
class Tallies:
    """(Q,) triples of systems on each question that has one of which all three pairs were judged.

    Attributes:
        question: Codes of the questions.
        systems: Systems judged on the question.
        pairs: Pairs judged on it.
        triples: Triples of which all three pairs were judged.
        strict: Of those, triples without a tie.
        cycles: Of the strict, A > B > C > A.
        one_tie: Triples with one tie.
        one_tie_cycles: Of those, A > B > C ~ A.
        two_ties: Triples with two ties: A > B ~ C ~ A, so that each is a weak cycle.
        circular: Circular triads to be expected where every tie falls either way by a fair coin.
    """

    question: Ints
    systems: Ints
    pairs: Ints
    triples: Ints
    strict: Ints
    cycles: Ints
    one_tie: Ints
    one_tie_cycles: Ints
    two_ties: Ints
    circular: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class Stack:
    """Tournaments of some questions.

    Attributes:
        question: (C,) codes of the questions.
        names: (C, n) codes of the systems judged on each, −1 where there are fewer.
        beats: (C, n, n) whether the row's system was preferred to the column's.
        tied: (C, n, n) whether the two tied.
    """

    question: Ints
    names: Ints
    beats: NDArray[np.float32]
    tied: NDArray[np.float32]

    def tallies(self) -> Tallies:
        """Count the triples of each question."""
        judged = self.beats + self.beats.transpose(0, 2, 1)
        met = judged + self.tied
        through = self.beats @ self.beats
        cycles = _total(through * self.beats.transpose(0, 2, 1)) // 3
        triples, strict = (_total((both @ both) * both) // 6 for both in (met, judged))
        one_tie = _total((judged @ judged) * self.tied) // 2
        one_tie_cycles = _total(through * self.tied)
        two_ties = _total((self.tied @ self.tied) * self.beats)
        three_ties = triples - strict - one_tie - two_ties
        # A lone tie closes a cycle either way or not at all; with two or three the coins decide alone.
        circular = cycles + one_tie_cycles / 2 + (two_ties + three_ties) / 4
        return Tallies(
            question=self.question,
            systems=(self.names >= 0).sum(axis=1),
            pairs=_total(met) // 2,
            triples=triples,
            strict=strict,
            cycles=cycles,
            one_tie=one_tie,
            one_tie_cycles=one_tie_cycles,
            two_ties=two_ties,
            circular=circular,
        )

    def cycles(self) -> Iterator[Ints]:
        """(C′, 3) systems of every cycle, in its order, a part at a time; the lowest code stands first."""
        beats = self.beats > 0
        for first in range(beats.shape[1]):
            out, back = beats[:, first, :], beats[:, :, first]
            place, second, third = np.nonzero(out[:, :, None] & beats & back[:, None, :])
            # Local numbers rise with the codes, so that each cycle is met first from its lowest code.
            chosen = (second > first) & (third > first)
            rows = place[chosen]
            ends = (np.full(len(rows), first), second[chosen], third[chosen])
            yield np.stack([self.names[rows, end] for end in ends], axis=1)


def _total(counts: NDArray[np.float32]) -> Ints:
    return np.asarray(np.rint(counts.sum(axis=(1, 2), dtype=np.float64)), dtype=np.int64)


def stacks_of(verdicts: Verdicts) -> Iterator[Stack]:
    """The tournaments of all questions on which three pairs or more were judged, alike in size."""
    counts = np.bincount(verdicts.question)
    some = verdicts.select(counts[verdicts.question] >= LEAST_PAIRS)
    if not len(some.question):
        return
    size = np.int64(max(some.low.max(), some.high.max()) + 1)
    met = np.unique(np.concatenate([some.question * size + some.low, some.question * size + some.high]))
    owner, code = np.divmod(met, size)
    questions, begin, entered = np.unique(owner, return_index=True, return_counts=True)
    local = np.arange(len(met)) - np.repeat(begin, entered)
    ends = [local[np.searchsorted(met, some.question * size + end)] for end in (some.low, some.high)]
    row = np.searchsorted(questions, some.question)
    for chosen in _parts(entered):
        place = np.full(len(questions), -1)
        place[chosen] = np.arange(len(chosen))
        rows, people = place[row] >= 0, np.repeat(place, entered)
        inside = people >= 0
        names = np.full((len(chosen), int(entered[chosen].max())), -1)
        names[people[inside], local[inside]] = code[inside]
        yield _stack(
            questions[chosen], names, place[row][rows], ends[0][rows], ends[1][rows], some.margin[rows]
        )


def _parts(entered: Ints) -> Iterator[Ints]:
    """Questions with as many systems each, few enough for one stack."""
    order = np.argsort(entered, kind="stable")
    first = 0
    while first < len(order):
        last = first + 1
        while last < len(order) and (last + 1 - first) * int(entered[order[last]]) ** 2 <= STACK_NUMBERS:
            last += 1
        yield order[first:last]
        first = last


def _stack(question: Ints, names: Ints, row: Ints, low: Ints, high: Ints, margin: Floats) -> Stack:
    beats = np.zeros((len(question), names.shape[1], names.shape[1]), dtype=np.float32)
    tied = np.zeros_like(beats)
    beats[row, low, high], beats[row, high, low] = margin > 0, margin < 0
    tied[row, low, high] = tied[row, high, low] = margin == 0
    return Stack(question=question, names=names, beats=beats, tied=tied)
