"""What systems retrieved, and relevance judgments, in the store."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, func, insert, select

from data.errors import ConflictError, NotFoundError
from data.records.rankings import Qrels, RankedPassage, Ranking
from data.store.base import AnyRow, StorePart, no_set, to_record, to_row
from data.store.engine import new_id, pairs
from data.tables.questions import question_sets, questions
from data.tables.retrieval import qrel_rows, qrels, rankings


class RetrievalStore(StorePart):
    """Reads rankings, and keeps the relevance judgments of sets. Neither ever changes."""

    def rankings(self, number: int) -> Mapping[str, Ranking]:
        """What a submission retrieved by question id, in the order of the set."""
        query = (
            select(questions.c.key, rankings.c.passages, rankings.c.scores, rankings.c.texts)
            .join(questions, questions.c.id == rankings.c.question_id)
            .where(rankings.c.submission_id == number)
            .order_by(questions.c.position)
        )
        return {row.key: _ranking(row) for row in self._all(query)}

    def ranking(self, number: int, question_id: str) -> Ranking | None:
        """What a submission retrieved for one question; None where it is missing from its file."""
        query = (
            select(questions.c.key, rankings.c.passages, rankings.c.scores, rankings.c.texts)
            .join(questions, questions.c.id == rankings.c.question_id)
            .where(rankings.c.submission_id == number, questions.c.key == question_id)
        )
        row = self._first(query)
        return None if row is None else _ranking(row)

    def domain_counts(self, number: int) -> Mapping[str, int]:
        """The questions that a submission retrieved passages for, by domain."""
        query = (
            select(questions.c.domain, func.count())
            .join(questions, questions.c.id == rankings.c.question_id)
            .where(rankings.c.submission_id == number)
            .group_by(questions.c.domain)
        )
        with self._database.begin() as connection:
            return pairs(connection.execute(query))

    def add_qrels(self, set_name: str, judged: Qrels) -> bool:
        """Keep judgments under their name.

        Args:
            set_name: The set.
            judged: The judgments; question ids must be the set's.

        Returns:
            Whether they are new; False where the same stand under this name.

        Raises:
            ConflictError: Others stand under this name.
            NotFoundError: There is no such set.
        """
        with self._database.begin() as connection:
            set_id = _set_id(connection, set_name)
            known = connection.execute(
                select(qrels.c.content_hash).where(qrels.c.set_id == set_id, qrels.c.name == judged.name)
            ).scalar()
            if known == judged.content_hash:
                return False
            if known is not None:
                raise ConflictError(
                    f"{set_name} has other judgments called {judged.name} (content {known[:12]}).",
                    advice="Attach these under another name with --name.",
                )
            row = to_row(qrels, judged, set_id=set_id)
            del row["created_at"]
            number = new_id(connection.execute(insert(qrels).values(row)))
            numbers: dict[str, int] = pairs(
                connection.execute(
                    select(questions.c.key, questions.c.id).where(questions.c.set_id == set_id)
                )
            )
            rows = [
                {
                    "qrels_id": number,
                    "question_id": numbers[question],
                    "grades": {subtopic: dict(grades) for subtopic, grades in subtopics.items()},
                }
                for question, subtopics in judged.judgments.items()
            ]
            connection.execute(insert(qrel_rows), rows)
        return True

    def qrels_names(self, set_name: str) -> tuple[str, ...]:
        """The names of a set's judgments, the newest first.

        Raises:
            NotFoundError: There is no such set.
        """
        with self._database.begin() as connection:
            set_id = _set_id(connection, set_name)
            query = select(qrels.c.name).where(qrels.c.set_id == set_id).order_by(qrels.c.id.desc())
            return tuple(connection.execute(query).scalars())

    def qrels(self, set_name: str, name: str) -> Qrels:
        """Judgments of a set, questions in its order.

        Raises:
            NotFoundError: There is no such set, or it has none of this name.
        """
        with self._database.begin() as connection:
            set_id = _set_id(connection, set_name)
            head = connection.execute(
                select(qrels).where(qrels.c.set_id == set_id, qrels.c.name == name)
            ).first()
            if head is None:
                raise NotFoundError(
                    f"{set_name} has no relevance judgments called {name}.",
                    advice=f"`arena sets show --qrels {set_name}` lists them.",
                )
            query = (
                select(questions.c.key, qrel_rows.c.grades)
                .join(questions, questions.c.id == qrel_rows.c.question_id)
                .where(qrel_rows.c.qrels_id == head.id)
                .order_by(questions.c.position)
            )
            return to_record(Qrels, head, judgments=pairs(connection.execute(query)))


def _ranking(row: AnyRow) -> Ranking:
    texts = row.texts or [("", "")] * len(row.passages)
    return Ranking(
        row.key,
        tuple(
            RankedPassage(passage, score, text, title)
            for passage, score, (text, title) in zip(row.passages, row.scores, texts, strict=True)
        ),
    )


def _set_id(connection: Connection, name: str) -> int:
    number = connection.execute(select(question_sets.c.id).where(question_sets.c.name == name)).scalar()
    if number is None:
        raise no_set(name)
    return int(number)
