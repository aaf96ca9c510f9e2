"""Submissions and their answers in the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select, update
from sqlalchemy.exc import IntegrityError

from data.errors import ConflictError, NotFoundError
from data.records import Answer, Submission, SubmissionState, SystemCard
from data.store.answers import AnswerReader
from data.store.moments import as_utc, now
from data.store.new_submissions import NewSubmission, insert_answers, insert_submission
from data.tables import question_sets, submissions


class SubmissionStore(AnswerReader):
    """Adds, finds and withdraws submissions."""

    def add(self, new: NewSubmission, rows: Iterable[tuple[Answer, bool]]) -> tuple[Submission, bool]:
        """Store a submission and its answers in one transaction, as the system's next version.

        Args:
            new: What the submission is.
            rows: Each answer, and whether it is a "no answer"; question ids must be the set's.

        Returns:
            The submission, and whether it is new; False where the system's newest version has the
            same content.

        Raises:
            ConflictError: The system's name is the reference's or another team's, or two were added at once.
            NotFoundError: There is no such set.
        """
        try:
            with self._database.begin() as connection:
                set_id = self._set_id(connection, new.set_name)
                newest = connection.execute(
                    select(submissions)
                    .where(submissions.c.set_id == set_id, submissions.c.system == new.system)
                    .order_by(submissions.c.version.desc())
                ).first()
                if newest is not None and newest.kind == "reference":
                    raise ConflictError(
                        f"{new.system} is the name of the reference of {new.set_name}.",
                        advice="Choose another name for your system.",
                    )
                if newest is not None and newest.team != new.team and not new.takes_over:
                    # Somebody else's first version may have come since the name was found free.
                    raise _taken(new)
                if newest is not None and _is_repeated(newest, new):
                    return self._one(connection, newest.id), False
                version = 1 if newest is None else newest.version + 1
                number = insert_submission(connection, set_id, version, new)
                insert_answers(connection, set_id, number, rows)
                return self._one(connection, number), True
        except IntegrityError as error:
            raise _taken(new) from error

    def find(
        self, *, set_name: str | None = None, system: str | None = None, newest: bool = False
    ) -> tuple[Submission, ...]:
        """Submissions of systems by set, system and version.

        `newest` keeps the version that stands for each system: the selected one, else the newest, of
        those that are accepted and not withdrawn.
        """
        query = _select().where(submissions.c.kind == "system")
        if set_name is not None:
            query = query.where(question_sets.c.name == set_name)
        if system is not None:
            query = query.where(submissions.c.system == system)
        with self._database.begin() as connection:
            found = tuple(_record(row) for row in connection.execute(query))
        if not newest:
            return found
        live = [submission for submission in found if submission.state is SubmissionState.ACCEPTED]
        latest: dict[tuple[str, str], Submission] = {}
        for submission in live:
            before = latest.get((submission.set_name, submission.system))
            if before is None or not before.selected:
                latest[submission.set_name, submission.system] = submission
        return tuple(latest.values())

    def reference(self, set_name: str) -> Submission:
        """The reference of a set as a submission.

        Raises:
            NotFoundError: There is no such set.
        """
        query = _select().where(submissions.c.kind == "reference", question_sets.c.name == set_name)
        with self._database.begin() as connection:
            row = connection.execute(query).first()
        if row is None:
            raise _no_set(set_name)
        return _record(row)

    def get(self, number: int) -> Submission:
        """One submission.

        Raises:
            NotFoundError: No submission has this number.
        """
        with self._database.begin() as connection:
            return self._one(connection, number)

    def versions(self, set_name: str, team: str) -> tuple[Submission, ...]:
        """A team's submissions to a set, in the order in which they came."""
        query = _select().where(
            question_sets.c.name == set_name, submissions.c.team == team, submissions.c.kind == "system"
        )
        with self._database.begin() as connection:
            found = tuple(_record(row) for row in connection.execute(query))
        return tuple(sorted(found, key=lambda one: one.id))

    def places(self, set_name: str) -> Mapping[str, int]:
        """Each system of a set with its place, from 1, in the order in which systems first came."""
        query = (
            select(submissions.c.system)
            .join(question_sets, question_sets.c.id == submissions.c.set_id)
            .where(question_sets.c.name == set_name, submissions.c.kind == "system")
            .group_by(submissions.c.system)
            .order_by(func.min(submissions.c.id))
        )
        with self._database.begin() as connection:
            return {name: at for at, name in enumerate(connection.execute(query).scalars(), start=1)}

    def locked(self, number: int) -> Submission:
        """One submission; nobody else changes its system's versions until this transaction ends.

        On SQLite, where a transaction opened by `together` is the only writer, nothing more is needed.

        Raises:
            NotFoundError: No submission has this number.
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
            return self._one(connection, number)

    def confirm(self, number: int) -> Submission:
        """Accept a submission that was only checked; its moment is that of the acceptance."""
        return self._change(number, state=SubmissionState.ACCEPTED, created_at=now())

    def withdraw(self, number: int, reason: str) -> Submission:
        """Withdraw a submission; it stays as a tombstone."""
        return self._change(
            number,
            state=SubmissionState.WITHDRAWN,
            selected=False,
            withdrawn_at=now(),
            withdrawn_reason=reason,
        )

    def select(self, number: int) -> Submission:
        """Make a version the one that stands for its system, in place of any other."""
        one = self.get(number)
        with self._database.begin() as connection:
            connection.execute(
                update(submissions)
                .where(
                    submissions.c.set_id == self._set_id(connection, one.set_name),
                    submissions.c.system == one.system,
                )
                .values(selected=submissions.c.id == number)
            )
        return self.get(number)

    def _change(self, number: int, **values: object) -> Submission:
        with self._database.begin() as connection:
            self._one(connection, number)
            connection.execute(update(submissions).where(submissions.c.id == number).values(**values))
            return self._one(connection, number)

    def _one(self, connection: Connection, number: int) -> Submission:
        row = connection.execute(_select().where(submissions.c.id == number)).first()
        if row is None:
            raise NotFoundError(
                f"There is no submission {number}.", advice="`arena submissions list` names them."
            )
        return _record(row)

    def _set_id(self, connection: Connection, name: str) -> int:
        number = connection.execute(select(question_sets.c.id).where(question_sets.c.name == name)).scalar()
        if number is None:
            raise _no_set(name)
        return int(number)


def _taken(new: NewSubmission) -> ConflictError:
    return ConflictError(
        f"{new.system} is being submitted to {new.set_name} by somebody else.",
        advice="Try again in a moment.",
    )


def _no_set(name: str) -> NotFoundError:
    return NotFoundError(f"There is no question set {name!r}.", advice="`arena sets list` names them.")


def _is_repeated(newest: Row[*tuple[Any, ...]], new: NewSubmission) -> bool:
    return bool(newest.content_hash == new.content_hash and newest.state != SubmissionState.WITHDRAWN)


def _select() -> Select[Any]:
    return (
        select(submissions, question_sets.c.name.label("set_name"))
        .join(question_sets, question_sets.c.id == submissions.c.set_id)
        .order_by(question_sets.c.name, submissions.c.system, submissions.c.version)
    )


def _record(row: Row[*tuple[Any, ...]]) -> Submission:
    return Submission(
        id=row.id,
        set_name=row.set_name,
        system=row.system,
        team=row.team,
        version=row.version,
        state=SubmissionState(row.state),
        card=SystemCard(**row.card),
        content_hash=row.content_hash,
        answers=row.answers,
        no_answers=row.no_answers,
        created_at=as_utc(row.created_at),
        phase=row.phase,
        anonymous=row.anonymous,
        selected=row.selected,
        withdrawn_at=None if row.withdrawn_at is None else as_utc(row.withdrawn_at),
        withdrawn_reason=row.withdrawn_reason,
    )
