"""Read people's votes on battles from files and records, and join them with a judge's verdicts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from data.errors import FileFormatError, RecordError
from leaderboard.battles import BattleTable
from leaderboard.formats.arenas import parse_native
from leaderboard.formats.rows import (
    Context,
    Place,
    as_number,
    missing,
    names,
    refuse,
    settled,
    share,
    share_of,
)
from leaderboard.formats.sources import Chunk, Record, chunks_of, column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NAMES = ("question_id", "model_a", "model_b")
CHANCES = ("chance", "sampling_prob")
"""Names of the column with the probability that a battle was sampled for votes."""
WINNERS = {1.0: "model_a", 0.5: "tie", 0.0: "model_b"}
EVEN = 0.5
ROUNDING = 1e-9


class _Lines(Place):
    """Location in messages: the line, for files with lines."""

    def at(self, index: int, column: str = "") -> str:
        number = f"line {self.lines[index]}" if self.lines else f"row {self.first_row + index}"
        return f"{self.file}, {number}" + (f', column "{column}"' if column else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One checked vote.

    Attributes:
        battle: Question and the two systems, sorted by name.
        share: Share of the win that the first system gets, 0–1.
        chance: Probability that the battle was sampled for votes; None if unknown.
    """

    place: str
    battle: tuple[str, str, str]
    share: float
    chance: float | None = None
    annotator: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the vote as a record of a votes file."""
        row: dict[str, object] = dict(zip(NAMES, self.battle, strict=True))
        row |= {"winner": WINNERS[self.share]} if self.share in WINNERS else {"score": self.share}
        known = {"annotator": self.annotator, "chance": self.chance}
        return row | {name: value for name, value in known.items() if value}


def read_votes(path: Path) -> list[Vote]:
    """Read votes from any table: `question_id, model_a, model_b, winner|score[, annotator, chance]`."""
    votes = [vote for chunk in chunks_of(path) for vote in _checked(chunk)]
    if not votes:
        raise FileFormatError(f"{path.name} has no votes.", advice="Write one row per vote.")
    return votes


def votes_of(records: Iterable[Mapping[str, object]], name: str = "votes") -> list[Vote]:
    """Check records of votes; errors are those of `read_votes`."""
    return _checked(Chunk(place=Place(file=name, first_row=1), records=[dict(row) for row in records]))


def _checked(chunk: Chunk) -> list[Vote]:
    place = _Lines(file=chunk.place.file, first_row=chunk.place.first_row, lines=chunk.place.lines)
    records = [_with_winner(place, index, record) for index, record in enumerate(chunk.records)]
    rows = settled(parse_native(Chunk(place=place, records=records), Context()), strict=True)
    people = names(place, "annotator", column(chunk, "annotator"), blank=True)
    votes = []
    for index, record in enumerate(chunk.records):
        question, a, b = (rows.question_id or [])[index], rows.model_a[index], rows.model_b[index]
        score = None if rows.score is None else rows.score[index]
        won = share_of(rows.winner[index]) if score is None else score
        votes.append(
            Vote(
                place=place.at(index),
                battle=(question, min(a, b), max(a, b)),
                share=won if a < b else 1 - won,
                chance=_chance(place, index, record),
                annotator=people[index],
            )
        )
    return votes


def _with_winner(place: Place, index: int, record: Record) -> Record:
    """Return a battle's columns, deriving a missing winner from the score."""
    for name in NAMES:
        if name not in record:
            missing(place, index, name)
    row = {name: record[name] for name in (*NAMES, "winner", "score") if name in record}
    if row.get("winner") in {None, ""}:
        if row.get("score") in {None, ""}:
            missing(place, index, "winner", " A vote needs a winner or a score.")
        won = share(place, index, "score", row["score"])
        row["winner"] = WINNERS[1.0 if won > EVEN else 0.0 if won < EVEN else EVEN]
    return row


def _chance(place: Place, index: int, record: Record) -> float | None:
    name = next((name for name in CHANCES if record.get(name) not in {None, ""}), None)
    if name is None:
        return None
    chance = as_number(place, index, name, record[name])
    if not 0 < chance <= 1:
        refuse(place, index, name, record[name], "a probability above 0 and at most 1 is expected")
    return chance


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Labelled:
    """Unique judged battles, some of them labelled by people.

    Attributes:
        table: The N battles, with the judge's mean share as their score.
        judge: (N, 3) judge's means of the win share for `a`, of wins, and of wins and ties.
        rows: (L,) sorted rows of the labelled battles.
        people: (L, 3) people's means, like `judge`.
        weight: (L,) inverse probabilities of a label.
    """

    table: BattleTable
    judge: Floats
    rows: Ints
    people: Floats
    weight: Floats


