"""The project's own rows, which Chatbot Arena's and RAG-QA Arena's `all_battles.json` resemble.

Source: docs/design.md, section 4; Chiang et al. (2024), the columns of the released battles.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from leaderboard.formats.rows import (
    BattleRows,
    Context,
    Draft,
    LeftOut,
    Place,
    as_number,
    counts,
    covariate_columns,
    missing,
    names,
    refuse,
    scores,
    winners,
)
from leaderboard.formats.sources import Chunk, column, has, identifiers, optional
from leaderboard.vocabulary import Covariate

COUNT_COLUMNS = ("weight", "count")
FIRST_SHOWN: Mapping[str, float] = MappingProxyType(
    dict.fromkeys(("a", "model_a", "ab", "1"), 1.0)
    | dict.fromkeys(("b", "model_b", "ba", "-1"), -1.0)
    | dict.fromkeys(("both", "0"), 0.0)
)
"""What may stand in a column that says which answer was shown first; `both` are both orders."""
YES_OR_NO: Mapping[str, float] = MappingProxyType({"true": 1.0, "false": 0.0})


def parse(chunk: Chunk, context: Context) -> Draft:
    """Translate rows of `model_a, model_b, winner` and what else of the design's columns they have.

    `repeat` and `wording` tell readings of one battle apart, for intervals that count the judge's error;
    elsewhere each row is a battle. A `weight` (or `count`) says how often a row counts; one that counts zero
    times is left out.
    """
    place = chunk.place
    weight = _weights(chunk)
    rows = BattleRows(
        place=place,
        question_id=identifiers(chunk, "question_id"),
        domain=optional(chunk, "domain", context.domain),
        model_a=names(place, "model_a", column(chunk, "model_a")),
        model_b=names(place, "model_b", column(chunk, "model_b")),
        winner=winners(place, column(chunk, "winner")),
        score=scores(place, column(chunk, "score")) if has(chunk, "score") else None,
        weight=weight,
        judge=optional(chunk, "judge", context.judge),
        order=optional(chunk, "order"),
        covariates=_covariates(chunk) if context.covariates else {},
        repeat=_as_text(chunk, "repeat"),
        wording=_as_text(chunk, "wording"),
    )
    reasons = None if weight is None else [None if w > 0 else LeftOut.ZERO_COUNT for w in weight]
    return Draft(rows=rows, reasons=reasons)


def _as_text(chunk: Chunk, name: str) -> list[str] | None:
    """A column of which only equal cells matter, whatever they hold; nothing is the empty text."""
    if not has(chunk, name):
        return None
    return ["" if value is None else str(value) for value in column(chunk, name)]


def _weights(chunk: Chunk) -> list[float] | None:
    weight_columns = [name for name in COUNT_COLUMNS if has(chunk, name)]
    if len(weight_columns) > 1:
        missing(chunk.place, 0, weight_columns[0], " Use either weight or count, not both.")
    return (
        counts(chunk.place, weight_columns[0], column(chunk, weight_columns[0])) if weight_columns else None
    )


def _covariates(chunk: Chunk) -> Mapping[str, list[float | None]]:
    """The columns of covariates that a chunk has; without `position`, an `order` says the same."""
    cells: dict[str, list[float | None]] = {}
    for covariate in Covariate:
        for name in covariate_columns(covariate):
            source = "order" if covariate is Covariate.POSITION and not has(chunk, name) else name
            if has(chunk, source):
                values = enumerate(column(chunk, source))
                cells[name] = [_cell(chunk.place, at, source, covariate, value) for at, value in values]
    return cells


def _cell(place: Place, index: int, name: str, covariate: Covariate, value: object) -> float | None:
    """One covariate of one row; None where the cell is empty.

    Raises:
        RecordError: It is no count, no mark, or names neither answer; the message names row and column.
    """
    if value is None or value == "":
        return None
    if covariate is Covariate.POSITION:
        if str(value) not in FIRST_SHOWN:
            refuse(place, index, name, value, '"a", "b" or "both" is expected: the answer shown first')
        return FIRST_SHOWN[str(value)]
    if covariate is Covariate.SAME_FAMILY:
        said = YES_OR_NO.get(str(value).lower())
        number = as_number(place, index, name, value) if said is None else said
        if not 0 <= number <= 1:
            refuse(
                place, index, name, value, "1 or 0 is expected: whether the answer is of the judge's family"
            )
        return number
    number = as_number(place, index, name, value)
    if number < 0:
        refuse(place, index, name, value, "a count of 0 or more is expected")
    return number
