"""Submissions and their answers in the store."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Select, case, func, insert, select, update

from data.errors import ConflictError, NotFoundError
from data.models import (
    DEFAULT_PHASE,
    Answer,
    Submission,
    SubmissionKind,
    SubmissionState,
    SystemCard,
    require_system_name,
)
from data.models.base import now
from data.models.rounds import rounds
from data.models.submissions import question_sets, submissions
from data.progress import counted
from data.store.answers import AnswerReader, insert_answers
from data.store.base import AnyRow, no_set, to_record, to_row, unique
from data.store.engine import new_id
from data.system_names import RESERVED, look_alike

VERSION = (submissions.c.set_id, submissions.c.system, submissions.c.version)
STORED_AS: Mapping[SubmissionKind, str] = MappingProxyType(
    {SubmissionKind.ANSWERS: "system", SubmissionKind.CONTEXTS: "contexts"}
)
"""Stored value of each kind in the column `kind`; it is `reference` for the reference of a set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubmission:
    """A checked submission that is to be stored; `takes_over` allows it to follow another team's version."""

    set_name: str
    system: str
    team: str
    card: SystemCard
    content_hash: str
    phase: str = DEFAULT_PHASE
    anonymous: bool = False
    state: SubmissionState = SubmissionState.ACCEPTED
    takes_over: bool = False
    kind: SubmissionKind = SubmissionKind.ANSWERS

    def __post_init__(self) -> None:
        require_system_name(self.system)


def insert_submission(connection: Connection, set_id: int, version: int, new: NewSubmission) -> int:
    """Write a submission that has no answers yet, and return its number."""
    at = now()
    row = to_row(
        submissions,
        new,
        set_id=set_id,
        kind=STORED_AS[new.kind],
        version=version,
        card=asdict(new.card),
        created_at=at,
        submitted_at=at if new.state is SubmissionState.ACCEPTED else None,
    )
    return new_id(connection.execute(insert(submissions).values(row)))


def make_place(connection: Connection, set_id: int, system: str, *, submitted: bool) -> int:
    """Return the number of a system's next version.

    What is submitted follows what was submitted before, so that no gap tells of versions that never were;
    where one of those has the number, it goes to the end.
    """
    same = (submissions.c.set_id == set_id, submissions.c.system == system)
    query = select(submissions.c.version, submissions.c.submitted_at).where(*same)
    versions = {version: at is not None for version, at in connection.execute(query)}
    last = max(versions, default=0)
    if not submitted:
        return last + 1
    following = max((version for version, was in versions.items() if was), default=0) + 1
    connection.execute(
        update(submissions).where(*same, submissions.c.version == following).values(version=last + 1)
    )
    return following


