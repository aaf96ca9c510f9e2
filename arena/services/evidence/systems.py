"""Profile and losses of a system, and comparisons of systems."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

import numpy as np

from arena.models import results as shapes
from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.rounds.battle_table import table_of_columns
from arena.services.rounds.visibility import RoundAccess
from data.errors import InputError, NotFoundError
from data.models import Round, Submission
from data.store import Store
from data.store.question_stats import QuestionRecord
from leaderboard.battles import BattleTable
from leaderboard.paired import Deciding, PairedShare, deciding, most_divisive, paired_shares
from leaderboard.rates import Rate, win_rates
from leaderboard.standings.places import separates
from leaderboard.stats import Interval
from leaderboard.vocabulary import OVERALL


class QuestionKind(StrEnum):
    """Kind of a question, by its first word."""

    HOW = "How …"
    WHY = "Why …"
    WHAT = "What …"
    WHICH = "Which, who, when, where …"
    YES_NO = "Yes or no"
    OTHER = "Other"


FIRST_WORDS: Mapping[str, QuestionKind] = {
    "how": QuestionKind.HOW,
    "why": QuestionKind.WHY,
    "what": QuestionKind.WHAT,
    "what's": QuestionKind.WHAT,
    **dict.fromkeys(("which", "who", "whom", "whose", "when", "where", "who's"), QuestionKind.WHICH),
    **dict.fromkeys(
        (
            *("is", "are", "was", "were", "am", "isn't", "aren't", "do", "does", "did", "don't", "doesn't"),
            *("can", "could", "can't", "should", "shall", "would", "will", "may", "might", "must"),
            *("has", "have", "had"),
        ),
        QuestionKind.YES_NO,
    ),
}


def question_kind(question: str) -> QuestionKind:
    """Return the kind of an English question; other languages and openings are `Other`."""
    words = question.split(maxsplit=1)
    first = words[0].casefold().replace("’", "'").strip("\"'“”¿?!.:;(),") if words else ""
    return FIRST_WORDS.get(first, QuestionKind.OTHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossShare:
    """Share of lost battles in one group of a system's battles.

    Attributes:
        name: Domain id, kind of question, or opponent.
        share: Lost of judged battles, 0–1.
        interval: Its 95 % interval, clustered by question.
    """

    name: str
    lost: float
    battles: float
    share: float
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LossShares:
    """Losses of a system, worst first; `field` is its rate against other systems, if any."""

    domains: tuple[LossShare, ...] = ()
    kinds: tuple[LossShare, ...] = ()
    opponents: tuple[LossShare, ...] = ()
    field: Rate | None = None


def loss_shares(table: BattleTable, system: str, questions: Mapping[str, str], reference: str) -> LossShares:
    """Compute the losses of a system."""
    if not len(table):
        return LossShares()
    own = table.systems.index(system)
    kinds = [question_kind(questions.get(name, "")) for name in table.questions]
    opponent = np.where(table.a == own, table.b, table.a)
    against_systems = table.select(np.array([name != reference for name in table.systems])[opponent])
    return LossShares(
        domains=_shares(table, system, [table.domains[code] for code in table.domain]),
        kinds=_shares(table, system, [kinds[code] for code in table.question]),
        opponents=_shares(table, system, [table.systems[code] for code in opponent]),
        field=win_rates(against_systems, by_domain=False).of(system, OVERALL)
        if len(against_systems)
        else None,
    )


def _shares(table: BattleTable, system: str, names: Sequence[str]) -> tuple[LossShare, ...]:
    labels = tuple(sorted(set(names)))
    codes = {label: code for code, label in enumerate(labels)}
    grouped = replace(table, domains=labels, domain=np.array([codes[name] for name in names], dtype=np.int32))
    rates = [rate for rate in win_rates(grouped).rows if rate.system == system and rate.domain in codes]
    shares = [
        LossShare(
            name=rate.domain,
            lost=rate.losses,
            battles=rate.battles,
            share=1 - rate.win_tie_rate,
            interval=rate.win_tie_interval
            and Interval(1 - rate.win_tie_interval.upper, 1 - rate.win_tie_interval.lower),
        )
        for rate in rates
    ]
    return tuple(sorted(shares, key=lambda share: (-share.share, share.name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemProfile:
    """A system in a round.

    Attributes:
        submission: Its submission; None for the reference.
        records: Results of its battles by question, in the set's order.
        losses: Losses by domain, kind of question and opponent.
        notice: Notice on hidden texts.
    """

    system: str
    set_name: str
    submission: Submission | None
    records: tuple[QuestionRecord, ...]
    losses: LossShares
    notice: str = ""

    @property
    def best(self) -> tuple[QuestionRecord, ...]:
        """Questions with more wins than losses, clearest first."""
        won = [record for record in self.records if record.wins > record.losses]
        return tuple(sorted(won, key=lambda record: record.losses - record.wins))

    @property
    def worst(self) -> tuple[QuestionRecord, ...]:
        """Questions with more losses than wins, clearest first."""
        lost = [record for record in self.records if record.losses > record.wins]
        return tuple(sorted(lost, key=lambda record: record.wins - record.losses))


MIN_SYSTEMS, MAX_SYSTEMS = 2, 4
QUESTIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Comparison of systems with the first of them.

    `paired` has differences in win shares by other system, overall and by domain; `questions` are the most
    contested; `deciding` has the number of questions that decide each lead; `notice` is about hidden texts;
    `separated` has the significance on the round's board by other system and domain.
    """

    systems: tuple[str, ...]
    paired: Mapping[str, tuple[PairedShare, ...]]
    questions: tuple[shapes.ContestedQuestion, ...]
    battles: int
    deciding: tuple[Deciding, ...] = ()
    notice: str = ""
    separated: Mapping[tuple[str, str], bool] = field(default_factory=lambda: MappingProxyType({}))

    def between(self, round_name: str) -> shapes.Comparison:
        """Return the comparison of the first two as JSON of routes and tools."""
        first, second, *_ = self.systems
        paired = [
            shapes.PairedShare.of(share, separated=self.separated.get((second, share.domain)))
            for share in self.paired[second]
        ]
        return shapes.Comparison.of(self, round=round_name, first=first, second=second, paired=paired)

    def paired_rows(self) -> Iterator[dict[str, object]]:
        """Yield the differences as rows of a file."""
        for other, paired in self.paired.items():
            for share in paired:
                ends = asdict(share.interval) if share.interval else {"lower": None, "upper": None}
                row = {"first": self.systems[0], "second": other, **asdict(share), **ends}
                yield {
                    **{name: row[name] for name in row if name != "interval"},
                    "significant": share.significant,
                }


