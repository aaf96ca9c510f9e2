"""`arena votes`: public blind votes on the published systems of a set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import AsJson, only_with
from arena.cli.output import note, show_fields, show_json, show_line, show_result, show_table
from arena.cli.tree.pages import Commands
from arena.container import open_arena

if TYPE_CHECKING:
    from data.records.public_votes import Poll

commands = Commands("Public blind votes: visitors judge pairs of a set's published systems at /vote.")
SetName = Annotated[str, typer.Argument(metavar="SET", help="Name of the question set.")]


@commands.command("open")
def open_(name: SetName, *, as_json: AsJson = False) -> None:
    """Let visitors vote on a set; sets whose licence forbids showing texts are refused.

    $ arena votes open fiqa
    """
    poll = open_arena().public_votes.open(name)
    show_result(_json(poll), f"Visitors vote on {name} at /vote/{name}.", as_json=as_json)


@commands.command()
def close(name: SetName, *, as_json: AsJson = False) -> None:
    """Take no more votes on a set; those given stay.

    $ arena votes close fiqa
    """
    poll = open_arena().public_votes.close(name)
    show_result(_json(poll), f"Votes on {name} are closed.", as_json=as_json)


@commands.command()
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="SET", show_default="the sets that have votes", help="Name of the question set."
        ),
    ] = "",
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            metavar="FILE",
            help="Write the votes that count, JSONL, for `--people`; annotators are pseudonyms.",
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show the board of a set's public votes, which no judge has a part in, or the sets that have votes.

    $ arena votes show fiqa
    """
    if not name:
        only_with("a set", {"--export": export})
        _list(as_json=as_json)
    elif export is not None:
        _export(name, export)
    else:
        _show(name, as_json=as_json)


def _list(*, as_json: bool) -> None:
    found = open_arena().public_votes.polls()
    if as_json:
        show_json([_json(poll) for poll in found])
    elif not found:
        note("Visitors vote on no set. Open votes with `arena votes open SET`.")
    else:
        rows = [(poll.set_name, "open" if poll.open else "closed") for poll in found]
        show_table(("set", "votes"), rows)


def _show(name: str, *, as_json: bool) -> None:
    board = open_arena().public_votes.board(name)
    fields = board.to_json()
    if as_json:
        show_json(fields)
        return
    rejected = fields.pop("rejected")
    fields.pop("ratings")
    fields.pop("unrankable")
    show_fields({**fields, **{f"rejected: {reason}": count for reason, count in rejected.items()}})
    if not board.ratings:
        show_line(board.unrankable)
        return
    rows = [
        (
            f"{row['rank_lower']}–{row['rank_upper']}",
            row["system"],
            *(_points(row[name]) for name in ("rating", "lower", "upper")),
        )
        for row in board.ratings
    ]
    show_table(("rank", "system", "rating", "lower", "upper"), rows)


def _export(name: str, destination: Path) -> None:
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
