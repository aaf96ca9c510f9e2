"""Store for scores of answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import compress, islice
from typing import Annotated, Any

from pydantic import Field
from sqlalchemy import ColumnElement, Exists, Select, Text, delete, exists, func, insert, or_, select, true

from data.citations import citations
from data.models import EMBEDDED_ENGINE, ENGINE, MetricItem, Outcome, Passage, Question, Score
from data.models.submissions import answers, question_sets, questions, scores, submissions
from data.plugins import CODE, PluginKind, code_of
from data.store.base import AnyRow, StorePart, to_record, to_row

EMBEDDED = ""
"""Judge of scores without an LLM."""
ANSWERS_AT_ONCE = 500
NO_CONTEXTS = "[]"
"""Empty list in the database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredAnswer:
    """Score with fields of its answer, which the JSON omits."""

    submission: Annotated[int, Field(exclude=True)]
    system: Annotated[str, Field(exclude=True)]
    question_id: Annotated[str, Field(exclude=True)]
    domain: Annotated[str, Field(exclude=True)]
    metric: str
    judge: str
    outcome: Outcome
    score: float | None
    details: Mapping[str, Any]

    def as_score(self) -> Score:
        """Return the score of the metric, with the question's id."""
        return Score(
            id=self.question_id,
            metric=self.metric,
            outcome=self.outcome,
            score=self.score,
            details=self.details,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerKey:
    """Answer by the store's number, system and question."""

    number: int
    system: str
    question_id: str


class ScoreStore(StorePart):
    """Store for scores, one per answer, metric and judge.

    A score of an older version of the embedded metrics is used until the answer is scored again.
    """

    def unscored(
        self, submissions_of: Mapping[str, Sequence[int]], *, judge: str, again: Sequence[Outcome] = ()
    ) -> Iterator[tuple[int, MetricItem, tuple[str, ...]]]:
        """Yield the answers without a score of a judge, with the metrics that they lack.

        `submissions_of` has the submissions of each metric. Answers are sorted by question, so that caches of
        a question serve all its answers.
        """
        from data.store.question_sets import restore  # noqa: PLC0415 - most commands read no questions

        lacking = {metric: ~_scored_by(metric, judge, again) for metric in submissions_of}
        by_submission: dict[int, dict[str, ColumnElement[bool]]] = {}
        for metric, numbers in submissions_of.items():
            for number in numbers:
                by_submission.setdefault(number, {})[metric] = lacking[metric]
        pages = (self._unscored(number, metrics) for number, metrics in by_submission.items())
        rows = merge(*pages, key=lambda row: row[0].question_id)
        while page := list(islice(rows, ANSWERS_AT_ONCE)):
            content = select(questions.c.id, questions.c.content)
            of_page = content.where(questions.c.id.in_({row.question_id for row, _ in page}))
            contents = {row.id: restore(row.content) for row in self._all(of_page)}
            for row, metrics in page:
                yield row.id, _item(row, contents[row.question_id]), metrics

    def _unscored(
        self, submission: int, lacking: Mapping[str, ColumnElement[bool]]
    ) -> Iterator[tuple[AnyRow, tuple[str, ...]]]:
        after = 0
        while True:
            rows = self._all(
                select(
                    answers.c.id,
                    answers.c.question_id,
                    answers.c.text,
                    answers.c.contexts,
                    submissions.c.kind,
                    *(lacks.label(f"lacks_{at}") for at, lacks in enumerate(lacking.values())),
                )
                .join(submissions, submissions.c.id == answers.c.submission_id)
                .where(
                    answers.c.submission_id == submission,
                    answers.c.question_id > after,
                    or_(*lacking.values()),
                )
                .order_by(answers.c.question_id)
                .limit(ANSWERS_AT_ONCE)
            )
            if not rows:
                return
            after = rows[-1].question_id
            for row in rows:
                yield row, tuple(compress(lacking, row[-len(lacking) :]))

    def answers_of(self, numbers: Sequence[int]) -> tuple[AnswerKey, ...]:
        """Return the answers of the submissions, by system and question."""
        query = (
            select(answers.c.id.label("number"), submissions.c.system, questions.c.key.label("question_id"))
            .join(submissions, submissions.c.id == answers.c.submission_id)
            .join(questions, questions.c.id == answers.c.question_id)
            .where(submissions.c.id.in_(list(numbers)))
            .order_by(submissions.c.system, questions.c.position)
        )
        return tuple(to_record(AnswerKey, row) for row in self._all(query))

    def pending(
        self, numbers: Sequence[int], *, metric: str, judge: str, again: Sequence[Outcome] = ()
    ) -> int:
        """Count the answers that `unscored` would yield for the submissions."""
        scored = _scored_by(metric, judge, again)
        (count,) = self._values(
            select(func.count())
            .select_from(answers)
            .where(answers.c.submission_id.in_(list(numbers)), ~scored)
        )
        return int(count)

    def judges(self, numbers: Sequence[int], *, metric: str) -> tuple[str, ...]:
        """Return the sorted names of the judges that scored the submissions by a metric."""
        query = (
            select(scores.c.judge)
            .distinct()
            .join(answers, answers.c.id == scores.c.answer_id)
            .where(answers.c.submission_id.in_(list(numbers)), scores.c.metric == metric)
            .order_by(scores.c.judge)
        )
        return tuple(str(judge) for judge in self._values(query))

    def with_contexts(self, numbers: Sequence[int]) -> bool:
        """Return whether any answer of the submissions has contexts."""
        query = (
            select(answers.c.id)
            .where(answers.c.submission_id.in_(list(numbers)), answers.c.contexts.cast(Text) != NO_CONTEXTS)
            .limit(1)
        )
        return bool(self._all(query))

    def with_citations(self, numbers: Sequence[int]) -> bool:
        """Return whether any answer of the submissions cites a context or a passage, in any style."""
        may_cite = or_(*(answers.c.text.like(f"%{mark}%") for mark in ("[", "\u3010", "(1)", "(2)")))
        query = (
            select(answers.c.text, answers.c.contexts, questions.c.content)
            .join(questions, questions.c.id == answers.c.question_id)
            .where(answers.c.submission_id.in_(list(numbers)), may_cite)
            .execution_options(yield_per=ANSWERS_AT_ONCE)
        )
        with self._database.begin() as connection, connection.execute(query) as rows:
            return any(
                citations(text, [passage["id"] for passage in contexts or content.get("passages", ())])
                for text, contexts, content in rows
            )

    def put(self, judge: str, rows: Sequence[tuple[int, Score]]) -> None:
        """Store scores by the numbers of their answers, in one transaction."""
        with self._database.begin() as connection:
            for metric in {score.metric for _, score in rows}:
                of_metric = [number for number, score in rows if score.metric == metric]
                connection.execute(
                    delete(scores).where(
                        scores.c.answer_id.in_(of_metric), scores.c.metric == metric, scores.c.judge == judge
                    )
                )
            if rows:
                connection.execute(insert(scores), [_row(number, judge, score) for number, score in rows])

    def detailed(self, numbers: Sequence[int], *, metric: str, judge: str) -> Iterator[ScoredAnswer]:
        """Yield the scores of the submissions by one metric and judge, with details."""
        query = _select(scores.c.details).where(
            submissions.c.id.in_(list(numbers)),
            scores.c.metric == metric,
            scores.c.judge == judge,
            _by_code(metric),
        )
        with self._database.begin() as connection:
            for row in connection.execute(query):
                yield to_record(ScoredAnswer, row)

    def values(self, numbers: Sequence[int], *, metric: str, judge: str) -> Iterator[tuple[int, str, float]]:
        """Yield submission, question id and value of the submissions' scores that have a value."""
        query = (
            select(answers.c.submission_id, questions.c.key, scores.c.score)
            .join(answers, answers.c.id == scores.c.answer_id)
            .join(questions, questions.c.id == answers.c.question_id)
            .where(
                answers.c.submission_id.in_(list(numbers)),
                scores.c.metric == metric,
                scores.c.judge == judge,
                scores.c.score.is_not(None),
            )
        )
        with self._database.begin() as connection:
            for row in connection.execute(query):
                yield int(row.submission_id), str(row.key), float(row.score)

    def of_submissions(self, numbers: Sequence[int]) -> Iterator[ScoredAnswer]:
        """Yield every score of the submissions, without details."""
        of_them = submissions.c.id.in_(list(numbers))
        with self._database.begin() as connection:
            for row in connection.execute(_select().where(of_them)):
                yield to_record(ScoredAnswer, row, details={})

    def of_question(self, set_name: str, question_id: str) -> tuple[ScoredAnswer, ...]:
        """Return the scores of all answers to a question, with details."""
        # The set is redundant, but lets the database find the question by its index before it reads answers.
        query = _select(scores.c.details).where(
            question_sets.c.name == set_name,
            questions.c.set_id == question_sets.c.id,
            questions.c.key == question_id,
        )
        return tuple(to_record(ScoredAnswer, row) for row in self._all(query))


def _row(number: int, judge: str, score: Score) -> dict[str, Any]:
    row = to_row(scores, score, answer_id=number, judge=judge, details=dict(score.details))
    # The id of an item is the question's, not the row's.
    del row["id"]
    return row


def _scored_by(metric: str, judge: str, again: Sequence[Outcome]) -> Exists:
    # A subquery per answer: details are long, and only those of the current answers are read.
    return exists().where(
        scores.c.answer_id == answers.c.id,
        scores.c.metric == metric,
        scores.c.judge == judge,
        scores.c.outcome.not_in(list(again)),
        _current(judge),
        _by_code(metric),
    )


def _by_code(metric: str) -> ColumnElement[bool]:
    """Match scores by the current code of a plugin's metric; failed ones match any code."""
    code = code_of(PluginKind.METRICS, metric)
    same = scores.c.details[CODE].as_string() == code
    return or_(same, scores.c.outcome == Outcome.FAILED) if code else true()


def _embedded(judge: str) -> bool:
    # Options and corpora follow the first "=", and may contain "@".
    return "@" not in judge.partition("=")[0]


def _current(judge: str) -> ColumnElement[bool]:
    """Match scores of LLMs and of the current embedded metrics; failed ones have no version."""
    engine = scores.c.details[ENGINE].as_string()
    failed = scores.c.outcome == Outcome.FAILED
    if not _embedded(judge):
        return true()
    return or_(failed, engine == EMBEDDED_ENGINE, engine.startswith(f"{EMBEDDED_ENGINE}, "))


def _item(row: AnyRow, question: Question) -> MetricItem:
    return to_record(
        MetricItem,
        question,
        answer=row.text,
        # The reference must not be its own ground truth.
        reference=None if row.kind == "reference" else question.reference,
        contexts=tuple(Passage(**context) for context in row.contexts),
    )


def _select(*more: ColumnElement[Any]) -> Select[*tuple[Any, ...]]:
    return (
        select(
            submissions.c.id.label("submission"),
            submissions.c.system,
            questions.c.key.label("question_id"),
            questions.c.domain,
            scores.c.metric,
            scores.c.judge,
            scores.c.outcome,
            scores.c.score,
            *more,
        )
        .join(answers, answers.c.id == scores.c.answer_id)
        .join(submissions, submissions.c.id == answers.c.submission_id)
        .join(questions, questions.c.id == answers.c.question_id)
        .join(question_sets, question_sets.c.id == submissions.c.set_id)
        .order_by(submissions.c.system, questions.c.position, scores.c.metric, scores.c.judge)
    )
