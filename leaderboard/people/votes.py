"""Votes of people on battles, as columns: what a votes file becomes once it has been checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import RecordError
from leaderboard.battles import CODES, contradicting
from leaderboard.formats.cells import as_number, labels, names, scores, winners
from leaderboard.formats.cells import refuse as refuse_cell
from leaderboard.formats.places import Place
from leaderboard.formats.rows import score_contradicts, share_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked(Place):
    """Some rows of a place, each named as it is there."""

    whole: Place
    picked: Sequence[int]

    def at(self, index: int, column: str = "") -> str:
        """Name a record, and a column of it, for a message."""
        return self.whole.at(self.picked[index], column)


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Votes:
    """Checked votes, one a row.

    Attributes:
        place: Where the rows stand, for messages.
        question_id: The question of each vote.
        model_a: The first-named system.
        model_b: The second-named one.
        share: (V,) share of the win that `model_a` gets, 0–1.
        sampling_prob: (V,) probability that the battle was drawn to be labelled; NaN where the row is silent.
        annotator: Who voted; empty where the row does not say.
    """

    place: Place
    question_id: tuple[str, ...]
    model_a: tuple[str, ...]
    model_b: tuple[str, ...]
    share: Floats
    sampling_prob: Floats
    annotator: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.question_id)

    def where(self, kept: NDArray[np.bool_]) -> Votes:
        """The votes of some rows; messages still name where they stand.

        Args:
            kept: (V,) which.
        """
        rows = np.flatnonzero(kept).tolist()
        return Votes(
            place=Picked(file=self.place.file, first_row=1, whole=self.place, picked=rows),
            question_id=tuple(self.question_id[row] for row in rows),
            model_a=tuple(self.model_a[row] for row in rows),
            model_b=tuple(self.model_b[row] for row in rows),
            share=self.share[kept],
            sampling_prob=self.sampling_prob[kept],
            annotator=tuple(self.annotator[row] for row in rows),
        )

    @classmethod
    def from_columns(
        cls,
        question_id: Sequence[object],
        model_a: Sequence[object],
        model_b: Sequence[object],
        winner: Sequence[object] | None = None,
        score: Sequence[object] | None = None,
        *,
        annotator: Sequence[object] | None = None,
        sampling_prob: Sequence[object] | None = None,
        place: Place | None = None,
    ) -> Votes:
        """Check columns of equal length.

        Args:
            question_id: The question of each vote.
            model_a: The first-named system.
            model_b: The second-named one.
            winner: `model_a`, `model_b`, `tie` or `tie (bothbad)`; may be empty where there is a score.
            score: Share of the win that `model_a` gets, 0–1; counts before `winner`, which must not
                contradict it.
            annotator: Who voted, may be empty.
            sampling_prob: Probability that the battle was drawn to be labelled, above 0, at most 1, or empty
            place: Where the rows stand; None names them by row.

        Raises:
            RecordError: A value breaks a rule, or columns differ in length; the message names line (or
                row) and column.
        """
        place = place or Place(file="votes", first_row=1)
        blank: list[object] = [None] * len(question_id)
        columns = [
            model_a,
            model_b,
            winner or blank,
            score or blank,
            annotator or blank,
            sampling_prob or blank,
        ]
        if any(len(column) != len(question_id) for column in columns):
            message = f"{place.file}: the columns differ in length."
            raise RecordError(message, advice="Give one value of each for every vote.")
        first, second = names(place, "model_a", model_a), names(place, "model_b", model_b)
        for index, (a, b) in enumerate(zip(first, second, strict=True)):
            if a == b:
                message = f"{place.at(index, 'model_b')}: {b!r} battles itself."
                raise RecordError(message, advice="A battle needs two different systems; remove the row.")
        return cls(
            place=place,
            question_id=tuple(names(place, "question_id", question_id)),
            model_a=tuple(first),
            model_b=tuple(second),
            share=_shares(place, winner or blank, score or blank),
            sampling_prob=_sampling_probs(place, sampling_prob or blank),
            annotator=_annotators(place, annotator or blank),
        )


def _shares(place: Place, winner: Sequence[object], score: Sequence[object]) -> Floats:
    shares = scores(place, score)
    for index, word in enumerate(winner):
        if not _empty(word) or shares[index] is None:
            (known,) = winners(_row(place, index), [word])
            said = shares[index]
            if said is None:
                shares[index] = share_of(known)
            elif contradicting(np.array([CODES[known]], dtype=np.int8), np.array([said]))[0]:
                raise score_contradicts(place, index, known, said)
    return np.array(shares, dtype=np.float64)


def _sampling_probs(place: Place, values: Sequence[object]) -> Floats:
    found = np.full(len(values), np.nan)
    for index, value in enumerate(values):
        if not _empty(value):
            found[index] = as_number(place, index, "sampling_prob", value)
            if not 0 < found[index] <= 1:
                refuse_cell(
                    place, index, "sampling_prob", value, "a probability above 0 and not above 1 is expected"
                )
    return found


def _annotators(place: Place, values: Sequence[object]) -> tuple[str, ...]:
    return tuple(labels(place, "annotator", values))


def _row(place: Place, index: int) -> Place:
    """The place of one row alone."""
    lines = None if place.lines is None else [place.lines[index]]
    return type(place)(file=place.file, first_row=place.first_row + index, lines=lines)


def _empty(value: object) -> bool:
    return value is None or value == ""
