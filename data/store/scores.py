"""Scores of answers in the store."""

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
"""The judge of scores that were made without an LLM."""
ANSWERS_AT_ONCE = 500
NO_CONTEXTS = "[]"
"""An empty list as the database keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredAnswer:
    """A score with the answer it belongs to, which JSON leaves out: it stands within the answer."""

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
        """Return the score as its metric gave it, called by its question."""
        return Score(
            id=self.question_id,
            metric=self.metric,
            outcome=self.outcome,
            score=self.score,
            details=self.details,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerKey:
    """An answer by the store's number, its system and its question."""

    number: int
    system: str
    question_id: str


class ScoreStore(StorePart):
    """Keeps one score an answer, metric and judge; a new one replaces it.

    A score of a former version of the embedded metrics is shown until the answer is scored anew.
    """

    def unscored(
        self, wanted: Mapping[str, Sequence[int]], *, judge: str, again: Sequence[Outcome] = ()
    ) -> Iterator[tuple[int, MetricItem, tuple[str, ...]]]:
        """Yield the answers that have no score of this judge yet, with the metrics that they lack.

        `wanted` names the submissions of each metric. Answers come question by question, so that what is
        read of a question serves all its answers.
        """
        from data.store.question_sets import restore  # noqa: PLC0415 - few that read rounds read questions

        lacking = {metric: ~_scored_by(metric, judge, again) for metric in wanted}
        by_submission: dict[int, dict[str, ColumnElement[bool]]] = {}
        for metric, numbers in wanted.items():
            for number in numbers:
                by_submission.setdefault(number, {})[metric] = lacking[metric]
        pages = (self._unscored(number, of_it) for number, of_it in by_submission.items())
        rows = merge(*pages, key=lambda found: found[0].question_id)
        while page := list(islice(rows, ANSWERS_AT_ONCE)):
            content = select(questions.c.id, questions.c.content)
            of_page = content.where(questions.c.id.in_({row.question_id for row, _ in page}))
            known = {row.id: restore(row.content) for row in self._all(of_page)}
            for row, metrics in page:
                yield row.id, _item(row, known[row.question_id]), metrics

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
        """Return the answers of some submissions, by system and question."""
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
        """Count the answers that `unscored` would yield for some submissions."""
        scored = _scored_by(metric, judge, again)
        (count,) = self._values(
            select(func.count())
            .select_from(answers)
            .where(answers.c.submission_id.in_(list(numbers)), ~scored)
        )
        return int(count)

    def judges(self, numbers: Sequence[int], *, metric: str) -> tuple[str, ...]:
        """Under which names of judges answers of some submissions have scores by a metric, sorted."""
        query = (
            select(scores.c.judge)
            .distinct()
            .join(answers, answers.c.id == scores.c.answer_id)
            .where(answers.c.submission_id.in_(list(numbers)), scores.c.metric == metric)
            .order_by(scores.c.judge)
        )
        return tuple(str(judge) for judge in self._values(query))

    def with_contexts(self, numbers: Sequence[int]) -> bool:
        """Return whether an answer of some submissions comes with contexts."""
        found = (
            select(answers.c.id)
            .where(answers.c.submission_id.in_(list(numbers)), answers.c.contexts.cast(Text) != NO_CONTEXTS)
            .limit(1)
        )
        return bool(self._all(found))

    def with_citations(self, numbers: Sequence[int]) -> bool:
        """Return whether an answer of some submissions cites a context or a passage, in any of the styles."""
        may_cite = or_(*(answers.c.text.like(f"%{mark}%") for mark in ("[", "\u3010", "(1)", "(2)")))
        found = (
            select(answers.c.text, answers.c.contexts, questions.c.content)
            .join(questions, questions.c.id == answers.c.question_id)
            .where(answers.c.submission_id.in_(list(numbers)), may_cite)
            .execution_options(yield_per=ANSWERS_AT_ONCE)
        )
        with self._database.begin() as connection, connection.execute(found) as rows:
            return any(
                citations(text, [one["id"] for one in contexts or content.get("passages", ())])
                for text, contexts, content in rows
            )

    def put(self, judge: str, rows: Sequence[tuple[int, Score]]) -> None:
        """Keep scores by the store's number of the answer, in one transaction."""
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
        """Yield the scores of some submissions by one metric and judge, with details."""
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
        """Yield submission, question id and value of some submissions' scores.

        Without details, which are long; answers without a value are left out.
        """
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
        """Yield every score of some submissions, without details."""
        of_them = submissions.c.id.in_(list(numbers))
        with self._database.begin() as connection:
            for row in connection.execute(_select().where(of_them)):
                yield to_record(ScoredAnswer, row, details={})

    def of_question(self, set_name: str, question_id: str) -> tuple[ScoredAnswer, ...]:
        """Every score of the answers to a question, with details."""
        # The set is said twice, so that the question is found by its index before any answer is read.
        query = _select(scores.c.details).where(
            question_sets.c.name == set_name,
            questions.c.set_id == question_sets.c.id,
            questions.c.key == question_id,
        )
        return tuple(to_record(ScoredAnswer, row) for row in self._all(query))


def _row(number: int, judge: str, score: Score) -> dict[str, Any]:
    row = to_row(scores, score, answer_id=number, judge=judge, details=dict(score.details))
    # An item's id is the question's, not the row's.
    del row["id"]
    return row


def _scored_by(metric: str, judge: str, again: Sequence[Outcome]) -> Exists:
    # By answer: details are long, and only those of answers that are looked at are read.
    return exists().where(
        scores.c.answer_id == answers.c.id,
        scores.c.metric == metric,
        scores.c.judge == judge,
        scores.c.outcome.not_in(list(again)),
        _current(judge),
        _by_code(metric),
    )


def _by_code(metric: str) -> ColumnElement[bool]:
    """Return whether a score is of the code that a plugin's metric has today; what failed is of no code."""
    code = code_of(PluginKind.METRICS, metric)
    same = scores.c.details[CODE].as_string() == code
    return or_(same, scores.c.outcome == Outcome.FAILED) if code else true()


def _embedded(judge: str) -> bool:
    """Return whether a name of scores is an embedded metric's: an LLM's are under `JUDGE@MODEL …`."""
    # After the first "=" come options and what is searched, in which "@" may stand too.
    return "@" not in judge.partition("=")[0]


def _current(judge: str) -> ColumnElement[bool]:
    """Return whether a score under a name is an LLM's, or of today's version of the embedded metrics.

    What failed has no version, and is tried again by any.
    """
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
        # The reference is not a ground truth of itself.
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
