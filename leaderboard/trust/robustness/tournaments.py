"""Each question as a tournament: who was preferred to whom on it, and how many triples form a cycle.

Source: Kendall & Babington Smith (1940), "On the method of paired comparisons", for circular triads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from leaderboard.battles import BattleTable
from leaderboard.ratings.counts import Cells, Floats, Ints, count_cells, count_pairs, locate_rows

# Shares of the win this near to one half are ties: it is above the rounding of a mean.
TIED = 1e-9
# Numbers of one stack of tournaments: 8 MB, of which some ten are held at once.
STACK_NUMBERS = 2_000_000
LEAST_PAIRS = 3
Bits = TypeVar("Bits", np.bool_, np.uint8)


@dataclass(frozen=True, eq=False, kw_only=True)
class Verdicts:
    """What each question came to for each pair judged on it.

    Attributes:
        low: (P,) lower code of each pair that met, in the order of lower and higher code.
        high: (P,) higher code.
        margins: (Q, P) mean share of the win of the lower code, less one half: a stored 0 is a tie, and what
            is not stored was not judged. Of many questions the cells that say the same in a byte each.
    """

    low: Ints
    high: Ints
    margins: csr_array | Cells

    @property
    def pairs(self) -> Ints:
        """(Q,) how many pairs were judged on each question."""
        if isinstance(self.margins, Cells):
            return np.asarray((self.margins.doubled >= 0).sum(axis=1, dtype=np.int64))
        return np.diff(self.margins.indptr).astype(np.int64)

    @property
    def judged(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Question, pair and margin of each verdict; of cells the margin is doubled."""
        if isinstance(self.margins, Cells):
            row, pair = np.nonzero(self.margins.doubled >= 0)
            return row, pair, self.margins.doubled[row, pair] - np.int8(1)
        row = np.repeat(np.arange(self.margins.shape[0]), self.pairs)
        return row, self.margins.indices, self.margins.data

    @property
    def sparse(self) -> csr_array:
        """The margins as stored numbers."""
        if not isinstance(self.margins, Cells):
            return self.margins
        margins = self.margins.shares()
        margins.data -= 1 / 2
        return margins

    def of_questions(self, questions: Ints) -> Verdicts:
        """The verdicts on some questions, rising, which are numbered in their order."""
        if isinstance(self.margins, Cells):
            return replace(self, margins=self.margins.of_clusters(questions))
        if len(questions) == self.margins.shape[0]:
            return self
        return replace(self, margins=self.margins[questions])


def verdicts_of(table: BattleTable) -> Verdicts:
    """Sum up the battles of each pair on each question; several come to their mean share of the win."""
    pairs = count_pairs(table)
    cells = count_cells(table, pairs)
    if cells is not None:
        return Verdicts(low=pairs.low, high=pairs.high, margins=cells)
    place, swapped = locate_rows(table, pairs)
    shape = (len(table.questions), len(pairs.low))
    # Whole battles are few enough on a question for the shorter numbers.
    whole = table.weight is None and table.score is None
    kind: type[np.floating[Any]] = np.float32 if whole else np.float64
    share: NDArray[np.floating[Any]] = table.share.astype(kind, copy=False)
    np.subtract(1, share, out=share, where=swapped)
    weight: NDArray[np.floating[Any]] = np.ones(len(table), dtype=kind)
    if table.weight is not None:
        weight = table.weight
        share = share * weight
    won = coo_array((share, (table.question, place)), shape=shape).tocsr()
    del share, swapped
    counted = coo_array((weight, (table.question, place)), shape=shape).tocsr()
    margin: Floats = won.data.astype(np.float64)
    margin /= counted.data
    margin -= 1 / 2
    margin[np.abs(margin) < TIED] = 0.0
    margins = csr_array((margin, won.indices, won.indptr), shape=shape)
    return Verdicts(low=pairs.low, high=pairs.high, margins=margins)


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
            # Local numbers rise with the codes, so that each cycle is met from its lowest code.
            place, second, third = np.nonzero(self._closed(beats, first))
            ends = (np.full(len(place), first), second + first + 1, third + first + 1)
            yield np.stack([self.names[place, end] for end in ends], axis=1)

    def cycle_counts(self, systems: int) -> CycleCounts:
        """How often each cycle of systems occurs; the lowest code stands first."""
        if not (self.names == self.names[0]).all():
            keys = [_cycle_keys(part.T, systems) for part in self.cycles()]
            return np.unique(np.concatenate([self.question[:0], *keys]), return_counts=True)
        # Questions on which the same systems were judged are counted eight at a time.
        beats, names = np.packbits(self.beats > 0, axis=0), self.names[0]
        found = []
        for first in range(len(names)):
            times = np.bitwise_count(self._closed(beats, first)).sum(axis=0, dtype=np.int64)
            second, third = np.nonzero(times)
            ends = (names[first], names[first + 1 + second], names[first + 1 + third])
            found.append((_cycle_keys(ends, systems), times[second, third]))
        return np.concatenate([key for key, _ in found]), np.concatenate([times for _, times in found])

    @staticmethod
    def _closed(beats: NDArray[Bits], first: int) -> NDArray[Bits]:
        """(C, n′, n′) whether two later systems close a cycle with a system: it beats the row's."""
        later = slice(first + 1, None)
        closed: NDArray[Bits] = beats[:, first, later, None] & beats[:, later, later]
        closed &= beats[:, later, first][:, None, :]
        return closed


