"""One system in a round: its submission and how it fared on every question."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from data.errors import NotFoundError
from data.records import BattleRecord, Preference, Submission
from data.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRecord:
    """How a system's battles on one question ended."""

    id: str
    domain: str
    question: str
    wins: int
    ties: int
    losses: int
    undecided: int


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

    def of(self, round_name: str, system: str) -> SystemProfile:
        """A system in a round.

        Raises:
            NotFoundError: There is no such round, or the system has no battle in it.
        """
        found = self._store.rounds.get(round_name)
        tallies: dict[str, Counter[str]] = defaultdict(Counter)
        for battle in self._store.verdicts.battles(round_name, system=system):
            tallies[battle.question_id][_result(battle, system)] += 1
        if not tallies:
            raise NotFoundError(
                f"{system} has no battle in {round_name}.", advice="The leaderboard names those that have."
            )
        summary = self._store.sets.summary(found.set_name)
        return SystemProfile(
            system=system,
            set_name=found.set_name,
            submission=self._submission(found.set_name, system, found.plan["systems"].get(system)),
            records=tuple(
                QuestionRecord(
                    id=question.id,
                    domain=question.domain,
                    question=question.question,
                    wins=tallies[question.id]["win"],
                    ties=tallies[question.id]["tie"],
                    losses=tallies[question.id]["loss"],
                    undecided=tallies[question.id]["undecided"],
                )
                for _, question in self._store.sets.numbered(summary.id)
                if question.id in tallies
            ),
        )

    def _submission(self, set_name: str, system: str, version: int | None) -> Submission | None:
        entered = self._store.submissions.find(set_name=set_name, system=system)
        return next((one for one in entered if one.version == version), None)


def _result(battle: BattleRecord, system: str) -> str:
    if battle.preference is None:
        return "undecided"
    if battle.preference is Preference.TIE:
        return "tie"
    won = (battle.preference is Preference.A) == (system == battle.system_a)
    return "win" if won else "loss"