class SubmissionStore(AnswerReader):
    """Adds, finds and withdraws submissions."""

    def add(self, new: NewSubmission, rows: Iterable[tuple[Answer, bool]]) -> tuple[Submission, bool]:
        """Store a submission and its answers in one transaction, as the system's next version.

        Returns:
            The submission, and whether it is new; False where the system's newest version has the
            same content.
        """
        with unique(VERSION, taken=lambda: _conflict(new)), self._database.begin() as connection:
            set_id = self._set_id(connection, new.set_name)
            self.require_distinct(new.set_name, new.system, alone=True)
            newest = connection.execute(
                select(submissions)
                .where(submissions.c.set_id == set_id, submissions.c.system == new.system)
                .order_by(submissions.c.id.desc())
            ).first()
            if newest is not None and newest.kind == "reference":
                raise ConflictError(
                    f"{new.system} is the name of the reference of {new.set_name}.",
                    advice="Choose another name for your system.",
                )
            if newest is not None and newest.team != new.team and not new.takes_over:
                # Somebody else's first version may have come since the name was found free.
                raise _conflict(new)
            if newest is not None and newest.kind != STORED_AS[new.kind]:
                raise other_kind(new.system, new.set_name, _kind(newest))
            if newest is not None and _is_repeated(newest, new):
                return self._by_number(connection, newest.id), False
            submitted = new.state is SubmissionState.ACCEPTED
            version = make_place(connection, set_id, new.system, submitted=submitted)
            number = insert_submission(connection, set_id, version, new)
            insert_answers(connection, set_id, number, counted(rows, "storing answers"))
            return self._by_number(connection, number), True

    def require_distinct(self, set_name: str, system: str, *, alone: bool = False) -> None:
        """Refuse a name that is new to a set and looks like a reserved word, or like a name that is there.

        Names that are there stay as they are, and get further versions.
        """
        with self._database.begin() as connection:
            set_id = self._set_id(connection, set_name)
            if system in self._names(connection, set_id):
                return
            if alone:
                # On SQLite, where this transaction is the only writer, nothing more is needed.
                query = select(question_sets.c.id).where(question_sets.c.id == set_id)
                connection.execute(query.with_for_update(key_share=True))
            known = self._names(connection, set_id)
        if system not in known and (word := look_alike(system, RESERVED)) is not None:
            raise _unusable(f"{system!r} looks like {word!r}, which is reserved.")
        if system not in known and (other := look_alike(system, known)) is not None:
            # What was never submitted, or is anonymous, is nobody else's to know.
            label = repr(other) if known[other] else "a name that is taken"
            raise _unusable(f"{system!r} looks like {label} on {set_name}.")

    def find(
        self,
        *,
        set_name: str | None = None,
        system: str | None = None,
        team: str | None = None,
        newest: bool = False,
        kind: SubmissionKind | None = SubmissionKind.ANSWERS,
    ) -> tuple[Submission, ...]:
        """Submissions of systems, or of a team alone, by set, system and version.

        They are of both kinds where `kind` is None.

        `newest` keeps the version that stands for each system: the selected one, else the newest, of
        those that are accepted and not withdrawn.
        """
        query = _select().where(submissions.c.kind.in_(_stored(kind)))
        if set_name is not None:
            query = query.where(question_sets.c.name == set_name)
        if system is not None:
            query = query.where(submissions.c.system == system)
        if team is not None:
            query = query.where(submissions.c.team == team)
        matching = tuple(_record(row) for row in self._all(query))
        if not newest:
            return matching
        accepted = [submission for submission in matching if submission.state is SubmissionState.ACCEPTED]
        latest: dict[tuple[str, str], Submission] = {}
        for submission in accepted:
            before = latest.get((submission.set_name, submission.system))
            if before is None or not before.selected:
                latest[submission.set_name, submission.system] = submission
        return tuple(latest.values())

    def reference(self, set_name: str) -> Submission:
        """Return the reference of a set as a submission."""
        query = _select().where(submissions.c.kind == "reference", question_sets.c.name == set_name)
        row = self._first(query)
        if row is None:
            raise no_set(set_name)
        return _record(row)

    def get(self, number: int) -> Submission:
        """One submission."""
        with self._database.begin() as connection:
            return self._by_number(connection, number)

    def versions(self, set_name: str, team: str) -> tuple[Submission, ...]:
        """Return a team's submissions to a set, in the order in which they came."""
        query = _select().where(
            question_sets.c.name == set_name,
            submissions.c.team == team,
            submissions.c.kind.in_(_stored(None)),
        )
        return tuple(_record(row) for row in sorted(self._all(query), key=lambda row: row.id))

    def places(self, set_name: str) -> Mapping[str, int]:
        """Return each system of a set with its place, from 1, in the order of first submissions."""
        query = (
            select(submissions.c.system)
            .join(question_sets, question_sets.c.id == submissions.c.set_id)
            .where(
                question_sets.c.name == set_name,
                submissions.c.kind.in_(_stored(None)),
                submissions.c.submitted_at.is_not(None),
            )
            .group_by(submissions.c.system)
            .order_by(func.min(submissions.c.submitted_at), func.min(submissions.c.id))
        )
        return {name: place for place, name in enumerate(self._values(query), start=1)}

    def locked(self, number: int) -> Submission:
        """One submission; its system's versions are locked until this transaction ends.

        On SQLite, where a transaction opened by `together` is the only writer, nothing more is needed.
        """
        with self._database.begin() as connection:
            same = submissions.alias()
            query = (
                select(submissions.c.id)
                .join(same, (same.c.set_id == submissions.c.set_id) & (same.c.system == submissions.c.system))
                .where(same.c.id == number)
                # In one order, so that two who lock cannot wait for each other.
                .order_by(submissions.c.id)
                .with_for_update(of=submissions)
            )
            connection.execute(query).all()
            return self._by_number(connection, number)

    def confirm(self, number: int) -> Submission:
        """Accept a submission that was only checked, as the system's next version, at this moment."""
        submission, at = self.get(number), now()
        with unique(VERSION, taken=lambda: _conflict(submission)), self._database.begin() as connection:
            set_id = self._set_id(connection, submission.set_name)
            version = make_place(connection, set_id, submission.system, submitted=True)
            return self._update(
                number, state=SubmissionState.ACCEPTED, version=version, created_at=at, submitted_at=at
            )

    def withdraw(self, number: int, reason: str) -> Submission:
        """Withdraw a submission; it stays as a tombstone."""
        return self._update(
            number,
            state=SubmissionState.WITHDRAWN,
            selected=False,
            withdrawn_at=now(),
            withdrawn_reason=reason,
        )

    def withdrawn_from(self, round_name: str) -> Mapping[str, str]:
        """Systems of a round that were withdrawn, with the reasons."""
        query = (
            select(submissions.c.system, submissions.c.version, submissions.c.withdrawn_reason, rounds.c.plan)
            .join(rounds, rounds.c.set_id == submissions.c.set_id)
            .where(rounds.c.name == round_name, submissions.c.state == SubmissionState.WITHDRAWN)
            .order_by(submissions.c.system)
        )
        return {
            row.system: row.withdrawn_reason
            for row in self._all(query)
            if row.plan["systems"].get(row.system) == row.version
        }

    def keep_warnings(self, number: int, warnings: Sequence[str]) -> None:
        """Store what the check of a submission warns organisers of."""
        self._change(update(submissions).where(submissions.c.id == number).values(warnings=list(warnings)))

    def warnings(self, set_name: str) -> Mapping[int, tuple[str, ...]]:
        """Warnings for organisers by number of the submission; those without any are left out."""
        query = (
            select(submissions.c.id, submissions.c.warnings)
            .join(question_sets, question_sets.c.id == submissions.c.set_id)
            .where(question_sets.c.name == set_name)
        )
        return {row.id: tuple(row.warnings) for row in self._all(query) if row.warnings}

    def select(self, number: int) -> Submission:
        """Make a version the one that stands for its system, in place of any other."""
        submission = self.get(number)
        with self._database.begin() as connection:
            connection.execute(
                update(submissions)
                .where(
                    submissions.c.set_id == self._set_id(connection, submission.set_name),
                    submissions.c.system == submission.system,
                )
                .values(selected=submissions.c.id == number)
            )
        return self.get(number)

    def _update(self, number: int, **values: object) -> Submission:
        with self._database.begin() as connection:
            self._by_number(connection, number)
            connection.execute(update(submissions).where(submissions.c.id == number).values(**values))
            return self._by_number(connection, number)

    def _by_number(self, connection: Connection, number: int) -> Submission:
        row = connection.execute(_select().where(submissions.c.id == number)).first()
        if row is None:
            raise NotFoundError(
                f"There is no submission {number}.", advice="`arena submissions list` names them."
            )
        return _record(row)

    def _names(self, connection: Connection, set_id: int) -> Mapping[str, bool]:
        """Every name of a set, that of its reference included, and whether others may see it."""
        open_to_all = submissions.c.submitted_at.is_not(None) & ~submissions.c.anonymous
        query = select(submissions.c.system, func.max(case((open_to_all, 1), else_=0))).where(
            submissions.c.set_id == set_id
        )
        names = connection.execute(query.group_by(submissions.c.system).order_by(submissions.c.system))
        return {name: bool(is_open) for name, is_open in names}

    def _set_id(self, connection: Connection, name: str) -> int:
        number = connection.execute(select(question_sets.c.id).where(question_sets.c.name == name)).scalar()
        if number is None:
            raise no_set(name)
        return int(number)


