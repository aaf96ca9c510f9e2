"""Stores for question sets and their policies."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update

from data import models
from data.errors import ConflictError, NotFoundError
from data.files.question_sets.rows import question_from_json, question_to_json
from data.models.base import now
from data.models.submissions import answers, phases, question_sets, questions, submissions
from data.progress import working
from data.store.base import AnyRow, StorePart, no_set, to_record, to_row, unique
from data.store.engine import new_id, pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTerms:
    """Visibility of a set's texts, and its domains with their labels."""

    licence: str
    public_texts: bool
    hidden_references: bool
    domains: Mapping[str, str]


class SetStore(StorePart):
    """Store for question sets, which never change."""

    def add(self, question_set: models.QuestionSet, content_hash: str) -> bool:
        """Store a set, with its references as answers of the reference.

        Returns:
            False if a set with the same name and content exists already.
        """
        conflict = ConflictError(
            f"Question set {question_set.name} is being imported by another process.",
            advice="Try again in a moment.",
        )
        with (
            unique(question_sets.c.name, conflict=lambda: conflict),
            working("storing questions"),
            self._database.begin() as connection,
        ):
            existing = connection.execute(
                select(question_sets.c.content_hash).where(question_sets.c.name == question_set.name)
            ).scalar()
            if existing is not None:
                return _same_or_conflict(question_set, existing, content_hash)
            set_id = _insert_set(connection, question_set, content_hash)
            _insert_questions(connection, set_id, question_set)
            _insert_reference(connection, set_id, question_set, content_hash)
        return True

    def summaries(self) -> tuple[models.SetSummary, ...]:
        """Return all sets by name."""
        with self._database.begin() as connection:
            rows = connection.execute(select(question_sets).order_by(question_sets.c.name)).all()
            return tuple(_summary(connection, row) for row in rows)

    def summary(self, name: str) -> models.SetSummary:
        """Return a set without its questions."""
        with self._database.begin() as connection:
            row = connection.execute(select(question_sets).where(question_sets.c.name == name)).first()
            if row is None:
                names = ", ".join(connection.execute(select(question_sets.c.name)).scalars())
                advice = f"The sets are: {names}." if names else "Import one with `arena sets import PATH`."
                raise NotFoundError(f"There is no question set {name!r}.", advice=advice)
            return _summary(connection, row)

    def terms(self, name: str) -> SetTerms:
        """Return the terms of a set's texts."""
        fields = (question_sets.c[field] for field in SetTerms.__dataclass_fields__)
        row = self._first(select(*fields).where(question_sets.c.name == name))
        if row is None:
            raise no_set(name)
        return to_record(SetTerms, row)

    def get(self, name: str) -> models.QuestionSet:
        """Return a set with its questions in the order of its file."""
        summary = self.summary(name)
        numbered = self.numbered(summary.id)
        return to_record(models.QuestionSet, summary, questions=tuple(question for _, question in numbered))

    def numbered(self, set_id: int) -> Iterator[tuple[int, models.Question]]:
        """Yield the questions of a set with the store's numbers."""
        with self._database.begin() as connection:
            rows = connection.execute(
                select(questions.c.id, questions.c.content)
                .where(questions.c.set_id == set_id)
                .order_by(questions.c.position)
            )
            for number, content in rows:
                yield number, restore(content)

    def page(self, set_id: int, *, after: int, limit: int) -> tuple[tuple[int, models.Question], ...]:
        """Return up to `limit` questions of a set after position `after`, with their positions."""
        query = (
            select(questions.c.position, questions.c.content)
            .where(questions.c.set_id == set_id, questions.c.position > after)
            .order_by(questions.c.position)
            .limit(limit)
        )
        return tuple((position, restore(content)) for position, content in self._all(query))

    def question(self, name: str, question_id: str) -> models.Question:
        """Return a question of a set."""
        row = self._first(
            select(questions.c.content)
            .join(question_sets, question_sets.c.id == questions.c.set_id)
            .where(question_sets.c.name == name, questions.c.key == question_id)
        )
        if row is None:
            self.summary(name)
            raise NotFoundError(
                f"Question set {name} has no question {question_id!r}.",
                advice=f"`arena sets show {name}` lists its questions.",
            )
        return restore(row.content)


