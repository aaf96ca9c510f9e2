"""One system in a round: its submission and how it fared on every question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from arena.models import results as shapes
from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.evidence.losses import LossShares, loss_shares
from arena.services.rounds.battle_table import table_of_columns
from arena.services.rounds.visibility import RoundAccess
from data.errors import InputError, NotFoundError
from data.models import Round, Submission
from data.store import Store
from data.store.question_stats import QuestionRecord
from leaderboard.paired import Deciding, PairedShare, deciding, paired_shares, spread_most
from leaderboard.standings.places import separates


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemProfile:
    """A system in a round.

    Attributes:
        submission: None for the reference.
        records: How its battles on every question ended, in the set's order.
        losses: In which domains, on what kinds of question and against whom it loses.
        notice: Says that texts are left out, and why; empty where none are.
    """

    system: str
    set_name: str
    submission: Submission | None
    records: tuple[QuestionRecord, ...]
    losses: LossShares
    notice: str = ""

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
    """Use cases of readers who ask why a system has its rank."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, round_name: str, system: str, *, caller: Caller = PUBLIC) -> SystemProfile:
        """A system in a round.

        Raises:
            NotFoundError: There is no such round, or the system has no battle in it.
        """
        round_ = self._store.rounds.get(round_name)
        seen = RoundAccess(self._store, caller, round_)
        records = self._store.question_stats.records(round_.id, system)
        if not records:
            raise NotFoundError(
                f"{system} has no battle in {round_name}.", advice="The leaderboard names those that have."
            )
        shown = seen.texts.listed(records)
        battles = table_of_columns(self._store.verdicts.columns(round_name, systems=(system,)))
        reference = self._store.submissions.reference(round_.set_name).system
        return SystemProfile(
            system=system,
            set_name=round_.set_name,
            submission=seen.submission(system),
            records=shown,
            losses=loss_shares(battles, system, {record.id: record.question for record in shown}, reference),
            notice=seen.texts.notice,
        )

    def lost(
        self, round_name: str, systems: Sequence[str], most: int, *, caller: Caller = PUBLIC
    ) -> Mapping[str, tuple[QuestionRecord, ...]]:
        """The questions that each of some systems lost most clearly; a system without any is left out.

        Raises:
            NotFoundError: There is no such round.
        """
        round_ = self._store.rounds.get(round_name)
        texts = RoundAccess(self._store, caller, round_).texts
        found = {}
        for system in systems:
            records = self._store.question_stats.records(round_.id, system)
            worst = sorted(
                (one for one in records if one.losses > one.wins), key=lambda one: one.wins - one.losses
            )
            if worst:
                found[system] = texts.listed(tuple(worst[:most]))
        return found


FEWEST, MOST = 2, 4
QUESTIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Systems compared with the first of them.

    `paired` has for each other system how much more of the win the first takes, overall and by domain;
    `questions` are those on which they differ most, the widest first; `deciding` says for each
    other system how few questions decide. `notice` says that texts are left out,
    and why. `separated` says by other system and domain whether the round's board tells it from the first; it
    is empty before there is one.
    """

    systems: tuple[str, ...]
    paired: Mapping[str, tuple[PairedShare, ...]]
    questions: tuple[shapes.ContestedQuestion, ...]
    battles: int
    deciding: tuple[Deciding, ...] = ()
    notice: str = ""
    separated: Mapping[tuple[str, str], bool] = field(default_factory=lambda: MappingProxyType({}))

    def between(self, round_name: str) -> shapes.Comparison:
        """The first two of them, as what routes and tools give."""
        first, second, *_ = self.systems
        paired = [
            shapes.PairedShare.of(share, separated=self.separated.get((second, share.domain)))
            for share in self.paired[second]
        ]
        return shapes.Comparison.of(self, round=round_name, first=first, second=second, paired=paired)


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
        round_ = self._store.rounds.get(round_name)
        texts = RoundAccess(self._store, caller, round_).texts
        table = table_of_columns(self._store.verdicts.columns(round_name, systems=named))
        unjudged = [system for system in named if system not in table.systems]
        if unjudged:
            raise NotFoundError(
                f"{unjudged[0]} has no judged battle in {round_name}.",
                advice="Choose among those on the board.",
            )
        first, *others = named
        spread = spread_most(table, named, QUESTIONS)
        contested = [number for number, _ in spread]
        question_stats = texts.listed(self._store.question_stats.of_round(round_.id, among=contested))
        by_id = {question.id: question for question in question_stats}
        paired = {other: paired_shares(table, first, other) for other in others}
        return Comparison(
            systems=named,
            paired=paired,
            questions=tuple(
                shapes.ContestedQuestion(
                    id=number, domain=by_id[number].domain, question=by_id[number].question, shares=shares
                )
                for number, shares in spread
            ),
            battles=len(table),
            deciding=tuple(deciding(table, first, other) for other in others),
            separated=self._separated(round_, first, paired),
            notice=texts.notice,
        )

    def _separated(
        self, round_: Round, first: str, paired: Mapping[str, Sequence[PairedShare]]
    ) -> Mapping[tuple[str, str], bool]:
        """By other system and domain, what the round's board says; empty before it is published."""
        if self._store.boards.standing(round_.id) is None:
            return {}
        standings = self._store.boards.get(round_.name).standings
        return {
            (other, share.domain): separates(standings, first, other, share.domain)
            for other, shares in paired.items()
            for share in shares
        }
