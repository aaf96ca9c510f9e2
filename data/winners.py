"""Who won a pair, as files of others say it: by a side, or by the winner's name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

Side = Literal["a", "b", "tie"]

_WORDS: Mapping[str, Side] = MappingProxyType(
    {
        **dict.fromkeys(("a", "model_a", "model a", "system_a", "assistant_a", "left"), "a"),
        **dict.fromkeys(("b", "model_b", "model b", "system_b", "assistant_b", "right"), "b"),
        **dict.fromkeys(("tie", "tie (bothbad)", "tie (both bad)", "bothbad", "both_bad"), "tie"),
        **dict.fromkeys(("tie (inconsistent)", "both are bad"), "tie"),
    }
)
"""What they write, in any case."""


def winning_side(won: object, system_a: object, system_b: object, *, by_name: bool = True) -> Side | None:
    """The side that a cell names; None where it names none, or a side that is the other system's name.

    Args:
        won: The cell.
        system_a: Who is first; may be empty.
        system_b: Who is second.
        by_name: Whether a word that is a system's name may mean the system; else it is a side.
    """
    if not isinstance(won, str):
        return None
    said = won.strip()
    side = _WORDS.get(said.casefold())
    systems = (str(system_a or "").strip(), str(system_b or "").strip())
    named: Side | None = ("a" if said == systems[0] else "b") if said and said in systems else None
    if side is None or named is None or not by_name:
        return side or named
    return side if side == named else None
