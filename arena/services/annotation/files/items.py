"""Files that name items: those that are to be labelled, and gold ones with their right values."""

from __future__ import annotations

from arena.services.annotation.files.lines import WINNERS
from arena.services.annotation.files.model import Json, refuse, rows_of, text_of, value_of_side
from arena.services.annotation.requests import ChosenItem
from data.errors import FileFormatError
from data.records import LabelScale

NAMES = {"system_a": "model_a", "system_b": "model_b", "passage": "passage", "sub_question": "sub_question"}


def read_items(content: bytes, scale: LabelScale = LabelScale.GRADES) -> tuple[ChosenItem, ...]:
    """Read items, one JSON object a line.

    Fields: `question_id`; for pairs `model_a`, `model_b`; for passages `passage`; optional `sub_question`.
    Gold items have a `value`, or of pairs a `winner`.

    Raises:
        FileFormatError: The file names no item, or a line cannot be read.
    """
    items = tuple(_item(place, row, scale) for place, row in rows_of(content))
    if not items:
        raise FileFormatError("The file names no items.", advice="Write one object a line.")
    return items


def _item(place: str, row: Json, scale: LabelScale) -> ChosenItem:
    gold = row.get("value")
    winner = row.get("winner")
    if gold is None and winner is not None:
        side = WINNERS.get(str(winner)) or refuse(place, f"has the winner {winner!r}")
        gold = value_of_side(side, scale)
    if gold is not None and (not isinstance(gold, int) or isinstance(gold, bool)):
        refuse(place, f"has the value {gold!r}; a whole number is expected")
    named = {field: text_of(place, row, name, needed=False) for field, name in NAMES.items()}
    return ChosenItem(question_id=text_of(place, row, "question_id"), gold=gold, **named)
