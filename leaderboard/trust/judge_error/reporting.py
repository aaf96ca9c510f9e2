"""What is told of the parts of an error, in the unit of the estimates and in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from data.errors import InputError
from leaderboard.trust.judge_error.components import Components, Counts, Spread
from leaderboard.vocabulary import ErrorKind

FEWEST = 2
FEW_WORDINGS = 8
"""Below this a note says that the interval is wide because wordings are few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What another round of as many questions, in another wording, differs by: standard deviations.

    In the unit of the estimate. None for what the readings cannot tell.

    Attributes:
        questions: Other questions.
        wordings: What another wording does to the system on every question.
        wordings_by_question: What it does on single questions; repeats too where these cannot be told.
        repeats: Another call in the same words.
        degrees_of_freedom: Of Student's t behind the interval.
    """

    questions: float | None
    wordings: float | None
    wordings_by_question: float | None
    repeats: float | None
    degrees_of_freedom: float | None

    def as_json(self) -> dict[str, float | None]:
        """The object `components` of `battles rate --error` (docs/json.md)."""
        return asdict(self)


UNKNOWN = Parts(
    questions=None, wordings=None, wordings_by_question=None, repeats=None, degrees_of_freedom=None
)


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgeErrorFigures:
    """What ratings and rates have in common whose intervals count the judge's error.

    Attributes:
        kind: What the intervals count.
        notes: What readers must know of the readings, in sentences.
        counts: What the parts depend on.
    """

    kind: ErrorKind
    notes: tuple[str, ...]
    counts: Counts

    def error_json(self) -> dict[str, object]:
        """What is said of all rows alike."""
        return {
            "error": self.kind.value,
            "wordings": self.counts.wordings,
            "reworded_battles": self.counts.reworded,
            "repeated_battles": self.counts.repeated,
            "notes": list(self.notes),
        }


def nothing_repeated() -> InputError:
    """The refusal of battles of which none was read again."""
    return InputError(
        "No battle was read again, so nothing tells the judge's own error.",
        advice="Give rows of one battle different values of `wording` or `repeat`, or use --error questions.",
    )


def parts_of(sources: Components, spread: Spread, unit: float) -> list[Parts]:
    """The parts of each target's error, in a unit."""
    columns = [None if part is None else (unit * part).tolist() for part in sources.deviations()]
    rows = []
    for place, (variance, freedom) in enumerate(zip(spread.variance, spread.freedom, strict=True)):
        values = [None if column is None else _finite(column[place]) for column in columns]
        rows.append(
            Parts(
                questions=values[0],
                wordings=values[1],
                wordings_by_question=values[2],
                repeats=values[3],
                degrees_of_freedom=float(freedom),
            )
            if np.isfinite(variance)
            else replace(UNKNOWN, questions=values[0])
        )
    return rows


def notes_on(counts: Counts, wordings: Sequence[str], unlinked: Sequence[str]) -> tuple[str, ...]:
    """What readers of intervals with the judge's error must know of the readings, in sentences."""
    notes = []
    if counts.wordings == 1:
        notes.append("wordings: 1, their share of the error is unknown")
    else:
        part = "" if counts.reworded == counts.battles else f" of {counts.battles:,}"
        notes.append(f"{counts.wordings} wordings of {counts.reworded:,}{part} battles were compared")
        if counts.wordings < FEW_WORDINGS:
            notes.append(
                "few wordings make wide intervals: Student's t with as few as "
                f"{counts.wordings - 1} {'degree' if counts.wordings == FEWEST else 'degrees'} of freedom"
            )
    if counts.repeated:
        part = "" if counts.repeated == counts.battles else f" of {counts.battles:,}"
        notes.append(f"{counts.repeated:,}{part} battles were asked again in the same words")
    else:
        notes.append(
            "repeats: none in the same words, so they count with what wordings do on single questions"
        )
    if len(counts.left_out):
        names = ", ".join(repr(wordings[code]) for code in counts.left_out.tolist())
        notes.append(f"left out, since too few battles were read in them: wordings {names}")
    if unlinked:
        notes.append(f"no interval, since no retested battles link them to the others: {', '.join(unlinked)}")
    return tuple(notes)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
