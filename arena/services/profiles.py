"""One system in a round: its submission and how it fared on every question."""

from __future__ import annotations

from dataclasses import dataclass

from arena.services.identity import PUBLIC, Caller
from arena.services.round_sight import RoundSight
from data.errors import NotFoundError
from data.records import Submission
from data.store import Store
from data.store.digests import QuestionRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemProfile:
    """A system in a round; `submission` is None for the reference, `records` are in the set's order."""

    system: str
    set_name: str
    submission: Submission | None
    records: tuple[QuestionRecord, ...]

    @property
    def best(self) -> tuple[QuestionRecord, ...]:
        """Questions on which it won more than it lost, the clearest first."""
        won = [record for record in self.records if record.wins > record.losses]
        return tuple(sorted(won, key=lambda record: record.losses - record.wins))

    @property
    def worst(self) -> tuple[QuestionRecord, ...]:
        """Questions on which it lost more than it won, the clearest first."""
        lost = [record for record in self.records if record.losses > record.wins]
        return tuple(sorted(lost, key=lambda record: record.wins - record.losses))


class ProfileService:
    """Use cases of readers who ask why a system stands where it stands."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, round_name: str, system: str, *, caller: Caller = PUBLIC) -> SystemProfile:
        """A system in a round.

        Raises:
            NotFoundError: There is no such round, or the system has no battle in it.
        """
        found = self._store.rounds.get(round_name)
        seen = RoundSight(self._store, caller, found)
        records = self._store.digests.records(found.id, system)
        if not records:
            raise NotFoundError(
                f"{system} has no battle in {round_name}.", advice="The leaderboard names those that have."
            )
        return SystemProfile(
            system=system,
            set_name=found.set_name,
            submission=seen.submission(system),
            records=records,
        )
