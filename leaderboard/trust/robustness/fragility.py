"""What a place depends on: the fewest questions, or battles, without which two neighbours are exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError, NotFoundError, UnrankableError
from data.parallel import parallel_map
from leaderboard.battles import BattleTable, Winner
from leaderboard.ratings.counts import Floats, Ints, PairCounts, count_pairs
from leaderboard.ratings.estimate import restrict
from leaderboard.ratings.models.existence import find_groups
from leaderboard.ratings.models.likelihoods import BradleyTerry
from leaderboard.ratings.models.newton import fit
from leaderboard.ratings.rate import usable
from leaderboard.ratings.threads import one_thread
from leaderboard.ratings.vocabulary import POINTS
from leaderboard.trust.robustness.removal import (
    EQUAL,
    Search,
    Units,
    battle_kinds,
    question_units,
    refit_pairs,
)
from leaderboard.trust.sections import Unit

WINNERS = tuple({Winner.A: "model_a", Winner.B: "model_b", Winner.TIE: "tie"}[code] for code in Winner)


class Status(StrEnum):
    """What the search for a set came to.

    `FOUND`: a set whose removal exchanges the two, verified by a refit of the battles that are left.
    `NOT_FOUND`: no set of at most half of the questions (battles) was found.
    `TIED`: the two ratings are equal, so that nothing need be left out.
    """

    FOUND = "found"
    NOT_FOUND = "not_found"
    TIED = "tied"


class NamedBattle(NamedTuple):
    """A battle, as files name it."""

    question_id: str
    model_a: str
    model_b: str
    winner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What the order of two systems depends on.

    Attributes:
        first: The system that stands before the other.
        second: The other.
        status: Whether a set was found.
        unit: Whether questions or battles are left out.
        of: How many there are.
        points: Rating of the first less that of the second, from all battles.
        points_without: The same from the battles that are left, below 0; None where no set was found.
        questions: The questions left out, the most influential first; of battles, the questions they are on.
        battles: The battles left out, where battles are.
    """

    first: str
    second: str
    status: Status
    unit: Unit
    of: int
    points: float
    points_without: float | None = None
    questions: tuple[str, ...] = ()
    battles: tuple[NamedBattle, ...] = ()

    @property
    def size(self) -> int | None:
        """How many questions or battles are left out; None where no set was found."""
        if self.status is Status.NOT_FOUND:
            return None
        return len(self.questions if self.unit is Unit.QUESTIONS else self.battles)

    def as_json(self, most_named: int | None = None) -> dict[str, object]:
        """A pair of `battles fragility --json`; `unnamed` counts those beyond `most_named`."""
        size = self.size
        named = self.questions if self.unit is Unit.QUESTIONS else self.battles
        shown = [one if isinstance(one, str) else one._asdict() for one in named[:most_named]]
        return {
            "first": self.first,
            "second": self.second,
            "status": self.status.value,
            "verified": self.status is Status.FOUND,
            "size": size,
            "of": self.of,
            "share": None if size is None else size / self.of,
            "points": self.points,
            "points_without": self.points_without,
            self.unit.value: shown,
            "unnamed": len(named) - len(shown),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragility:
    """What the places of a ranking depend on.

    Attributes:
        unit: Whether questions or battles are left out.
        exchanges: Neighbours in the ranking, best first, group by group of comparable systems.
        first_place: The best two systems other than the reference; None where there are none.
        unrated: Systems without a rating, which have no neighbours.
    """

    unit: Unit
    exchanges: tuple[Exchange, ...]
    first_place: Exchange | None
    unrated: tuple[str, ...]

    def as_json(self, most_named: int | None = None) -> dict[str, object]:
        """The object of `battles fragility --json`; for `most_named` see `Exchange.as_json`."""
        first = self.first_place
        return {
            "unit": self.unit.value,
            "method": "bradley-terry",
            "pairs": [exchange.as_json(most_named) for exchange in self.exchanges],
            "first_place": None if first is None else first.as_json(most_named),
            "unrated": list(self.unrated),
        }


def fragility(
    table: BattleTable,
    *,
    unit: Unit = Unit.QUESTIONS,
    pair: tuple[str, str] | None = None,
    reference: str | None = None,
    most: int | None = None,
) -> Fragility:
    """Find, for each two neighbours, the fewest questions or battles without which they are exchanged.

    Ratings are Bradley-Terry's, ties half. A set that is found is verified: the battles that are left are
    counted and fitted anew. That no smaller set exists is not certain. Neither an anchor nor the names of the
    systems change how large the sets are.

    Args:
        table: The battles.
        unit: Whether whole questions or single battles are left out.
        pair: Two systems to look at in place of all neighbours.
        reference: The system that is no entrant: first place is held by another.
        most: How many neighbours to look at, from the best on; None for all.

    Raises:
        UnrankableError: There is no battle, or none compare the two systems of the pair.
        NotFoundError: A system of the pair is named by no battle.
        InputError: Single battles are to be left out, and rows count for several.

    Source: Huang, Shen, Wei & Broderick (2025), arXiv 2508.11847; docs/method/judge-error.md.
    """
    battles = usable(table)
    if unit is Unit.BATTLES and battles.weight is not None and (battles.weight != 1).any():
        message = "Rows of these battles count for several, so that no single battle can be left out."
        raise InputError(message, advice="Leave out questions, or give each battle a row.")
    with one_thread():
        groups = tuple(_groups(battles, unit))
        rated = {group.systems[code] for group in groups for code in group.order.tolist()}
        if pair is not None:
            exchanges: tuple[Exchange, ...] = (_asked(groups, battles, pair),)
            return Fragility(unit=unit, exchanges=exchanges, first_place=None, unrated=())
        neighbours = [
            (number, *two) for number, group in enumerate(groups) for two in pairwise(group.order.tolist())
        ][:most]
        exchanges = tuple(parallel_map(_exchange, neighbours, (groups,), total=len(neighbours)))
        return Fragility(
            unit=unit,
            exchanges=exchanges,
            first_place=_first_place(groups[0], exchanges, reference) if groups else None,
            unrated=tuple(name for name in battles.systems if name not in rated),
        )


def _exchange(groups: tuple[_Group, ...], number: int, first: int, second: int) -> Exchange:
    """What the order of two systems of a group depends on; on one thread, wherever it is called."""
    with one_thread():
        return groups[number].exchange(first, second)


def _asked(groups: tuple[_Group, ...], battles: BattleTable, pair: tuple[str, str]) -> Exchange:
    for name in pair:
        if name not in battles.systems:
            raise NotFoundError(
                f"No battle names {name!r}.", advice=f"The systems are {', '.join(battles.systems)}."
            )
    if pair[0] == pair[1]:
        raise InputError(f"{pair[0]} is named twice.", advice="Name two systems.")
    for group in groups:
        if set(pair) <= set(group.systems):
            codes = (group.systems.index(name) for name in pair)
            first, second = sorted(codes, key=lambda code: (-group.theta[code], code))
            return group.exchange(first, second)
    message = f"The battles do not compare {pair[0]} with {pair[1]}: one never wins, or never loses."
    raise UnrankableError(message, advice="Judge more battles between the two, or with the same opponents.")


def _first_place(group: _Group, exchanges: tuple[Exchange, ...], reference: str | None) -> Exchange | None:
    entrants = [code for code in group.order.tolist() if group.systems[code] != reference][:2]
    if len(entrants) <= 1:
        return None
    first, second = (group.systems[code] for code in entrants)
    known = (exchange for exchange in exchanges if (exchange.first, exchange.second) == (first, second))
    return next(known, None) or group.exchange(*entrants)


def _groups(battles: BattleTable, unit: Unit) -> Iterator[_Group]:
    pairs = count_pairs(battles)
    groups = find_groups(pairs)
    for label in np.flatnonzero(groups.sizes > 1).tolist():
        members = np.flatnonzero(groups.label == label)
        inner, _ = pairs.among(members)
        local = restrict(battles, members)
        kind: NDArray[np.integer[Any]] = local.question
        if unit is Unit.QUESTIONS:
            units = question_units(local, inner)
        else:
            units, kind = battle_kinds(local, inner)
        theta = fit(BradleyTerry(), inner).theta
        yield _Group(table=local, pairs=inner, units=units, kind=kind, unit=unit, theta=theta)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Group:
    """Systems that are comparable, with the kind of unit of each of their battles."""

    table: BattleTable
    pairs: PairCounts
    units: Units
    kind: NDArray[np.integer[Any]]
    unit: Unit
    theta: Floats

    @property
    def systems(self) -> tuple[str, ...]:
        return self.table.systems

    @property
    def order(self) -> Ints:
        """Codes, best first."""
        return np.argsort(-np.round(self.theta, 9), kind="stable")

    def exchange(self, first: int, second: int) -> Exchange:
        """What the order of two systems depends on."""
        gap = float(self.theta[first] - self.theta[second])
        result = Exchange(
            first=self.systems[first],
            second=self.systems[second],
            status=Status.TIED if gap <= EQUAL else Status.NOT_FOUND,
            unit=self.unit,
            of=self.units.count,
            points=gap * POINTS if gap > EQUAL else 0.0,
        )
        if gap <= EQUAL:
            return result
        search = Search(
            units=self.units, theta=self.theta, first=first, second=second, most=self.units.count // 2
        )
        smallest = search.smallest()
        if smallest is None:
            return result
        rows = self._rows(smallest.removed)
        theta = refit_pairs(self._left(smallest.removed, rows), first, second)
        without = float(theta[first] - theta[second])
        if not without < -EQUAL:
            return result
        return replace(
            result,
            status=Status.FOUND,
            points_without=without * POINTS,
            questions=self._questions(smallest.removed, rows, search),
            battles=self._battles(rows) if self.unit is Unit.BATTLES else (),
        )

    def _left(self, removed: Ints, rows: Ints) -> PairCounts:
        """The counts of all battles but some, from the battles, so that the search is not its own witness."""
        if self.units.cells is not None:
            return self._less(self.units.cells.counts(np.flatnonzero(removed)))
        if self.table.weight is not None or self.table.score is not None:
            return count_pairs(self.table.select(np.delete(np.arange(len(self.table)), rows)))
        counted = count_pairs(self.table.select(rows))
        keys = self.pairs.low * self.pairs.systems + self.pairs.high
        taken = np.zeros_like(self.pairs.outcomes)
        taken[:, np.searchsorted(keys, counted.low * counted.systems + counted.high)] = counted.outcomes
        return self._less(taken)

    def _less(self, taken: Floats) -> PairCounts:
        """The counts without (3, P) whole battles, which lose nothing by being taken away."""
        outcomes = self.pairs.outcomes - taken
        left = outcomes.sum(axis=0) > 0
        return PairCounts(
            systems=self.pairs.systems,
            low=self.pairs.low[left],
            high=self.pairs.high[left],
            outcomes=np.ascontiguousarray(outcomes[:, left]),
        )

    def _rows(self, removed: Ints) -> Ints:
        """The battles left out, rising: of equal ones those on the first questions.

        Of questions whose cells are known nobody asks for them.
        """
        if self.units.cells is not None:
            return np.zeros(0, dtype=np.int64)
        if self.unit is Unit.QUESTIONS:
            return np.flatnonzero((removed > 0)[self.kind])
        order, edges = self._by_kind
        kinds = np.flatnonzero(removed)
        first = edges[kinds]
        spans = zip(first.tolist(), (first + removed[kinds]).tolist(), strict=True)
        return np.sort(np.concatenate([order[:0], *(order[slice(*span)] for span in spans)]))

    @cached_property
    def _by_kind(self) -> tuple[Ints, Ints]:
        """The rows by kind and, within a kind, by question; and where each kind begins and the last ends."""
        question = self.table.question
        if (question[1:] >= question[:-1]).all():
            order = np.argsort(self.kind, kind="stable")
        else:
            order = np.argsort(question, kind="stable")
            order = order[np.argsort(self.kind[order], kind="stable")]
        counts = np.bincount(self.kind, minlength=len(self.units.copies))
        return order, np.concatenate([[0], np.cumsum(counts)])

    def _questions(self, removed: Ints, rows: Ints, search: Search) -> tuple[str, ...]:
        """The questions of what is left out, those first whose battles lower the difference most."""
        _, sums = search.full
        chosen = np.flatnonzero(removed)
        if self.unit is Unit.BATTLES:
            questions = self.table.question[rows]
            chosen = np.unique(questions)
            sums = np.bincount(questions, sums[self.kind[rows]]).astype(np.float64, copy=False)
        order = chosen[np.argsort(-sums[chosen], kind="stable")]
        return tuple(self.table.questions[code] for code in order.tolist())

    def _battles(self, rows: Ints) -> tuple[NamedBattle, ...]:
        table = self.table.select(rows)
        columns = (
            (table.questions, table.question),
            (table.systems, table.a),
            (table.systems, table.b),
            (WINNERS, table.winner),
        )
        named = (map(names.__getitem__, codes.tolist()) for names, codes in columns)
        return tuple(map(NamedBattle._make, zip(*named, strict=True)))
