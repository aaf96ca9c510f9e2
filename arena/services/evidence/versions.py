"""Two judged versions of one system: on which questions the newer one takes more, and on which less."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.accounts.redaction import submission_visibility
from arena.services.accounts.visibility import Visibility
from arena.services.rounds.battle_table import table_of_columns
from arena.services.rounds.visibility import RoundAccess
from arena.services.submissions.eligibility import no_submission
from arena.services.submissions.status import ENDED, rounds_with
from arena.services.submissions.version_names import LAST, VERSIONS, number_in
from data.errors import ConflictError, InputError, NotFoundError, RetractedError
from data.records import Round, RoundState, Submission
from data.records.plain import to_json
from data.store import Store
from data.store.rounds.question_stats import QuestionRecord
from data.store.submissions.submission_status import RoundOfSet
from leaderboard.battles import BattleTable, joined
from leaderboard.paired import PairedShare, paired_shares, question_differences

PAIRED = (
    "Mean difference of the share of the win (a tie counts half) on questions that both versions answered "
    "against the same opponents, with 95 % t intervals over questions."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedVersion:
    """A version of a system in a round that judged it."""

    submission: int
    version: int
    round_name: str
    judge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedQuestion:
    """A question on which two versions fare differently; `difference` is new less old, −1 to 1."""

    id: str
    domain: str
    question: str
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionChange:
    """What changed from one version of a system to another, against the same opponents.

    Attributes:
        new: The newer version.
        old: The older one.
        same_judge: Whether one judge judged both, with the same settings.
        opponents: Whom both met in one version.
        left_out: Opponents that the rounds judged in different versions; they count nowhere.
        shares: The paired difference of their shares of the win, new less old, overall and by domain.
        won: Questions on which the new version takes more, the clearest first.
        lost: Those on which it takes less.
    """

    system: str
    set_name: str
    new: JudgedVersion
    old: JudgedVersion
    same_judge: bool
    opponents: tuple[str, ...]
    left_out: tuple[str, ...]
    shares: tuple[PairedShare, ...]
    won: tuple[ChangedQuestion, ...]
    lost: tuple[ChangedQuestion, ...]

    @property
    def overall(self) -> PairedShare:
        """The difference over all questions."""
        return self.shares[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """What readers must know of the figures."""
        notes = [PAIRED]
        if not self.same_judge:
            judges = dict.fromkeys((self.old.judge, self.new.judge))
            told = " and ".join(judges) if len(judges) > 1 else f"{self.new.judge} in two versions"
            notes.append(f"They had different judges ({told}): the difference is theirs too.")
        if self.left_out:
            names = ", ".join(self.left_out)
            notes.append(f"Left out, since the rounds judged different versions of them: {names}.")
        return tuple(notes)

    def as_json(self) -> dict[str, Any]:
        """What `arena submissions report --changes --json` prints; differences are shares, −1 to 1."""
        fields = to_json(self)
        return {**fields, "notes": list(self.notes)}


def judged_round(store: Store, submission: Submission, name: str | None, caller: Caller) -> Round:
    """The newest judged round that has a submission, or the named one; a team reads of published ones.

    Raises:
        ConflictError: It was judged in no round that the caller may see.
        RetractedError: The boards that it is on were retracted, and the caller is no organiser.
    """
    rounds = rounds_with(submission, store.statuses.rounds_of(submission.set_name))
    asked = [round_ for round_ in rounds if round_.state in ENDED and name in {None, round_.name}]
    retracted = [round_ for round_ in asked if round_.state is RoundState.RETRACTED]
    standing = [round_ for round_ in asked if round_.published and round_ not in retracted]
    readable = [round_.name for round_ in (asked if caller.organiser else standing)]
    if not readable and retracted:
        raise RetractedError(retracted[-1].name, retracted[-1].notice)
    if not readable:
        raise ConflictError(
            f"Submission {submission.id} has no report yet.", advice="It comes with the published round."
        )
    return store.rounds.get(readable[-1])


class VersionService:
    """Use cases of readers who ask what changed since an earlier version."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def earlier(self, round_name: str, system: str, *, caller: Caller = PUBLIC) -> tuple[JudgedVersion, ...]:
        """The earlier versions of a system that were judged, the newest first.

        Each in the newest round that the caller may see, one of the same judge where there is one.

        Raises:
            NotFoundError: There is no such round that the caller may see.
        """
        round_ = self._store.rounds.get(round_name)
        RoundAccess(self._store, caller, round_)
        number = dict(round_.plan["systems"]).get(system)
        if number is None:
            return ()
        return tuple(
            self._judged(version, found)
            for version in reversed(self._versions(round_.set_name, system))
            if version.version < number and (found := self._round_of(version, round_, caller)) is not None
        )

    def compare(
        self, round_name: str, system: str, *, against: str = LAST, caller: Caller = PUBLIC
    ) -> VersionChange:
        """Compare the version of a system in a round with an earlier one.

        Args:
            round_name: The round that judged the newer version.
            system: The system.
            against: The older version: `last`, its number, or `id:` and the number of its submission.
            caller: Who asks.

        Raises:
            NotFoundError: No such round that the caller may see, or no such version was judged before.
            InputError: `against` names no version, or the two met no opponent on a question in common.
        """
        round_ = self._store.rounds.get(round_name)
        earlier = self.earlier(round_name, system, caller=caller)
        if against != LAST:
            number, by_id = number_in(against), against.startswith("id:")
            earlier = tuple(one for one in earlier if number == (one.submission if by_id else one.version))
        if not earlier:
            named = "earlier version" if against == LAST else f"earlier version {against}"
            raise NotFoundError(f"No {named} of {system} was judged on {round_.set_name}.", advice=VERSIONS)
        entrant = next(
            version
            for version in self._versions(round_.set_name, system)
            if version.version == round_.plan["systems"][system]
        )
        return self._compared(round_, self._judged(entrant, round_), earlier[0], system, caller)

    def of_submission(
        self, number: int, *, against: str = LAST, round_name: str | None = None, caller: Caller
    ) -> VersionChange:
        """Compare a judged submission with an earlier version of its system.

        Raises:
            NotFoundError: No submission has this number, or it is not for the caller; or as `compare`.
            ConflictError: It is withdrawn, or not judged in a round that the caller may see.
            InputError, RetractedError: As `compare` and `judged_round`.
        """
        submission = self._store.submissions.get(number)
        rounds = rounds_with(submission, self._store.statuses.rounds_of(submission.set_name))
        published = any(round_.published for round_ in rounds)
        visibility = submission_visibility(caller, submission, published=published)
        if visibility is Visibility.TOMBSTONE:
            raise ConflictError(f"Submission {number} is withdrawn.", advice="Choose another version.")
        if visibility is not Visibility.FULL:
            raise no_submission(number)
        round_ = judged_round(self._store, submission, round_name, caller)
        return self.compare(round_.name, submission.system, against=against, caller=caller)

    def _versions(self, set_name: str, system: str) -> Sequence[Submission]:
        return self._store.submissions.find(set_name=set_name, system=system)

    def _round_of(self, version: Submission, beside: Round, caller: Caller) -> Round | None:
        """The round that tells most of a version: of the same judge, then the newest."""
        rounds = [
            self._store.rounds.get(round_.name)
            for round_ in rounds_with(version, self._store.statuses.rounds_of(version.set_name))
            if _stands(round_, caller)
        ]
        of_set = [round_ for round_ in rounds if round_.plan["set_hash"] == beside.plan["set_hash"]]
        alike = [round_ for round_ in of_set if round_.judge == beside.judge]
        return next(reversed(alike or of_set), None)

    def _judged(self, version: Submission, round_: Round) -> JudgedVersion:
        return JudgedVersion(
            submission=version.id,
            version=version.version,
            round_name=round_.name,
            judge=round_.judge_name,
        )

    def _compared(
        self, round_: Round, new: JudgedVersion, old: JudgedVersion, system: str, caller: Caller
    ) -> VersionChange:
        before = self._store.rounds.get(old.round_name)
        versions = [dict(one.plan["systems"]) for one in (round_, before)]
        both = set(versions[0]) & set(versions[1]) - {system}
        left_out = {name for name in both if versions[0][name] != versions[1][name]}
        names = (f"{system}, version {new.version}", f"{system}, version {old.version}")
        tables = [
            _own_battles(table_of_columns(self._store.verdicts.columns(one.name)), system, name, left_out)
            for one, name in zip((round_, before), names, strict=True)
        ]
        common = _opponents(tables[0], names[0]) & _opponents(tables[1], names[1])
        table = joined(tables)
        differences = question_differences(table, *names)
        if not differences:
            raise InputError(
                f"Versions {old.version} and {new.version} of {system} met no opponent on the same question.",
                advice="Name another version that was judged against the same opponents.",
            )
        seen = RoundAccess(self._store, caller, round_)
        records = seen.texts.records(self._store.question_stats.records(round_.id, system))
        return VersionChange(
            system=system,
            set_name=round_.set_name,
            new=new,
            old=old,
            same_judge=round_.judge == before.judge,
            opponents=tuple(sorted(common)),
            left_out=tuple(sorted(left_out)),
            shares=paired_shares(table, *names),
            won=_changed(records, differences, sign=1),
            lost=_changed(records, differences, sign=-1),
        )


