"""The project's own rows, which Chatbot Arena's and RAG-QA Arena's `all_battles.json` resemble.

Source: docs/design.md, section 4; Chiang et al. (2024), the columns of the released battles.
"""

from __future__ import annotations

from leaderboard.formats.rows import (
    BattleRows,
    Context,
    Draft,
    LeftOut,
    counts,
    missing,
    names,
    scores,
    winners,
)
from leaderboard.formats.sources import Chunk, column, has, identifiers, optional

COUNT_COLUMNS = ("weight", "count")


def parse(chunk: Chunk, context: Context) -> Draft:
    """Translate rows of `model_a, model_b, winner` and what else of the design's columns they have.

    A `weight` (or `count`) says how often a row counts; a row that counts zero times is left out.
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
    )
    reasons = None if weight is None else [None if w > 0 else LeftOut.ZERO_COUNT for w in weight]
    return Draft(rows=rows, reasons=reasons)


def _weights(chunk: Chunk) -> list[float] | None:
    weight_columns = [name for name in COUNT_COLUMNS if has(chunk, name)]
    if len(weight_columns) > 1:
        missing(chunk.place, 0, weight_columns[0], " Use either weight or count, not both.")
    return (
        counts(chunk.place, weight_columns[0], column(chunk, weight_columns[0])) if weight_columns else None
    )
