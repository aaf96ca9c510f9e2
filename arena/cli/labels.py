"""`arena labels`: open rounds for labelling; count, export and import labels."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import AsJson, File, RoundArgument, names_of
from arena.cli.output import note, show_fields, show_json, show_result, show_rows
from arena.container import open_arena
from data.text import counted

commands = typer.Typer(
    help="Labels: people choose the better of two answers.",
    epilog="Also: `close` and `list`.",
    no_args_is_help=True,
)


@commands.command("open")
def open_(
    name: RoundArgument,
    invite: Annotated[
        str, typer.Option(metavar="A,B", help="Accounts that may label.", show_default=False)
    ] = "",
    *,
    everybody: Annotated[
        bool, typer.Option("--everybody", help="Let every visitor label; only for published rounds.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Open a round for labelling on the page *Label pairs*.

    $ arena labels open demo --invite ann,bob
    """
    labels = open_arena().labels
    opened = labels.open(name, list(names_of(invite)), everybody=everybody)
    who = "Every visitor" if everybody else ", ".join(opened.people)
    show_result(labels.show(name), f"{who} may label {name} at /label?round={name}.", as_json=as_json)


@commands.command(hidden=True)
def close(name: RoundArgument, *, as_json: AsJson = False) -> None:
    """Close a round for labelling; its labels stay.

    $ arena labels close demo
    """
    open_arena().labels.close(name)
    show_result({"round": name, "open": False}, f"{name} is closed for labelling.", as_json=as_json)


@commands.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="ROUND", show_default="all rounds with labels", help="Name of the round.")
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """List the rounds with labels, or count the labels of one round by value and person.

    $ arena labels show demo
    """
    if not name:
        list_(as_json=as_json)
        return
    fields = open_arena().labels.show(name)
    if as_json:
        show_json(fields)
        return
    people, values, invited = (fields.pop(key) for key in ("people", "labels", "invited"))
    show_fields({**fields, "invited": ", ".join(invited), **values, **people})


@commands.command("list", hidden=True)
def list_(*, as_json: AsJson = False) -> None:
    """List the rounds with labels.

    $ arena labels list
    """
    names = ("round", "set", "open", "labels")
    rows = [(task.name, task.set_name, task.open, count) for task, count in open_arena().labels.rounds()]
    payload = [dict(zip(names, row, strict=True)) for row in rows]
    show_rows(payload, names, rows, as_json=as_json, empty="No round has labels. Use `arena labels open`.")


@commands.command()
def export(
    name: RoundArgument,
    destination: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv or .json file to write.")],
) -> None:
    """Export the labels of a round with person, first side and time; skips are left out.

    $ arena labels export demo labels.csv
    """
    from arena.services.labels import file_of
    from data.files.zip_files import atomic_text

    rows = open_arena().labels.export(name)
    with atomic_text(destination) as file:
        file.write(file_of(rows, as_csv=destination.suffix == ".csv"))
    note(f"{len(rows):,} labels written to {destination}.")


@commands.command("import")
def import_(name: RoundArgument, file: File, *, as_json: AsJson = False) -> None:
    """Add the labels of a file to a round: CSV, JSON, or an export from Label Studio or Argilla.

    $ arena labels import demo labels.csv
    """
    new, left_out = open_arena().labels.import_file(name, file)
    payload = {"round": name, "labels": new, "left_out": left_out}
    show_result(payload, f"{counted(new, 'label')} added to {name}.", as_json=as_json)
    note(*(f"{count:,} left out: {reason}" for reason, count in left_out.items()))
