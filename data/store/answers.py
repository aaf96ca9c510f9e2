"""Store for answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection, func, insert, select, update

from data.models import Answer, Passage, SubmissionState
from data.models.submissions import answers, question_sets, questions, submissions
from data.store.base import AnyRow, StorePart, to_record
from data.store.engine import pairs

ROWS_AT_ONCE = 2_000
SHORT = 20
"""Length below which a text may consist only of white space or punctuation."""
Item = TypeVar("Item")


class AnswerText(NamedTuple):
    """Answer's text with its question's domain; `no_answer` if it declines."""

    question_id: str
    domain: str
    text: str
    no_answer: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLength:
    """Length of an answer, and whether it declines."""

    submission: int
    question_id: str
    characters: int
    no_answer: bool


class AnswerReader(StorePart):
    """Reader of answers, which never change."""

    def answers(self, number: int) -> Mapping[str, Answer]:
        """Return a submission's answers by question id, in the order of the set, without their thinking."""
        query = (
            select(questions.c.key.label("question_id"), answers.c.text, answers.c.contexts)
            .join(questions, questions.c.id == answers.c.question_id)
            .where(answers.c.submission_id == number)
            .order_by(questions.c.position)
        )
        return {row.question_id: _answer(row) for row in self._all(query)}

    def answered(self, number: int) -> frozenset[int]:
        """Return the store's numbers of the questions that a submission answers."""
        return frozenset(self._values(select(answers.c.question_id).where(answers.c.submission_id == number)))

    def silent(self, number: int) -> Mapping[int, tuple[str, bool]]:
        """Return a submission's declining or very short texts by question, and whether each declines."""
        query = select(answers.c.question_id, answers.c.text, answers.c.no_answer).where(
            answers.c.submission_id == number, answers.c.no_answer | (func.length(answers.c.text) < SHORT)
        )
        return {question: (text, no_answer) for question, text, no_answer in self._all(query)}

    def texts(self, keys: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], str]:
        """Return the texts of the given answers by the store's numbers of submission and question."""
        sides = {submission for submission, _ in keys}
        question_ids = {question for _, question in keys}
        query = select(answers.c.submission_id, answers.c.question_id, answers.c.text).where(
            answers.c.submission_id.in_(sides), answers.c.question_id.in_(question_ids)
        )
        return {(submission, question): text for submission, question, text in self._all(query)}

    def to_question(self, set_name: str, question_id: str) -> Mapping[int, Answer]:
        """Return the answers of accepted submissions and the reference to a question, by submission.

        They include the thinking, which judges and metrics must not read.
        """
        query = (
            select(
                submissions.c.id,
                questions.c.key.label("question_id"),
                answers.c.text,
                answers.c.contexts,
                answers.c.thinking,
            )
            .join(answers, answers.c.submission_id == submissions.c.id)
            .join(questions, questions.c.id == answers.c.question_id)
            .join(question_sets, question_sets.c.id == submissions.c.set_id)
            .where(
                question_sets.c.name == set_name,
                # Redundant, but lets the database find the question by its index before it reads answers.
                questions.c.set_id == question_sets.c.id,
                questions.c.key == question_id,
                submissions.c.state == SubmissionState.ACCEPTED,
                submissions.c.kind != "contexts",
            )
        )
        return {row.id: replace(_answer(row), thinking=row.thinking or "") for row in self._all(query)}

    def domain_counts(self, number: int) -> Mapping[str, tuple[int, int]]:
        """Count the answers and declines of a submission by domain."""
        query = (
            select(questions.c.domain, func.count(), func.count().filter(answers.c.no_answer))
            .join(questions, questions.c.id == answers.c.question_id)
            .where(answers.c.submission_id == number)
            .group_by(questions.c.domain)
        )
        return {domain: (count, silent) for domain, count, silent in self._all(query)}

    def figures(self, number: int) -> Mapping[str, tuple[float | None, int]]:
        """Return the mean and the count of the reported costs of a submission's answers, by column."""
        names = ("tokens", "usd", "milliseconds")
        columns = [answers.c[name] for name in names]
        counted = [part for column in columns for part in (func.avg(column), func.count(column))]
        (row,) = self._all(select(*counted).where(answers.c.submission_id == number))
        values = [None if value is None else float(value) for value in row]
        return {name: (values[2 * at], int(values[2 * at + 1] or 0)) for at, name in enumerate(names)}

    def lengths(self, numbers: Sequence[int]) -> Iterator[AnswerLength]:
        """Yield the lengths of the submissions' answers without reading the texts."""
        query = (
            select(
                answers.c.submission_id.label("submission"),
                questions.c.key.label("question_id"),
                func.length(answers.c.text).label("characters"),
                answers.c.no_answer,
            )
            .join(questions, questions.c.id == answers.c.question_id)
            .where(answers.c.submission_id.in_(list(numbers)))
        )
        with self._database.begin() as connection:
            for row in connection.execute(query):
                yield to_record(AnswerLength, row)

    def facts(self, number: int) -> Iterator[AnswerText]:
        """Yield the texts of a submission with the facts that boards show, in the set's order."""
        query = (
            select(
                questions.c.key.label("question_id"), questions.c.domain, answers.c.text, answers.c.no_answer
            )
            .join(questions, questions.c.id == answers.c.question_id)
            .where(answers.c.submission_id == number)
            .order_by(questions.c.position)
        )
        with self._database.begin() as connection:
            for row in connection.execute(query, execution_options={"yield_per": ROWS_AT_ONCE}):
                # Boards read every answer of a round; access by name takes twice as long.
                yield AnswerText(*row)


def _answer(row: AnyRow) -> Answer:
    contexts = tuple(Passage(**context) for context in row.contexts)
    return Answer(question_id=row.question_id, answer=row.text, contexts=contexts)


def insert_answers(
    connection: Connection, set_id: int, number: int, rows: Iterable[tuple[Answer, bool]]
) -> None:
    """Write the answers of a submission in chunks, and their counts."""
    numbers = _numbers(connection, set_id)
    count = silent = 0
    for chunk in _chunks(rows, ROWS_AT_ONCE):
        connection.execute(
            insert(answers),
            [
                {
                    "submission_id": number,
                    "question_id": numbers[answer.question_id],
                    "text": answer.answer,
                    "contexts": [asdict(context) for context in answer.contexts],
                    "no_answer": no_answer,
                    "thinking": answer.thinking or None,
                    "tokens": answer.tokens,
                    "usd": answer.usd,
                    "milliseconds": answer.milliseconds,
                }
                for answer, no_answer in chunk
            ],
        )
        count += len(chunk)
        silent += sum(no_answer for _, no_answer in chunk)
    connection.execute(
        update(submissions).where(submissions.c.id == number).values(answers=count, no_answers=silent)
    )


def _numbers(connection: Connection, set_id: int) -> dict[str, int]:
    return pairs(
        connection.execute(select(questions.c.key, questions.c.id).where(questions.c.set_id == set_id))
    )


def _chunks(rows: Iterable[Item], size: int) -> Iterator[list[Item]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, size)):
        yield chunk
