"""Native rows, a superset of Chatbot Arena's and RAG-QA Arena's `all_battles.json`.

Source: docs/design.md; Chiang et al. (2024), the columns of the released battles.
"""

from collections.abc import Mapping
from types import MappingProxyType

from data.errors import InputError, RecordError
from leaderboard.battles import WinnerWord
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
from leaderboard.formats.sources import Chunk, column, has, identifiers, judges, optional
from leaderboard.vocabulary import Covariate

COUNT_COLUMNS = ("weight", "count")
POSITIONS: Mapping[str, float] = MappingProxyType(
    dict.fromkeys(("a", "model_a", "ab", "1"), 1.0)
    | dict.fromkeys(("b", "model_b", "ba", "-1"), -1.0)
    | dict.fromkeys(("both", "0"), 0.0)
)
"""Values of the columns `position` and `order`; `both` means both orders."""
SETTLED = (None, "", "judged")
"""Values of `outcome` for battles with a verdict."""
YES_OR_NO: Mapping[str, float] = MappingProxyType({"true": 1.0, "false": 0.0})
NOT_ANONYMOUS = frozenset({"false", "0", "0.0", "no"})
"""Values of `anony` for votes of people who saw the systems' names; LMArena's boards leave them out."""
ONE_HOT: Mapping[str, str] = MappingProxyType(
    {
        "winner_model_a": WinnerWord.A.value,
        "winner_model_b": WinnerWord.B.value,
        "winner_tie": WinnerWord.TIE.value,
    }
)


def parse(chunk: Chunk, context: Context) -> Draft:
    """Translate rows of `model_a, model_b, winner` and further native columns.

    A `weight` (or `count`) of 0 leaves a row out, and so does a vote that was not anonymous (`anony`).
    """
    words = [
        WinnerWord.TIE.value if is_open else won
        for is_open, won in zip(_without_verdict(chunk), column(chunk, "winner"), strict=True)
    ]
    return _draft(chunk, context, identifiers(chunk, "question_id"), winners(chunk.place, words))


def _without_verdict(chunk: Chunk) -> list[bool]:
    return [not record.get("winner") and record.get("outcome") not in SETTLED for record in chunk.records]


def parse_one_hot(chunk: Chunk, context: Context) -> Draft:
    """Translate rows in which one of `winner_model_a`, `winner_model_b` and `winner_tie` is 1.

    Source: Chiang et al. (2024), the released 55,000 battles (`lmsys-arena-human-preference-55k`).
    """
    marks = [
        [_mark(chunk.place, index, name, value) for index, value in enumerate(column(chunk, name))]
        for name in ONE_HOT
    ]
    words: list[str] = []
    for index, row in enumerate(zip(*marks, strict=True)):
        if sum(row) != 1:
            cells = ", ".join(f"{name} {mark}" for name, mark in zip(ONE_HOT, row, strict=True))
            problem = f"exactly one of the three must be 1 (the row has {cells})"
            refuse(chunk.place, index, "winner_model_a", row[0], problem)
        words.append(list(ONE_HOT.values())[row.index(1)])
    question = "question_id" if has(chunk, "question_id") else "id"
    return _draft(chunk, context, identifiers(chunk, question), words)


def _mark(place: Place, index: int, name: str, value: object) -> int:
    number = YES_OR_NO.get(str(value).lower())
    number = as_number(place, index, name, value) if number is None else number
    if number not in {0, 1}:
        refuse(place, index, name, value, "1 or 0 is expected")
    return int(number)


def _draft(chunk: Chunk, context: Context, questions: list[str] | None, words: list[str]) -> Draft:
    place = chunk.place
    weight = _weights(chunk)
    rows = BattleRows(
        place=place,
        question_id=questions,
        domain=optional(chunk, "domain", context.domain),
        model_a=names(place, "model_a", column(chunk, "model_a")),
        model_b=names(place, "model_b", column(chunk, "model_b")),
        winner=words,
        score=scores(place, column(chunk, "score")) if has(chunk, "score") else None,
        weight=weight,
        judge=judges(chunk, "judge", context.judge),
        order=optional(chunk, "order"),
        covariates=_covariates(chunk) if context.covariates else {},
    )
    reasons = [LeftOut.NO_VERDICT if is_open else None for is_open in _without_verdict(chunk)]
    if not context.named and has(chunk, "anony"):
        for index, value in enumerate(column(chunk, "anony")):
            if str(value).lower() in NOT_ANONYMOUS:
                reasons[index] = LeftOut.NAMED
    for index, count in enumerate(weight or ()):
        if count == 0:
            reasons[index] = LeftOut.ZERO_COUNT
    return Draft(rows=rows, reasons=reasons, first=_misplaced(chunk, reasons))


def _misplaced(chunk: Chunk, reasons: list[LeftOut | None]) -> Mapping[LeftOut, InputError]:
    first: dict[LeftOut, InputError] = {}
    if not (has(chunk, "order") and has(chunk, "position")):
        return first
    for index, (order, position) in enumerate(
        zip(column(chunk, "order"), column(chunk, "position"), strict=True)
    ):
        known = [POSITIONS.get(_position(value)) for value in (order, position)]
        if None not in known and known[0] != known[1]:
            reasons[index] = LeftOut.CONTRADICTION
            message = (
                f"{chunk.place.at(index, 'position')}: the position is {position!r}, but the order {order!r} "
                "puts another answer first."
            )
            advice = "Correct one of them, or leave one of the columns out."
            first.setdefault(LeftOut.CONTRADICTION, RecordError(message, advice=advice))
    return first


def _weights(chunk: Chunk) -> list[float | None] | None:
    weight_columns = [name for name in COUNT_COLUMNS if has(chunk, name)]
    if len(weight_columns) > 1:
        missing(chunk.place, 0, weight_columns[0], " Use either weight or count, not both.")
    return (
        counts(chunk.place, weight_columns[0], column(chunk, weight_columns[0])) if weight_columns else None
    )


def _covariates(chunk: Chunk) -> Mapping[str, list[float | None]]:
    """Return the covariates of a chunk by column; `order` replaces a missing `position`."""
    cells: dict[str, list[float | None]] = {}
    for covariate in Covariate:
        for name in covariate_columns(covariate):
            source = "order" if covariate is Covariate.POSITION and not has(chunk, name) else name
            if has(chunk, source):
                values = enumerate(column(chunk, source))
                cells[name] = [_cell(chunk.place, at, source, covariate, value) for at, value in values]
    return cells


def _position(value: object) -> str:
    return str(value).strip().removesuffix(".0")


def _cell(place: Place, index: int, name: str, covariate: Covariate, value: object) -> float | None:
    if value is None or value == "":
        return None
    if covariate is Covariate.POSITION:
        if _position(value) not in POSITIONS:
            refuse(place, index, name, value, '"a", "b" or "both" is expected: the first answer')
        return POSITIONS[_position(value)]
    number = as_number(place, index, name, value)
    if number < 0:
        refuse(place, index, name, value, "a count of 0 or more is expected")
    return number