def _unusable(message: str) -> ConflictError:
    return ConflictError(
        message,
        advice="Choose another name: no two systems of a set may differ in case, look-alikes or outer "
        "punctuation alone.",
    )


def _conflict(new: NewSubmission | Submission) -> ConflictError:
    return ConflictError(
        f"{new.system} is being submitted to {new.set_name} by somebody else.",
        advice="Try again in a moment.",
    )


def _is_repeated(newest: AnyRow, new: NewSubmission) -> bool:
    return bool(newest.content_hash == new.content_hash and newest.state != SubmissionState.WITHDRAWN)


def _select() -> Select[Any]:
    return (
        select(submissions, question_sets.c.name.label("set_name"))
        .join(question_sets, question_sets.c.id == submissions.c.set_id)
        .order_by(question_sets.c.name, submissions.c.system, submissions.c.version)
    )


def _record(row: AnyRow) -> Submission:
    return to_record(Submission, row, card=SystemCard(**row.card), kind=_kind(row))


def _kind(row: AnyRow) -> SubmissionKind:
    contexts = SubmissionKind.CONTEXTS
    return contexts if row.kind == STORED_AS[contexts] else SubmissionKind.ANSWERS


def _stored(kind: SubmissionKind | None) -> list[str]:
    return list(STORED_AS.values()) if kind is None else [STORED_AS[kind]]


def other_kind(system: str, set_name: str, kind: SubmissionKind) -> ConflictError:
    """Return the error for a system that submitted another kind."""
    return ConflictError(
        f"{system} submitted {kind} to {set_name}, and a system submits one kind to a set.",
        advice="Choose another name for it.",
    )