class SystemService:
    """Profiles and comparisons of systems."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def profile(self, round_name: str, system: str, *, caller: Caller = PUBLIC) -> SystemProfile:
        """Return a system in a round."""
        round_ = self._store.rounds.get(round_name)
        access = RoundAccess(self._store, caller, round_)
        records = self._store.question_stats.records(round_.id, system)
        if not records:
            raise NotFoundError(
                f"{system} has no battle in {round_name}.", advice="Choose a system on the leaderboard."
            )
        visible = access.texts.redact_lines(records)
        battles = table_of_columns(self._store.verdicts.columns(round_name, systems=(system,)))
        reference = self._store.submissions.reference(round_.set_name).system
        return SystemProfile(
            system=system,
            set_name=round_.set_name,
            submission=access.submission(system),
            records=visible,
            losses=loss_shares(
                battles, system, {record.id: record.question for record in visible}, reference
            ),
            notice=access.texts.notice,
        )

    def lost(
        self, round_name: str, system: str, most: int, *, caller: Caller = PUBLIC
    ) -> tuple[QuestionRecord, ...]:
        """Return the questions that a system lost most clearly."""
        round_ = self._store.rounds.get(round_name)
        records = self._store.question_stats.records(round_.id, system)
        lost = sorted(
            (row for row in records if row.losses > row.wins), key=lambda row: row.wins - row.losses
        )
        return RoundAccess(self._store, caller, round_).texts.redact_lines(tuple(lost[:most]))

    def compare(self, round_name: str, systems: Sequence[str], *, caller: Caller = PUBLIC) -> Comparison:
        """Compare systems of a round."""
        names = tuple(dict.fromkeys(systems))
        if not MIN_SYSTEMS <= len(names) <= MAX_SYSTEMS:
            raise InputError(
                f"{len(names)} systems cannot be compared.", advice="Choose two to four systems."
            )
        round_ = self._store.rounds.get(round_name)
        texts = RoundAccess(self._store, caller, round_).texts
        table = table_of_columns(self._store.verdicts.columns(round_name, systems=names))
        unjudged = [system for system in names if system not in table.systems]
        if unjudged:
            raise NotFoundError(
                f"{unjudged[0]} has no judged battle in {round_name}.",
                advice="Choose systems that are on the board.",
            )
        first, *rest = names
        spread = most_divisive(table, names, QUESTIONS)
        contested = [number for number, _ in spread]
        question_stats = texts.redact_lines(self._store.question_stats.of_round(round_.id, among=contested))
        by_id = {question.id: question for question in question_stats}
        paired = {other: paired_shares(table, first, other) for other in rest}
        return Comparison(
            systems=names,
            paired=paired,
            questions=tuple(
                shapes.ContestedQuestion(
                    id=number, domain=by_id[number].domain, question=by_id[number].question, shares=shares
                )
                for number, shares in spread
            ),
            battles=len(table),
            deciding=tuple(deciding(table, first, other) for other in rest),
            separated=self._separated(round_, first, paired),
            notice=texts.notice,
        )

    def _separated(
        self, round_: Round, first: str, paired: Mapping[str, Sequence[PairedShare]]
    ) -> Mapping[tuple[str, str], bool]:
        """Return the significance on the published board by other system and domain."""
        if self._store.boards.standing(round_.id) is None:
            return {}
        standings = self._store.boards.get(round_.name).standings
        return {
            (other, share.domain): separates(standings, first, other, share.domain)
            for other, shares in paired.items()
            for share in shares
        }
