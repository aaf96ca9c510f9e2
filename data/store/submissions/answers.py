"""Answers in the store, read by submission or question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import func, select

from data.records import Answer, Passage, SubmissionState
from data.store.base import AnyRow, StorePart, to_record
from data.tables import answers, question_sets, questions, submissions


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerText:
    """An answer's text with its question's domain; `no_answer` where it says that none was found."""

    question_id: str
    domain: str
    text: str
    no_answer: bool


class AnswerReader(StorePart):
    """Reads answers. They never change."""

    def answers(self, number: int) -> Mapping[str, Answer]:
        """The answers of a submission by question id, in the order of the set, without their thinking."""
        query = (
            select(questions.c.key.label("question_id"), answers.c.text, answers.c.contexts)
            .join(questions, questions.c.id == answers.c.question_id)
            .where(answers.c.submission_id == number)
            .order_by(questions.c.position)
        )
        return {row.question_id: _answer(row) for row in self._all(query)}

    def answered(self, number: int) -> frozenset[int]:
        """The store's numbers of the questions that a submission answers."""
        return frozenset(self._values(select(answers.c.question_id).where(answers.c.submission_id == number)))

    def silent(self, number: int) -> frozenset[int]:
        """The store's numbers of the questions on which a submission says that it has no answer."""
        query = select(answers.c.question_id).where(answers.c.submission_id == number, answers.c.no_answer)
        return frozenset(self._values(query))

    def texts(self, wanted: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], str]:
        """The texts of some answers by the store's numbers of submission and question."""
        sides = {submission for submission, _ in wanted}
        question_ids = {question for _, question in wanted}
        query = select(answers.c.submission_id, answers.c.question_id, answers.c.text).where(
            answers.c.submission_id.in_(sides), answers.c.question_id.in_(question_ids)
        )
        return {(submission, question): text for submission, question, text in self._all(query)}

    def to_question(self, set_name: str, question_id: str) -> Mapping[int, Answer]:
        """The answers that live submissions (the reference too) gave to a question, by submission.

        They alone come with their thinking: whatever judges or scores reads answers elsewhere.
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
                questions.c.key == question_id,
                submissions.c.state == SubmissionState.ACCEPTED,
            )
        )
        return {row.id: replace(_answer(row), thinking=row.thinking or "") for row in self._all(query)}

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
        return {domain: (count, silent) for domain, count, silent in self._all(query)}

    def facts(self, number: int) -> Iterator[AnswerText]:
        """Yield the texts of a submission with what else a board tells of them, in the set's order."""
        query = (
            select(
                questions.c.key.label("question_id"),
                questions.c.domain,
                answers.c.text,
                answers.c.no_answer,
            )
            .join(questions, questions.c.id == answers.c.question_id)
            .where(answers.c.submission_id == number)
            .order_by(questions.c.position)
        )
        with self._database.begin() as connection:
            for row in connection.execute(query):
                yield to_record(AnswerText, row)


def _answer(row: AnyRow) -> Answer:
    contexts = tuple(Passage(**context) for context in row.contexts)
    return Answer(question_id=row.question_id, answer=row.text, contexts=contexts)
