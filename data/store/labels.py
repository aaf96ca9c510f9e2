"""Store for labels of people on the battles of rounds."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Select, and_, func, select, update

from data.models import SubmissionState
from data.models.rounds import BattlePair, LabelledRound, battles, labels, rounds
from data.models.submissions import answers, question_sets, questions, submissions
from data.models.teams import teams
from data.store.base import AnyRow, StorePart, own_insert, to_record
from data.store.battles import REFERENCE
from data.store.question_sets import restore

SIDES = tuple(
    (submissions.alias(f"side_{side}"), answers.alias(f"answer_{side}"), teams.alias(f"team_{side}"))
    for side in "ab"
)


class LabelStore(StorePart):
    """Store for labels of people."""

    def set_terms(self, round_id: int, *, is_open: bool, everybody: bool, people: Sequence[str]) -> None:
        """Store who may label the battles of a round."""
        terms = {"open": is_open, "everybody": everybody, "people": list(people)}
        self._change(update(rounds).where(rounds.c.id == round_id).values(labelling=terms))

    def rounds(self, name: str = "") -> tuple[LabelledRound, ...]:
        """Return the rounds that are or were open for labels, newest first, or only the one with a name."""
        query = (
            select(rounds, question_sets.c.name.label("set_name"))
            .join(question_sets, question_sets.c.id == rounds.c.set_id)
            .where(rounds.c.labelling.is_not(None))
            .order_by(rounds.c.id.desc())
        )
        rows = self._all(query.where(rounds.c.name == name) if name else query)
        return tuple(
            to_record(LabelledRound, row, **{**row.labelling, "people": tuple(row.labelling["people"])})
            for row in rows
        )

    def next_pairs(
        self, round_id: int, person: str, *, without: Collection[int], references: bool, limit: int
    ) -> tuple[BattlePair, ...]:
        """Draw battles that a person has not labelled, fewest labels first."""
        labelled = select(labels.c.battle_id).where(labels.c.person == person)
        count = select(func.count()).where(labels.c.battle_id == battles.c.id).scalar_subquery()
        query = _pairs().where(
            battles.c.round_id == round_id,
            battles.c.id.not_in(labelled),
            battles.c.id.not_in(without),
            *(answer.c.text != "" for _, answer, _ in SIDES),
        )
        if not references:
            query = query.where(*(side.c.kind != REFERENCE for side, _, _ in SIDES))
        return tuple(map(_pair, self._all(query.order_by(count, func.random()).limit(limit))))

    def add(self, rows: Sequence[Mapping[str, Any]]) -> int:
        """Add labels, keeping a person's first label of a battle, and return the number of new ones."""
        with self._database.together() as connection:
            insert = own_insert(connection, labels)
            insert = insert.on_conflict_do_nothing(index_elements=["battle_id", "person"])
            insert = insert.returning(labels.c.id)
            return sum(connection.execute(insert, row).first() is not None for row in rows)

    def battles(self, round_id: int) -> Mapping[tuple[str, str, str], int]:
        """Map question and both systems to the number of each battle of a round."""
        rows = self._all(_pairs().where(battles.c.round_id == round_id))
        return {(row.key, row.system_a, row.system_b): row.battle for row in rows}

    def has(self, round_id: int, battle: int) -> bool:
        """Return whether a round has a battle."""
        query = select(battles.c.id).where(battles.c.round_id == round_id, battles.c.id == battle)
        return self._first(query) is not None

    def given(self, round_id: int) -> Iterator[tuple[BattlePair, AnyRow]]:
        """Yield the labels of a round with their pairs, oldest first."""
        query = (
            _pairs(*labels.c["person", "b_first", "value", "labelled_at"])
            .join(labels, labels.c.battle_id == battles.c.id)
            .where(battles.c.round_id == round_id)
            .order_by(labels.c.labelled_at, labels.c.id)
        )
        return ((_pair(row), row) for row in self._all(query))

    def count(self, round_id: int) -> int:
        """Count the labels of a round."""
        query = select(func.count()).join_from(labels, battles, battles.c.id == labels.c.battle_id)
        return int(self._values(query.where(battles.c.round_id == round_id))[0])


def _pairs(*further: Any) -> Select[*tuple[Any, ...]]:  # noqa: ANN401 - any column
    """Select battles with question, systems and the texts of answers that are not withdrawn."""
    columns = [battles.c.id.label("battle"), questions.c.key, questions.c.content, *further]
    for name, (side, answer, team) in zip("ab", SIDES, strict=True):
        columns += [side.c[part].label(f"{part}_{name}") for part in ("system", "team", "card", "kind")]
        columns += [team.c.title.label(f"title_{name}"), answer.c.text.label(f"answer_{name}")]
    query = select(*columns).join(questions, questions.c.id == battles.c.question_id)
    for (side, answer, team), number in zip(SIDES, (battles.c.a_id, battles.c.b_id), strict=True):
        query = query.join(side, side.c.id == number).outerjoin(team, team.c.name == side.c.team)
        same = and_(answer.c.submission_id == side.c.id, answer.c.question_id == battles.c.question_id)
        query = query.outerjoin(answer, and_(same, side.c.state != SubmissionState.WITHDRAWN))
    return query


def _pair(row: AnyRow) -> BattlePair:
    a = (row.system_a, row.team_a, row.title_a, row.card_a.get("model"), row.card_a.get("organisation"))
    b = (row.system_b, row.team_b, row.title_b, row.card_b.get("model"), row.card_b.get("organisation"))
    sides = [names for names, kind in ((a, row.kind_a), (b, row.kind_b)) if kind != REFERENCE]
    return to_record(
        BattlePair,
        row,
        question=restore(row.content),
        answer_a=row.answer_a or "",
        answer_b=row.answer_b or "",
        names=tuple(name for names in sides for name in names if name),
        has_reference=len(sides) < len(SIDES),
    )