def label(plan: BattleTable, votes: Sequence[Vote]) -> Labelled:
    """Join votes to judged battles; several verdicts or votes on a battle are averaged."""
    systems, questions = ({name: at for at, name in enumerate(ids)} for ids in (plan.systems, plan.questions))
    size = len(systems)

    def key(question: Ints, a: Ints, b: Ints) -> Ints:
        return np.asarray((question * size + np.minimum(a, b)) * size + np.maximum(a, b))

    codes = [np.asarray(code, dtype=np.int64) for code in (plan.question, plan.a, plan.b)]
    keys, first, battle = np.unique(key(*codes), return_index=True, return_inverse=True)
    judge = _means(battle, np.where(plan.a < plan.b, plan.share, 1 - plan.share), plan.weight)
    known = (questions, systems, systems)
    cast = [[of.get(name, -1) for of, name in zip(known, vote.battle, strict=True)] for vote in votes]
    question, a, b = np.array(cast, dtype=np.int64).reshape(-1, 3).T
    place = np.minimum(np.searchsorted(keys, key(question, a, b)), len(keys) - 1)
    lost = (np.minimum(np.minimum(a, b), question) < 0) | (keys[place] != key(question, a, b))
    for vote in (votes[at] for at in np.flatnonzero(lost)):
        unknown = [name for of, name in zip(known, vote.battle, strict=True) if name not in of]
        what = f"{unknown[0]!r} is unknown" if unknown else "its question has no battle of its systems"
        message = f"{vote.place}: no judged battle matches the vote; {what}."
        raise RecordError(message, advice="Include verdicts on every battle with votes.")
    rows, of_row = np.unique(place, return_inverse=True)
    share = np.array([vote.share for vote in votes])
    low, high = np.minimum(plan.a, plan.b), np.maximum(plan.a, plan.b)
    table = replace(plan.select(first), a=low[first], b=high[first], score=judge[:, 0], weight=None)
    return Labelled(
        table=replace(table, winner=_winners(judge[:, 0])),
        judge=judge,
        rows=rows,
        people=_means(of_row, np.where(a < b, share, 1 - share), None),
        weight=1 / _chances(votes, of_row, len(rows) / len(keys)),
    )


def of_people(labelled: Labelled) -> BattleTable:
    """Return the labelled battles with people's mean share as their score."""
    share = labelled.people[:, 0]
    table = labelled.table.select(labelled.rows)
    return replace(table, score=share, winner=_winners(share), weight=labelled.weight)


def _winners(share: Floats) -> NDArray[np.int8]:
    return np.where(share > EVEN, 0, np.where(share < EVEN, 1, 2)).astype(np.int8)


def _means(code: Ints, share: Floats, weight: Floats | None) -> Floats:
    """(n, 3) means by code of the win share, of wins, and of wins and ties."""
    weight = np.ones(len(code)) if weight is None else weight
    sums = [np.bincount(code, weight * part) for part in (share, share > EVEN, share >= EVEN)]
    return np.column_stack(sums) / np.bincount(code, weight)[:, None]


def _chances(votes: Sequence[Vote], of_row: Ints, labelled: float) -> Floats:
    """(L,) label probability of each battle: that of its votes, else the share labelled."""
    by_vote = np.array([np.nan if vote.chance is None else vote.chance for vote in votes])
    if np.isnan(by_vote).all():
        return np.full(int(of_row.max()) + 1, labelled)
    chance = np.full(int(of_row.max()) + 1, np.nan)
    known = np.flatnonzero(~np.isnan(by_vote))[::-1]
    # The last assignment wins, so reversed rows leave each battle's first chance.
    chance[of_row[known]] = by_vote[known]
    wrong = np.isnan(chance[of_row]) | (np.abs(chance[of_row] - by_vote) > ROUNDING)
    if wrong.any():
        raise RecordError(
            f"{votes[int(np.argmax(wrong))].place}: the chance is missing, or differs from another vote's.",
            advice="Set the same chance on all votes of a battle, and on every battle or none.",
        )
    return chance
