"""Arena-Hard's `model_judgment` lines: two games a question, five grades.

The first game shows the baseline first (as A), the second the model. `A>>B` counts three times, as
Arena-Hard weighs it, so that the share of wins here is its score.

Source: Arena-Hard-Auto (Li et al., 2024), its `show_result`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from leaderboard.battles import WinnerWord
from leaderboard.formats.cells import missing, names, refuse
from leaderboard.formats.fields import called, column, has, identifiers, judges, optional
from leaderboard.formats.places import Place
from leaderboard.formats.rows import BattleRows, Context, Draft, LeftOut
from leaderboard.formats.sources import Chunk

STRONG = 3.0
"""How often a clear win counts (`>>`), Arena-Hard's default weight."""

GAMES = 2


@dataclass(frozen=True, slots=True)
class Grade:
    """What a grade says of the answer shown as A: it won (1), lost (-1) or tied (0), and how often."""

    sign: int
    weight: float


GRADES: Mapping[str, Grade] = MappingProxyType(
    {
        "A>>B": Grade(1, STRONG),
        "A>B": Grade(1, 1.0),
        "A=B": Grade(0, 1.0),
        "A<B": Grade(-1, 1.0),
        "A<<B": Grade(-1, STRONG),
        "B>>A": Grade(-1, STRONG),
        "B>A": Grade(-1, 1.0),
        "B=A": Grade(0, 1.0),
        "B<A": Grade(1, 1.0),
        "B<<A": Grade(1, STRONG),
    }
)


def parse(chunk: Chunk, context: Context) -> Draft:
    """Translate both games of each line: `model` is `model_a`, the baseline `model_b`.

    A game without a grade (the judge's reply could not be read) is left out and counted, and so is one that
    was not played.
    """
    place = called(called(chunk.place, "model_a", "model"), "model_b", "baseline")
    grades = [
        grade for index, games in enumerate(column(chunk, "games")) for grade in _grades(place, index, games)
    ]
    baseline = optional(chunk, "baseline", context.baseline, "model_b") or []
    question = identifiers(chunk, "uid") if has(chunk, "uid") else identifiers(chunk, "question_id")
    if question is None:
        missing(place, 0, "question_id", " Newer files call it uid.")
    rows = BattleRows(
        place=replace(place, rows_a_record=GAMES),
        question_id=_per_game(question),
        domain=_per_game(optional(chunk, "category", context.domain, "domain")),
        model_a=_per_game(names(place, "model_a", column(chunk, "model"))) or [],
        model_b=_per_game([name or context.baseline for name in baseline]) or [],
        winner=[_word(grade, game) for grade, game in grades],
        weight=[1.0 if grade is None else grade.weight for grade, _ in grades],
        judge=_per_game(judges(chunk, "judge", context.judge)),
        order=["ba", "ab"] * len(chunk.records),
    )
    return Draft(rows=rows, reasons=[LeftOut.UNREADABLE if g is None else None for g, _ in grades])


def _grades(place: Place, index: int, games: object) -> list[tuple[Grade | None, int]]:
    if not isinstance(games, list) or len(games) > GAMES:
        refuse(place, index, "games", games, "a list of two games is expected")
    played = [*games, *[None] * (GAMES - len(games))]
    return [(_grade(place, index, game), number) for number, game in enumerate(played)]


def _grade(place: Place, index: int, game: object) -> Grade | None:
    if game is None:
        return None
    if not isinstance(game, Mapping) or "score" not in game:
        refuse(place, index, "games", game, "a game with a score is expected")
    score = game["score"]
    if score is None or score == "":
        return None
    if not isinstance(score, str) or score not in GRADES:
        refuse(place, index, "games", score, f"one of {', '.join(GRADES)} is expected")
    return GRADES[score]


def _word(grade: Grade | None, game: int) -> str:
    """Turn the sign for the answer shown as A into the winner; A is the baseline in the first game."""
    if grade is None or grade.sign == 0:
        return WinnerWord.TIE.value
    return (WinnerWord.A if (grade.sign > 0) == (game == 1) else WinnerWord.B).value


def _per_game(values: Sequence[str] | None) -> list[str] | None:
    return None if values is None else [value for value in values for _ in range(GAMES)]
