"""`arena battles fragility` and `cycles`: what places rest on, and how often a judge makes cycles."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arena.cli.battles.formats import Format, format_named
from arena.cli.options import AsJson, File, Seed
from arena.cli.output import note, show_json, show_line, show_table
from data.errors import InputError
from leaderboard.trust.sections import Unit
from leaderboard.trust.sentences import (
    cycles_sentence,
    exchange_sentence,
    first_place_sentence,
    star_sentence,
)

Reference = Annotated[
    str | None, typer.Option("--reference", metavar="NAME", help="The system that is the reference.")
]


def fragility(
    file: File,
    unit: Annotated[
        Unit, typer.Option("--unit", help="Leave out whole questions, or single battles.")
    ] = Unit.QUESTIONS,
    pair: Annotated[
        str | None,
        typer.Option(
            "--pair",
            metavar="A,B",
            show_default="all neighbours in the ranking",
            help="Look at these two systems, and name what is left out.",
        ),
    ] = None,
    reference: Reference = None,
    read_as: Format = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Find the fewest questions (or battles) without which neighbours in the ranking are exchanged.

    What is found is verified by a refit of the battles that are left. That nothing smaller would do is not
    certain; where half of the questions do not suffice, none are found. First place is held by systems other
    than --reference.
    """
    from arena.services.battle_files import fragility_of_file

    rests, notes = fragility_of_file(
        file, unit=unit, pair=_pair(pair), reference=reference, read_as=format_named(read_as)
    )
    for line in notes:
        note(line)
    fields = rests.as_json()
    if as_json:
        show_json(fields)
        return
    pairs: list[dict[str, Any]] = [exchange.as_json() for exchange in rests.exchanges]
    if pair is not None:
        show_line(exchange_sentence(pairs[0], unit))
        for named in pairs[0][unit.value]:
            show_line(named if isinstance(named, str) else "  ".join(named.values()))
        return
    headers = ("first", "second", "points", unit.value, "share", "points without")
    show_table(headers, [_row(found, unit) for found in pairs])
    if said := first_place_sentence(fields):
        show_line(said)
    if rests.unrated:
        show_line(f"Without a rating: {', '.join(rests.unrated)}.")


def cycles(
    file: File,
    reference: Reference = None,
    seed: Seed = 0,
    read_as: Format = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Count how often a judge prefers A to B, B to C and C to A, on one question and over all.

    Only triples of systems count of which all three pairs were judged on the question. With --reference also
    the places by the battles against it alone, beside those by all battles.
    """
    from arena.services.battle_files import cycles_of_file

    fields, notes = cycles_of_file(file, reference=reference, seed=seed, read_as=format_named(read_as))
    for line in notes:
        note(line)
    if as_json:
        show_json(fields)
        return
    show_line(cycles_sentence(fields))
    weak = (
        f"Weak cycles: {fields['one_tie_cycles']:,} of {fields['one_tie']:,} triples with one tie "
        f"(A > B > C ~ A); {fields['two_ties']:,} with two (A > B ~ C ~ A)."
    )
    show_line(weak)
    show_table(
        ("question", "cycles", "triples without a tie", "consistence"),
        [
            (row["question"], row["cycles"], row["strict"], row["consistence"])
            for row in fields["worst_questions"]
        ],
    )
    show_table(
        ("systems", "cycles", "this way round", "questions without a tie"),
        [
            (" > ".join(row["systems"]), row["cycles"], row["same_way"], row["strict"])
            for row in fields["worst_triples"]
        ],
    )
    total = fields["over_questions"]
    show_line(f"Over all questions {total['cycles']:,} of {total['triples']:,} triples form a cycle.")
    if said := star_sentence(fields.get("star")):
        show_line(said)


def _pair(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    first, _, second = text.partition(",")
    if not first or not second or "," in second:
        raise InputError(f"{text!r} is no pair of systems.", advice="Write --pair A,B.")
    return first, second


def _row(found: dict[str, Any], unit: Unit) -> tuple[str | int | float | None, ...]:
    size = f"none in half of {found['of']:,}" if found["size"] is None else f"{found['size']:,}"
    without = found["points_without"]
    return (
        found["first"],
        found["second"],
        f"{found['points']:.1f}",
        "equal ratings" if found["status"] == "tied" else f"{size} {unit.value}",
        None if found["share"] is None else f"{found['share']:.1%}",
        None if without is None else f"{without:.1f}",
    )
