"""Votes files: in, as JSON Lines, JSON arrays or CSV, plain or gzipped; out, as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from data.errors import FileFormatError
from leaderboard.formats.cells import missing
from leaderboard.formats.fields import column, has
from leaderboard.formats.places import Place
from leaderboard.formats.sources import Chunk, Record, chunks_of, container_of
from leaderboard.people.votes import Votes

WINNERS = {1.0: "model_a", 0.5: "tie", 0.0: "model_b"}
NEEDED = ("question_id", "model_a", "model_b")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lines(Place):
    """A place whose messages name the line of the file wherever records stand on lines."""

    def at(self, index: int, column: str = "") -> str:
        number = f"line {self.lines[index]}" if self.lines else f"row {self.first_row + index}"
        return f"{self.file}, {number}" + (f', column "{column}"' if column else "")


FORMER_NAME = "chance"
"""What files of older versions call the column `sampling_prob`."""


def read_votes(path: Path) -> Votes:
    """Read the votes of people.

    Columns: `question_id`, `model_a`, `model_b`, and `winner` or `score`; optional `annotator`,
    `sampling_prob`.

    Raises:
        FileFormatError: The file cannot be read, holds no votes or lacks a column.
        RecordError: A value breaks a rule; the message names line and column.
    """
    records: list[Record] = []
    lines: list[int] = []
    for chunk in chunks_of(path, container_of(path)):
        records.extend(chunk.records)
        lines.extend(chunk.place.lines or ())
    place = _Lines(file=path.name, first_row=1, lines=lines or None)
    if not records:
        raise FileFormatError(f"{path.name} holds no votes.", advice="A votes file has a row for each vote.")
    _require(records, place)
    whole = Chunk(place=place, records=records)
    question_id, model_a, model_b = (column(whole, name) for name in NEEDED)
    return Votes.from_columns(
        question_id,
        model_a,
        model_b,
        column(whole, "winner") if has(whole, "winner") else None,
        column(whole, "score") if has(whole, "score") else None,
        annotator=column(whole, "annotator"),
        sampling_prob=column(whole, "sampling_prob" if has(whole, "sampling_prob") else FORMER_NAME),
        place=place,
    )


def _require(records: list[Record], place: Place) -> None:
    for index, record in enumerate(records):
        for name in NEEDED:
            if name not in record:
                missing(place, index, name)
        if "winner" not in record and "score" not in record:
            missing(place, index, "winner", " A vote has a winner or a score.")


def votes_text(votes: Votes) -> str:
    """Votes as a votes file: a line each, with what is known of it."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in _rows(votes))


def _rows(votes: Votes) -> Iterator[dict[str, object]]:
    for index in range(len(votes)):
        share, prob = float(votes.share[index]), float(votes.sampling_prob[index])
        row: dict[str, object] = {
            "question_id": votes.question_id[index],
            "model_a": votes.model_a[index],
            "model_b": votes.model_b[index],
        }
        row |= {"winner": WINNERS[share]} if share in WINNERS else {"score": share}
        if votes.annotator[index]:
            row["annotator"] = votes.annotator[index]
        if not np.isnan(prob):
            row["sampling_prob"] = prob
        yield row