def restore(content: object) -> models.Question:
    """Build a question from its stored content."""
    problems = models.ProblemList()
    question = question_from_json(0, content if isinstance(content, Mapping) else {}, problems)
    if question is None:
        raise ConflictError(f"A stored question is damaged: {problems.result()[0].message}")
    return question


def _same_or_conflict(question_set: models.QuestionSet, existing: str, content_hash: str) -> bool:
    if existing == content_hash:
        return False
    raise ConflictError(
        f"Another question set is called {question_set.name} (content {existing[:12]}).",
        advice="Import this one under another name with --name.",
    )


def _insert_set(connection: Connection, question_set: models.QuestionSet, content_hash: str) -> int:
    row = to_row(
        question_sets,
        question_set,
        domains=dict(question_set.domains),
        questions=len(question_set.questions),
        content_hash=content_hash,
    )
    return new_id(connection.execute(insert(question_sets).values(row)))


def _insert_questions(connection: Connection, set_id: int, question_set: models.QuestionSet) -> None:
    if question_set.questions:
        connection.execute(
            insert(questions),
            [
                {
                    "set_id": set_id,
                    "position": position,
                    "key": question.id,
                    "domain": question.domain,
                    "text": question.question,
                    "content": question_to_json(question),
                }
                for position, question in enumerate(question_set.questions)
            ],
        )


def _insert_reference(
    connection: Connection, set_id: int, question_set: models.QuestionSet, content_hash: str
) -> None:
    numbers: dict[str, int] = pairs(
        connection.execute(select(questions.c.key, questions.c.id).where(questions.c.set_id == set_id))
    )
    referenced = [question for question in question_set.questions if question.reference is not None]
    result = connection.execute(
        insert(submissions).values(
            set_id=set_id,
            kind="reference",
            system=question_set.reference_name,
            version=1,
            state=models.SubmissionState.ACCEPTED,
            card={},
            content_hash=content_hash,
            answers=len(referenced),
            phase=models.DEFAULT_PHASE,
            submitted_at=now(),
        )
    )
    submission_id = new_id(result)
    if referenced:
        connection.execute(
            insert(answers),
            [
                {
                    "submission_id": submission_id,
                    "question_id": numbers[question.id],
                    "text": question.reference,
                    "contexts": [],
                    "no_answer": False,
                }
                for question in referenced
            ],
        )


def _summary(connection: Connection, row: AnyRow) -> models.SetSummary:
    counts = connection.execute(
        select(questions.c.domain, func.count())
        .where(questions.c.set_id == row.id)
        .group_by(questions.c.domain)
    ).all()
    by_domain: dict[str, int] = pairs(counts)
    first = connection.execute(
        select(questions.c.content)
        .where(questions.c.set_id == row.id)
        .order_by(questions.c.position)
        .limit(1)
    ).scalar()
    return to_record(
        models.SetSummary,
        row,
        counts={domain: by_domain.get(domain, 0) for domain in row.domains},
        language=models.ENGLISH if first is None else restore(first).language,
    )


class PolicyStore(StorePart):
    """Store for policies of sets."""

    def get(self, set_name: str) -> models.SetPolicy:
        """Return the policy of a set."""
        with self._database.begin() as connection:
            head = connection.execute(
                select(
                    question_sets.c.id, question_sets.c.hidden_references, question_sets.c.public_texts
                ).where(question_sets.c.name == set_name)
            ).first()
            if head is None:
                raise no_set(set_name)
            rows = connection.execute(select(phases).where(phases.c.set_id == head.id).order_by(phases.c.id))
            spans = tuple(to_record(models.Phase, row) for row in rows)
        return models.SetPolicy(
            set_name=set_name,
            phases=spans,
            hidden_references=head.hidden_references,
            public_texts=head.public_texts,
        )

    def put(self, policy: models.SetPolicy) -> models.SetPolicy:
        """Replace the policy of a set."""
        with self._database.begin() as connection:
            number = connection.execute(
                select(question_sets.c.id).where(question_sets.c.name == policy.set_name)
            ).scalar()
            if number is None:
                raise no_set(policy.set_name)
            connection.execute(
                update(question_sets)
                .where(question_sets.c.id == number)
                .values(hidden_references=policy.hidden_references, public_texts=policy.public_texts)
            )
            connection.execute(delete(phases).where(phases.c.set_id == number))
            if policy.phases:
                rows = [to_row(phases, phase, set_id=number) for phase in policy.phases]
                connection.execute(insert(phases), rows)
        return self.get(policy.set_name)
