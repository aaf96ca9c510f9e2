"""Submissions and their answers in the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Row, Select, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from data.errors import ConflictError, NotFoundError
from data.records import Answer, Passage, Submission, SubmissionState, SystemCard
from data.store.database import Database, new_id
from data.store.moments import as_utc, now
from data.tables import answers, question_sets, questions, submissions

CHUNK = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubmission:
    """A checked submission that is to be stored."""

    set_name: str
    system: str
    team: str
    card: SystemCard
    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerText:
    """An answer's text with its question's domain; `no_answer` where it says that none was found."""

    question_id: str
    domain: str
    text: str
    no_answer: bool


class SubmissionStore:
    """Adds, finds and withdraws submissions. Their answers never change."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, new: NewSubmission, rows: Iterable[tuple[Answer, bool]]) -> tuple[Submission, bool]:
        """Store a submission and its answers in one transaction, as the system's next version.

        Args:
            new: What the submission is.
            rows: Each answer, and whether it is a "no answer"; question ids must be the set's.

        Returns:
            The submission, and whether it is new; False where the system's newest version has the
            same content.

        Raises:
            ConflictError: The system's name is the reference's, or two were added at once.
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
                if newest is not None and _is_repeated(newest, new):
                    return self._one(connection, newest.id), False
                version = 1 if newest is None else newest.version + 1
                number = _insert_submission(connection, set_id, version, new)
                _insert_answers(connection, set_id, number, rows)
                return self._one(connection, number), True
        except IntegrityError as error:
            raise ConflictError(
                f"{new.system} is being submitted to {new.set_name} by somebody else.",
                advice="Try again in a moment.",
            ) from error

    def find(
        self, *, set_name: str | None = None, system: str | None = None, newest: bool = False
    ) -> tuple[Submission, ...]:
        """Submissions of systems by set, system and version; `newest` keeps one a system, not withdrawn."""
        query = _select().where(submissions.c.kind == "system")
        if set_name is not None:
            query = query.where(question_sets.c.name == set_name)
        if system is not None:
            query = query.where(submissions.c.system == system)
        with self._database.begin() as connection:
            found = tuple(_record(row) for row in connection.execute(query))
        if not newest:
            return found
        live = [submission for submission in found if submission.state is not SubmissionState.WITHDRAWN]
        latest = {(submission.set_name, submission.system): submission for submission in live}
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
            raise NotFoundError(
                f"There is no question set {set_name!r}.", advice="`arena sets list` names them."
            )
        return _record(row)

    def get(self, number: int) -> Submission:
        """One submission.

        Raises:
            NotFoundError: No submission has this number.
        """
        with self._database.begin() as connection:
            return self._one(connection, number)

    def answers(self, number: int) -> Mapping[str, Answer]:
        """The answers of a submission by question id, in the order of the set."""
        query = (
            select(questions.c.key, answers.c.text, answers.c.contexts)
            .join(questions, questions.c.id == answers.c.question_id)
            .where(answers.c.submission_id == number)
            .order_by(questions.c.position)
        )
        with self._database.begin() as connection:
            return {row.key: _answer(row) for row in connection.execute(query)}

    def answered(self, number: int) -> frozenset[int]:
        """The store's numbers of the questions that a submission answers."""
        query = select(answers.c.question_id).where(answers.c.submission_id == number)
        with self._database.begin() as connection:
            return frozenset(connection.execute(query).scalars())

    def texts(self, wanted: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], str]:
        """The texts of some answers by the store's numbers of submission and question."""
        sides = {submission for submission, _ in wanted}
        asked = {question for _, question in wanted}
        query = select(answers.c.submission_id, answers.c.question_id, answers.c.text).where(
            answers.c.submission_id.in_(sides), answers.c.question_id.in_(asked)
        )
        with self._database.begin() as connection:
            return {(row[0], row[1]): row[2] for row in connection.execute(query)}

    def to_question(self, set_name: str, question_id: str) -> Mapping[int, Answer]:
        """The answers that live submissions (the reference too) gave to a question, by submission."""
        query = (
            select(submissions.c.id, questions.c.key, answers.c.text, answers.c.contexts)
            .join(answers, answers.c.submission_id == submissions.c.id)
            .join(questions, questions.c.id == answers.c.question_id)
            .join(question_sets, question_sets.c.id == submissions.c.set_id)
            .where(
                question_sets.c.name == set_name,
                questions.c.key == question_id,
                submissions.c.state != SubmissionState.WITHDRAWN,
            )
        )
        with self._database.begin() as connection:
            return {row.id: _answer(row) for row in connection.execute(query)}

    def domain_counts(self, number: int) -> Mapping[str, tuple[int, int]]:
        """Answers and "no answers" of a submission by domain."""
        query = (
            select(
                questions.c.domain,
                func.count(),
                func.count().filter(answers.c.no_answer),
            )
            .join(questions, questions.c.id == answers.c.question_id)
            .where(answers.c.submission_id == number)
            .group_by(questions.c.domain)
        )
        with self._database.begin() as connection:
            return {domain: (count, silent) for domain, count, silent in connection.execute(query)}

    def facts(self, number: int) -> Iterator[AnswerText]:
        """Yield the texts of a submission with what else a board tells of them, in the set's order."""
        query = (
            select(questions.c.key, questions.c.domain, answers.c.text, answers.c.no_answer)
            .join(questions, questions.c.id == answers.c.question_id)
            .where(answers.c.submission_id == number)
            .order_by(questions.c.position)
        )
        with self._database.begin() as connection:
            for row in connection.execute(query):
                yield AnswerText(
                    question_id=row.key, domain=row.domain, text=row.text, no_answer=row.no_answer
                )

    def set_state(self, number: int, state: SubmissionState) -> Submission:
        """Put a submission into another state.

        Raises:
            NotFoundError: No submission has this number.
        """
        with self._database.begin() as connection:
            self._one(connection, number)
            connection.execute(update(submissions).where(submissions.c.id == number).values(state=state))
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
    )


def _answer(row: Row[*tuple[Any, ...]]) -> Answer:
    contexts = tuple(Passage(**context) for context in row.contexts)
    return Answer(question_id=row.key, answer=row.text, contexts=contexts)


def _insert_submission(connection: Connection, set_id: int, version: int, new: NewSubmission) -> int:
    result = connection.execute(
        insert(submissions).values(
            set_id=set_id,
            kind="system",
            system=new.system,
            team=new.team,
            version=version,
            state=SubmissionState.ACCEPTED,
            card=asdict(new.card),
            content_hash=new.content_hash,
            answers=0,
            no_answers=0,
            created_at=now(),
        )
    )
    return new_id(result)


def _insert_answers(
    connection: Connection, set_id: int, number: int, rows: Iterable[tuple[Answer, bool]]
) -> None:
    numbers: dict[str, int] = {
        key: question
        for question, key in connection.execute(
            select(questions.c.id, questions.c.key).where(questions.c.set_id == set_id)
        )
    }
    count = silent = 0
    for chunk in _chunks(rows):
        connection.execute(
            insert(answers),
            [
                {
                    "submission_id": number,
                    "question_id": numbers[answer.question_id],
                    "text": answer.answer,
                    "contexts": [asdict(context) for context in answer.contexts],
                    "no_answer": no_answer,
                }
                for answer, no_answer in chunk
            ],
        )
        count += len(chunk)
        silent += sum(no_answer for _, no_answer in chunk)
    connection.execute(
        update(submissions).where(submissions.c.id == number).values(answers=count, no_answers=silent)
    )


def _chunks(rows: Iterable[tuple[Answer, bool]]) -> Iterator[list[tuple[Answer, bool]]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk
