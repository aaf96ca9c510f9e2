"""`arena votes`: public blind votes on the published systems of a set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import AsJson
from arena.cli.output import note, show_fields, show_json, show_line, show_result, show_table
from arena.container import open_arena

if TYPE_CHECKING:
    from data.records.public_votes import Poll

commands = typer.Typer(
    help="Public blind votes: visitors judge pairs of a set's published systems at /vote.",
    no_args_is_help=True,
)
SetName = Annotated[str, typer.Argument(metavar="SET", help="Name of the question set.")]


@commands.command("open")
def open_(name: SetName, *, as_json: AsJson = False) -> None:
    """Let visitors vote on a set; sets whose licence forbids showing texts are refused."""
    poll = open_arena().public_votes.open(name)
    show_result(_json(poll), f"Visitors vote on {name} at /vote/{name}.", as_json=as_json)


@commands.command()
def close(name: SetName, *, as_json: AsJson = False) -> None:
    """Take no more votes on a set; those given stay."""
    poll = open_arena().public_votes.close(name)
    show_result(_json(poll), f"Votes on {name} are closed.", as_json=as_json)


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the sets that visitors vote on, or did."""
    found = open_arena().public_votes.polls()
    if as_json:
        show_json([_json(poll) for poll in found])
    elif not found:
        note("Visitors vote on no set. Open votes with `arena votes open SET`.")
    else:
        rows = [(poll.set_name, "open" if poll.open else "closed") for poll in found]
        show_table(("set", "votes"), rows)


@commands.command()
def show(name: SetName, *, as_json: AsJson = False) -> None:
    """Show the board of a set's public votes, which no judge has a part in."""
    board = open_arena().public_votes.board(name)
    fields = board.as_json()
    if as_json:
        show_json(fields)
        return
    rejected = fields.pop("rejected")
    fields.pop("ratings")
    fields.pop("unrankable")
    show_fields({**fields, **{f"rejected: {reason}": count for reason, count in rejected.items()}})
    if board.ratings is None:
        show_line(board.unrankable)
        return
    rows = [
        (
            f"{row.rank_lower}–{row.rank_upper}",
            row.system,
            _points(row.rating),
            _points(row.lower),
            _points(row.upper),
        )
        for row in board.ratings.ratings
    ]
    show_table(("rank", "system", "rating", "lower", "upper"), rows)


@commands.command()
def export(
    name: SetName,
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="The votes file to write, JSONL.")],
) -> None:
    """Write the votes that count as a votes file, for `--people`; annotators are pseudonyms."""
    from leaderboard.formats.sinks import atomic_text

    text = open_arena().public_votes.export(name)
    with atomic_text(destination) as file:
        file.write(text)
    show_line(f"{text.count(chr(10)):,} votes written to {destination}.")


def _points(value: float | None) -> str | None:
    return None if value is None else f"{value:.0f}"


def _json(poll: Poll) -> dict[str, object]:
    return {
        "set": poll.set_name,
        "open": poll.open,
        "opened_at": poll.opened_at.isoformat(),
        "closed_at": None if poll.closed_at is None else poll.closed_at.isoformat(),
    }
