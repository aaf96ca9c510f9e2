"""AlpacaEval's `annotations.json`.

`preference` goes from 1 (`generator_1` is better) to 2 (`generator_2` is); 0 and 1.5 are ties, and
nothing means that the annotator's reply could not be read. AlpacaEval's win rate of `generator_2`
is the mean of `preference - 1` and its standard error the sample's: here `mean_score` and
`standard_error` of the rates.

Source: AlpacaEval (Li et al., 2023), its `metrics.get_winrate`.
"""

from __future__ import annotations

import math

from leaderboard.battles import WinnerWord
from leaderboard.formats.cells import as_number, names, refuse
from leaderboard.formats.fields import called, column, identifiers, judges, optional
from leaderboard.formats.places import Place
from leaderboard.formats.rows import BattleRows, Context, Draft, LeftOut
from leaderboard.formats.sources import Chunk

TIE = 1.5


def parse(chunk: Chunk, context: Context) -> Draft:
    """Translate annotations: `generator_1` is `model_a`, the instruction is the question's id."""
    place = called(called(chunk.place, "model_a", "generator_1"), "model_b", "generator_2")
    preferences = [
        _preference(place, index, value) for index, value in enumerate(column(chunk, "preference"))
    ]
    rows = BattleRows(
        place=place,
        question_id=identifiers(chunk, "instruction"),
        domain=optional(chunk, "dataset", context.domain, "domain"),
        model_a=names(place, "model_a", column(chunk, "generator_1")),
        model_b=names(place, "model_b", column(chunk, "generator_2")),
        winner=[_word(preference) for preference in preferences],
        score=[_score(preference) for preference in preferences],
        judge=judges(chunk, "annotator", context.judge),
        order=optional(chunk, "order"),
    )
    reasons = [LeftOut.NO_PREFERENCE if preference is None else None for preference in preferences]
    return Draft(rows=rows, reasons=reasons)


def _preference(place: Place, index: int, value: object) -> float | None:
    """Read 0 or 1…2; nothing, empty and NaN are no preference."""
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    number = as_number(place, index, "preference", value)
    if number == 0:
        return TIE
    if not 1 <= number <= 2:  # noqa: PLR2004 - the bounds that the format defines
        refuse(place, index, "preference", value, "0, or a number between 1 and 2, is expected")
    return number


def _score(preference: float | None) -> float | None:
    """The share of the win; None where the winner alone says it."""
    return None if preference is None or preference in {1, TIE, 2} else 2 - preference


def _word(preference: float | None) -> str:
    if preference is None or preference == TIE:
        return WinnerWord.TIE.value
    return WinnerWord.A.value if preference < TIE else WinnerWord.B.value
