"""What the sections of a board's snapshot, and the commands' JSON, come to in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaderboard.trust.sections import Section

Json = Mapping[str, Any]


def trust_sentences(standings: Json) -> tuple[str, ...]:
    """What a board's first place depends on; nothing where nobody looked."""
    found = standings.get(Section.FRAGILITY)
    sentence = first_place_sentence(found["questions"]) if found else ""
    return (sentence,) if sentence else ()


def first_place_sentence(fragility: Json) -> str:
    """How many questions, or battles, decide first place; empty where there is no first and second."""
    pair = fragility["first_place"]
    return exchange_sentence(pair, fragility["unit"], " first place") if pair else ""


def exchange_sentence(pair: Json, unit: str, what: str = "") -> str:
    """On how many questions, or battles, the order of two systems rests.

    Args:
        pair: As `battles fragility` gives it.
        unit: `questions` or `battles`.
        what: What is decided; empty for the order of the two.
    """
    first, second, size = pair["first"], pair["second"], pair["size"]
    if pair["status"] == "tied":
        return f"{first} and {second} have the same rating."
    if size is None:
        return (
            f"No set of up to half of the {pair['of']:,} {unit} was found whose removal would put {second} "
            f"ahead of {first}."
        )
    decided = what or " their order"
    one = size == 1
    return (
        f"{size:,} {unit[:-1] if one else unit} of {pair['of']:,} {'decides' if one else 'decide'}{decided}: "
        f"without {'it' if one else 'them'} {second} would stand before {first}."
    )
