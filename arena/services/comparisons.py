"""Two to four systems against each other: paired differences, and the questions on which they differ most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.services.board_columns import table_of
from arena.services.identity import PUBLIC, Caller
from arena.services.round_sight import RoundSight
from data.errors import InputError, NotFoundError
from data.records import BattleRecord
from data.store import Store
from leaderboard.paired import PairedShare, paired_shares, spread_most

FEWEST, MOST = 2, 4
QUESTIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestedQuestion:
    """A question with each system's mean share of the win (0–1) over its battles there."""

    id: str
    domain: str
    question: str
    shares: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Systems compared with the first of them.

    Attributes:
        systems: As asked for.
        paired: For each other system: how much more of the win the first takes, overall and by domain.
        questions: Those on which they differ most, the widest first.
        battles: How many battles that rests on.
    """

    systems: tuple[str, ...]
    paired: Mapping[str, tuple[PairedShare, ...]]
    questions: tuple[ContestedQuestion, ...]
    battles: int


class ComparisonService:
    """Use cases of readers who choose between systems."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, round_name: str, systems: Sequence[str], *, caller: Caller = PUBLIC) -> Comparison:
        """Compare systems of a round.

        Raises:
            InputError: Fewer than two different systems, or more than four.
            NotFoundError: No such round that the caller may see, or a system has no judged battle in it.
        """
        named = tuple(dict.fromkeys(systems))
        if not FEWEST <= len(named) <= MOST:
            raise InputError(
                f"{len(named)} systems cannot be compared.", advice="Choose two, three or four of them."
            )
        found = self._store.rounds.get(round_name)
        RoundSight(self._store, caller, found)
        battles: dict[int, BattleRecord] = {}
        for system in named:
            mine = {one.id: one for one in self._store.verdicts.battles(round_name, system=system)}
            if not any(one.preference is not None for one in mine.values()):
                raise NotFoundError(
                    f"{system} has no judged battle in {round_name}.",
                    advice="Choose among those on the board.",
                )
            battles |= mine
        table = table_of(tuple(battles.values()))
        first, *others = named
        spread = spread_most(table, named, QUESTIONS)
        digests = self._store.digests.of_round(found.id)
        known = {one.id: one for one in digests}
        return Comparison(
            systems=named,
            paired={other: paired_shares(table, first, other) for other in others},
            questions=tuple(
                ContestedQuestion(
                    id=number, domain=known[number].domain, question=known[number].question, shares=shares
                )
                for number, shares in spread
            ),
            battles=len(table),
        )
