"""Store for submissions and their answers."""

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
"""Values of the column `kind`; the reference of a set has `reference`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubmission:
    """Checked submission to store; `takes_over` allows it to follow another team's version."""

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
    """Write a submission without answers and return its number."""
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

    Submitted versions have consecutive numbers, so that gaps do not reveal versions that were only checked. A
    checked version with the next number is moved to the end.
    """
    same = (submissions.c.set_id == set_id, submissions.c.system == system)
    query = select(submissions.c.version, submissions.c.submitted_at).where(*same)
    versions = {version: at is not None for version, at in connection.execute(query)}
    last = max(versions, default=0)
    if not submitted:
        return last + 1
    following = max((version for version, is_submitted in versions.items() if is_submitted), default=0) + 1
    connection.execute(
        update(submissions).where(*same, submissions.c.version == following).values(version=last + 1)
    )
    return following


class SubmissionStore(AnswerReader):
    """Store for submissions."""

    def add(self, new: NewSubmission, rows: Iterable[tuple[Answer, bool]]) -> tuple[Submission, bool]:
        """Store a submission and its answers in one transaction, as the system's next version.

        Returns:
            The submission, and whether it is new; False if the system's newest version has the same content.
        """
        with unique(VERSION, conflict=lambda: _conflict(new)), self._database.begin() as connection:
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
                # Another team may have taken the name since it was checked.
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
        """Refuse a new name that looks like a reserved word or an existing name of the set."""
        with self._database.begin() as connection:
            set_id = self._set_id(connection, set_name)
            if system in self._names(connection, set_id):
                return
            if alone:
                # On SQLite, this transaction is the only writer.
                query = select(question_sets.c.id).where(question_sets.c.id == set_id)
                connection.execute(query.with_for_update(key_share=True))
            names = self._names(connection, set_id)
        if system not in names and (word := look_alike(system, RESERVED)) is not None:
            raise _unusable(f"{system!r} looks like {word!r}, which is reserved.")
        if system not in names and (other := look_alike(system, names)) is not None:
            # Names of anonymous submissions and of those that were only checked are confidential.
            label = repr(other) if names[other] else "a name that is taken"
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
        """Return submissions by set, system and version; of both kinds if `kind` is None.

        `newest` returns one accepted version per system: the selected one, else the newest.
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
        """Return a submission."""
        with self._database.begin() as connection:
            return self._by_number(connection, number)

    def versions(self, set_name: str, team: str) -> tuple[Submission, ...]:
        """Return a team's submissions to a set, oldest first."""
        query = _select().where(
            question_sets.c.name == set_name,
            submissions.c.team == team,
            submissions.c.kind.in_(_stored(None)),
        )
        return tuple(_record(row) for row in sorted(self._all(query), key=lambda row: row.id))

    def places(self, set_name: str) -> Mapping[str, int]:
        """Return the systems of a set with their numbers, from 1, in the order of first submissions."""
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
        """Return a submission, with all versions of its system locked until the transaction ends."""
        with self._database.begin() as connection:
            same = submissions.alias()
            query = (
                select(submissions.c.id)
                .join(same, (same.c.set_id == submissions.c.set_id) & (same.c.system == submissions.c.system))
                .where(same.c.id == number)
                # A fixed order of locks avoids deadlocks.
                .order_by(submissions.c.id)
                .with_for_update(of=submissions)
            )
            connection.execute(query).all()
            return self._by_number(connection, number)

    def confirm(self, number: int) -> Submission:
        """Accept a checked submission now, as the system's next version."""
        submission, at = self.get(number), now()
        with unique(VERSION, conflict=lambda: _conflict(submission)), self._database.begin() as connection:
            set_id = self._set_id(connection, submission.set_name)
            version = make_place(connection, set_id, submission.system, submitted=True)
            return self._update(
                number, state=SubmissionState.ACCEPTED, version=version, created_at=at, submitted_at=at
            )

    def withdraw(self, number: int, reason: str) -> Submission:
        """Withdraw a submission, which is kept as a tombstone."""
        return self._update(
            number,
            state=SubmissionState.WITHDRAWN,
            selected=False,
            withdrawn_at=now(),
            withdrawn_reason=reason,
        )

    def withdrawn_from(self, round_name: str) -> Mapping[str, str]:
        """Return the withdrawn systems of a round with the reasons."""
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
        """Store the warnings of a submission's check for organisers."""
        self._change(update(submissions).where(submissions.c.id == number).values(warnings=list(warnings)))

    def warnings(self, set_name: str) -> Mapping[int, tuple[str, ...]]:
        """Return the warnings for organisers by submission."""
        query = (
            select(submissions.c.id, submissions.c.warnings)
            .join(question_sets, question_sets.c.id == submissions.c.set_id)
            .where(question_sets.c.name == set_name)
        )
        return {row.id: tuple(row.warnings) for row in self._all(query) if row.warnings}

    def select(self, number: int) -> Submission:
        """Select a version of a system instead of any other."""
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
            raise NotFoundError(f"There is no submission {number}.", advice="See `arena submissions list`.")
        return _record(row)

    def _names(self, connection: Connection, set_id: int) -> Mapping[str, bool]:
        public = submissions.c.submitted_at.is_not(None) & ~submissions.c.anonymous
        query = select(submissions.c.system, func.max(case((public, 1), else_=0))).where(
            submissions.c.set_id == set_id
        )
        names = connection.execute(query.group_by(submissions.c.system).order_by(submissions.c.system))
        return {name: bool(is_public) for name, is_public in names}

    def _set_id(self, connection: Connection, name: str) -> int:
        number = connection.execute(select(question_sets.c.id).where(question_sets.c.name == name)).scalar()
        if number is None:
            raise no_set(name)
        return int(number)


def _unusable(message: str) -> ConflictError:
    return ConflictError(
        message,
        advice="Choose another name: systems of a set must not differ only in case, look-alikes or outer "
        "punctuation.",
    )


def _conflict(new: NewSubmission | Submission) -> ConflictError:
    return ConflictError(
        f"{new.system} is being submitted to {new.set_name} by another process.",
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
    """Return the error for a system with submissions of another kind."""
    return ConflictError(
        f"{system} submitted {kind} to {set_name}; a system may submit only one kind to a set.",
        advice="Choose another name for it.",
    )