CycleCounts = tuple[Ints, Ints]
"""Cycles of systems, by the key of their three codes, and how often each occurs."""


def _cycle_keys(codes: Sequence[Any] | NDArray[Any], systems: int) -> Ints:
    first, second, third = codes
    return np.asarray((np.int64(systems) * first + second) * systems + third, dtype=np.int64)


def joined_counts(parts: Iterable[CycleCounts], systems: int) -> dict[tuple[int, int, int], int]:
    """How often each cycle occurs in all parts, in its order; the lowest code stands first."""
    keys, counts = (
        np.concatenate([np.zeros(0, dtype=np.int64), *columns]) for columns in zip(*parts, strict=True)
    )
    present, place = np.unique(keys, return_inverse=True)
    times = np.bincount(place, counts, len(present)).astype(np.int64)
    rest, third = np.divmod(present, systems)
    first, second = np.divmod(rest, systems)
    cycles = zip(first.tolist(), second.tolist(), third.tolist(), strict=True)
    return dict(zip(cycles, times.tolist(), strict=True))


def _total(counts: NDArray[np.float32]) -> Ints:
    return np.asarray(np.rint(counts.sum(axis=(1, 2), dtype=np.float64)), dtype=np.int64)


def stacks_of(verdicts: Verdicts, systems: int) -> Iterator[Stack]:
    """The tournaments of all questions on which three pairs or more were judged, alike in size."""
    some = np.flatnonzero(verdicts.pairs >= LEAST_PAIRS)
    room = max(STACK_NUMBERS // max(systems, len(verdicts.low)), 1)
    blocks = [some[first : first + room] for first in range(0, len(some), room)]
    entered = np.concatenate([_entered(verdicts, block, systems).sum(axis=1) for block in blocks] or [some])
    for chosen in _parts(entered, systems):
        yield _stack(verdicts, some[chosen], systems)


def _entered(verdicts: Verdicts, questions: Ints, systems: int) -> NDArray[np.bool_]:
    """(C, S) which systems were judged on some questions."""
    part = verdicts.of_questions(questions)
    if isinstance(part.margins, Cells) and part.margins.full:
        some = np.bincount(np.concatenate([part.low, part.high]), minlength=systems) > 0
        return np.tile(some, (len(questions), 1))
    row, pair, _ = part.judged
    met = np.zeros((len(questions), systems), dtype=bool)
    met[row, part.low[pair]] = met[row, part.high[pair]] = True
    return met


def _parts(entered: Ints, systems: int) -> Iterator[Ints]:
    """Questions with as many systems each, few enough for one stack."""
    order = np.argsort(entered, kind="stable")
    first = 0
    while first < len(order):
        last = first + 1
        while last < len(order):
            if (last + 1 - first) * max(int(entered[order[last]]) ** 2, systems) > STACK_NUMBERS:
                break
            last += 1
        yield order[first:last]
        first = last


def _stack(verdicts: Verdicts, questions: Ints, systems: int) -> Stack:
    met = _entered(verdicts, questions, systems)
    local = np.cumsum(met, axis=1) - 1
    size = int(local[:, -1].max()) + 1
    names = np.full((len(questions), size), -1)
    place, code = np.nonzero(met)
    names[place, local[place, code]] = code
    part = verdicts.of_questions(questions)
    row, pair, margin = part.judged
    low, high = local[row, part.low[pair]], local[row, part.high[pair]]
    beats = np.zeros((len(questions), size, size), dtype=np.float32)
    tied = np.zeros_like(beats)
    beats[row, low, high], beats[row, high, low] = margin > 0, margin < 0
    tied[row, low, high] = tied[row, high, low] = margin == 0
    return Stack(question=questions, names=names, beats=beats, tied=tied)