def _own_battles(table: BattleTable, system: str, name: str, left_out: Collection[str]) -> BattleTable:
    """The battles of a system, under another name, without some opponents."""
    if system not in table.systems:
        return table.select(np.zeros(len(table), dtype=bool))
    own = table.systems.index(system)
    gone = [code for code, other in enumerate(table.systems) if other in left_out]
    rows = ((table.a == own) | (table.b == own)) & ~np.isin(table.a, gone) & ~np.isin(table.b, gone)
    renamed = tuple(name if code == own else other for code, other in enumerate(table.systems))
    return replace(table.select(rows), systems=renamed)


def _opponents(table: BattleTable, name: str) -> set[str]:
    met = {table.systems[code] for side in (table.a, table.b) for code in np.unique(side)}
    return met - {name}


def _changed(
    records: Iterable[QuestionRecord], differences: Mapping[str, float], *, sign: int
) -> tuple[ChangedQuestion, ...]:
    """Questions whose difference has a sign, the clearest first."""
    changed = [
        ChangedQuestion(
            id=record.id, domain=record.domain, question=record.question, difference=differences[record.id]
        )
        for record in records
        if sign * differences.get(record.id, 0.0) > 0
    ]
    return tuple(sorted(changed, key=lambda one: -abs(one.difference)))


def _stands(round_: RoundOfSet, caller: Caller) -> bool:
    """Whether a caller may read a judged round."""
    if caller.organiser:
        return round_.state in ENDED
    return round_.published and round_.state is not RoundState.RETRACTED
