"""MT-bench's pairwise judgments: two games a line, `model_1` shown first in the first one.

Source: Zheng et al. (2023), FastChat's `play_a_match_pair`: both winners are named by system, not by place.
"""

from __future__ import annotations

from dataclasses import replace

from leaderboard.battles import WinnerWord
from leaderboard.formats.cells import names, refuse
from leaderboard.formats.fields import called, column, identifiers, judges, optional
from leaderboard.formats.places import Place
from leaderboard.formats.rows import BattleRows, Context, Draft, LeftOut
from leaderboard.formats.sources import Chunk

GAMES = ("g1_winner", "g2_winner")
WORDS = {"model_1": WinnerWord.A.value, "model_2": WinnerWord.B.value, "tie": WinnerWord.TIE.value}
ERROR = "error"


def parse(chunk: Chunk, context: Context) -> Draft:
    """Translate both games of each line; one that the reply did not decide is left out and counted."""
    place = called(called(chunk.place, "model_a", "model_1"), "model_b", "model_2")
    games = list(zip(*(column(chunk, name) for name in GAMES), strict=True))
    words = [
        _word(chunk.place, index, name, value)
        for index, game in enumerate(games)
        for name, value in zip(GAMES, game, strict=True)
    ]
    rows = BattleRows(
        place=replace(place, rows_a_record=len(GAMES)),
        question_id=_per_game(identifiers(chunk, "question_id")),
        domain=_per_game(optional(chunk, "domain", context.domain)),
        model_a=_per_game(names(place, "model_a", column(chunk, "model_1"))) or [],
        model_b=_per_game(names(place, "model_b", column(chunk, "model_2"))) or [],
        winner=[word or WinnerWord.TIE.value for word in words],
        judge=_per_game(judges(chunk, "judge", context.judge)),
        order=["ab", "ba"] * len(games),
    )
    return Draft(rows=rows, reasons=[LeftOut.UNREADABLE if word is None else None for word in words])


def _word(place: Place, index: int, name: str, value: object) -> str | None:
    if value is None or value in ("", ERROR):
        return None
    if not isinstance(value, str) or value not in WORDS:
        refuse(place, index, name, value, f"one of {', '.join(WORDS)}, {ERROR} is expected")
    return WORDS[value]


def _per_game(values: list[str] | None) -> list[str] | None:
    return None if values is None else [value for value in values for _ in GAMES]
