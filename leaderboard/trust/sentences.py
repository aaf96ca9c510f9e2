"""What the sections of a board's snapshot, and the commands' JSON, come to in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaderboard.trust.sections import Section

Json = Mapping[str, Any]
MOST_MOVES = 3


def trust_sentences(standings: Json) -> tuple[str, ...]:
    """What a board's places rest on, and how its judge contradicts itself; nothing where nobody looked."""
    found, cycles = standings.get(Section.FRAGILITY), standings.get(Section.CYCLES)
    return tuple(
        filter(
            None,
            (
                first_place_sentence(found["questions"]) if found else "",
                cycles_sentence(cycles) if cycles else "",
                star_sentence(cycles.get("star")) if cycles else "",
            ),
        )
    )


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


def cycles_sentence(cycles: Json) -> str:
    """How often the judge makes cycles on one question."""
    if cycles["share"] is None:
        return f"All {cycles['triples']:,} triples of systems that were judged on one question hold a tie."
    return (
        f"On one question the judge prefers A to B, B to C and C to A in {_percent(cycles['share'])} "
        f"({_percent(cycles['lower'])} to {_percent(cycles['upper'])}) of {cycles['strict']:,} triples of "
        f"systems without a tie; coin flips would in {_percent(cycles['coin_flips'])}."
    )


def star_sentence(star: Json | None) -> str:
    """Which systems stand elsewhere by the battles against the reference alone."""
    if not star or not star["places"]:
        return ""
    places = star_places(star)
    moved = [(system, *ends) for system, ends in places.items() if ends[0] != ends[1]]
    against = f"by the battles against {star['reference']} alone"
    if not moved:
        return f"The order is the same {against}."
    named = [f"{system} place {alone} instead of {place}" for system, place, alone in moved[:MOST_MOVES]]
    more = f" and {len(moved) - MOST_MOVES} more" if len(moved) > MOST_MOVES else ""
    have = "has another place" if len(moved) == 1 else "have other places"
    return f"{len(moved)} of {len(places)} systems {have} {against}: {', '.join(named)}{more}."


def star_places(star: Json) -> Mapping[str, tuple[int, int]]:
    """The place of each system by all battles, and by those against the reference alone, among the systems.

    The reference takes none.
    """
    rows = [row for row in star["places"] if row["system"] != star["reference"]]
    ends = [(row["place"], row["star_place"]) for row in rows]
    return {
        row["system"]: (
            1 + sum(other[0] < place for other in ends),
            1 + sum(other[1] < alone for other in ends),
        )
        for row, (place, alone) in zip(rows, ends, strict=True)
    }


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
