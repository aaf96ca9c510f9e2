"""`arena submissions`: check, add, list, show, withdraw."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.bootstrap import open_arena
from arena.cli.options import AsJson, File, Server, SetName, TokenText
from arena.cli.output import note, problem_line, show_fields, show_json, show_line, show_table

if TYPE_CHECKING:
    from arena.remote.desks import Change, Desk, Json

commands = typer.Typer(help="Submissions: one system's file of answers.", no_args_is_help=True)


class ReportForm(StrEnum):
    """Forms of a report."""

    JSON = "json"
    HTML = "html"


COLUMNS = (
    *("id", "set", "system", "version", "team", "state"),
    *("answers", "no answer", "queue", "attempt", "chosen"),
)
Number = Annotated[int, typer.Argument(metavar="ID", help="Number of the submission.")]


@commands.command()
def check(
    file: File, set_name: SetName, server: Server = None, token: TokenText = None, *, as_json: AsJson = False
) -> None:
    """Report every problem of a file at once; exit 1 if any is an error."""
    from submissions.report import report_json, report_lines

    result = _desk(server, token).check(file, set_name)
    if as_json:
        show_json(report_json(result))
    else:
        for line in report_lines(result):
            show_line(line)
    if not result.accepted:
        raise typer.Exit(1)


@commands.command()
def add(
    file: File,
    set_name: SetName,
    system: Annotated[str, typer.Option("--system", help="Name of the system.")],
    team: Annotated[str, typer.Option("--team", help="Name of the team.")] = "",
    card: Annotated[Path | None, typer.Option("--card", help="The system card, YAML.")] = None,
    anonymous: Annotated[
        bool | None,
        typer.Option(
            "--anonymous/--named", help="Hide names until publication; by default as the version before."
        ),
    ] = None,
    server: Server = None,
    token: TokenText = None,
    *,
    hold: Annotated[bool, typer.Option("--hold", help="Store it as checked; `confirm` submits it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check a file and store it as the system's next version; a file with errors stores nothing."""
    from arena.remote.desks import Wish, problem_of

    wish = Wish(set_name=set_name, system=system, team=team, card=card, anonymous=anonymous, hold=hold)
    one = _desk(server, token).add(file, wish)
    for problem in one.pop("problems"):
        note(problem_line(problem_of(problem)))
    if as_json:
        show_json(one)
    else:
        state = "added" if one["created"] else "unchanged: the newest version has the same content"
        name = f"{one['system']} version {one['version']}"
        show_line(f"{name} ({one['answers']:,} answers) {state}; id {one['id']}.")


@commands.command()
def template(
    set_name: SetName,
    *,
    sample: Annotated[bool, typer.Option("--sample", help="A small file that would be accepted.")] = False,
) -> None:
    """Print a file of answers to fill in, a line a question."""
    for line in open_arena().submissions.template(set_name, sample=sample):
        show_line(line.rstrip("\n"))


@commands.command("list")
def list_(
    set_name: Annotated[str | None, typer.Option("--set", help="Of this question set only.")] = None,
    server: Server = None,
    token: TokenText = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List submissions by set, system and version."""
    found = _desk(server, token).find(set_name)
    if as_json:
        show_json(found)
    elif not found:
        note("There are no submissions yet. Add one with `arena submissions add FILE --set N --system S`.")
    else:
        show_table(COLUMNS, map(_row, found))


@commands.command()
def show(number: Number, server: Server = None, token: TokenText = None, *, as_json: AsJson = False) -> None:
    """Show a submission, its coverage and its card."""
    fields = _desk(server, token).view(number)
    if as_json:
        show_json(fields)
        return
    card, coverage = fields.pop("card"), fields.pop("coverage")
    fields.pop("no_answer_share")
    fields["rounds"] = ", ".join(fields["rounds"]) or None
    show_fields({**fields, **{name: text for name, text in card.items() if text}})
    show_table(("domain", "coverage"), list(coverage.items()))


@commands.command()
def report(
    number: Number,
    round_name: Annotated[str | None, typer.Option("--round", help="Else the newest with it.")] = None,
    form: Annotated[ReportForm, typer.Option("--format", help="Of what is written.")] = ReportForm.JSON,
    out: Annotated[Path | None, typer.Option("--out", help="File to write; else it is printed.")] = None,
    server: Server = None,
    token: TokenText = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Say of a judged submission where it loses, what it misses, and what to read first."""
    from leaderboard.formats.sinks import atomic_text

    desk = _desk(server, token)
    if as_json or (form is ReportForm.JSON and out is None):
        show_json(desk.report(number, round_name))
        return
    if form is ReportForm.HTML:
        text = desk.report_page(number, round_name)
    else:
        text = json.dumps(desk.report(number, round_name), indent=2)
    if out is None:
        show_line(text)
    else:
        with atomic_text(out) as file:
            file.write(text)
        show_line(f"The report is written to {out}.")


@commands.command()
def confirm(
    number: Number, server: Server = None, token: TokenText = None, *, as_json: AsJson = False
) -> None:
    """Submit what was only checked."""
    from arena.remote.desks import Change

    _change(_desk(server, token), number, Change.CONFIRM, "is accepted", as_json=as_json)


@commands.command()
def select(
    number: Number, server: Server = None, token: TokenText = None, *, as_json: AsJson = False
) -> None:
    """Choose the version that stands for its system in rounds to come."""
    from arena.remote.desks import Change

    what = "stands for the system from now on"
    _change(_desk(server, token), number, Change.SELECT, what, as_json=as_json)


@commands.command()
def withdraw(
    number: Number,
    reason: Annotated[str, typer.Option("--reason", help="Why; it stays on the tombstone.")] = "",
    server: Server = None,
    token: TokenText = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Withdraw a submission; a tombstone stays, and published boards keep its numbers."""
    from arena.remote.desks import Change

    desk = _desk(server, token)
    _change(desk, number, Change.WITHDRAW, "is withdrawn", reason=reason, as_json=as_json)


def _desk(server: str | None, token: str | None) -> Desk:
    from arena.cli.sending import BytesSent
    from arena.remote.desks import open_desk

    return open_desk(server, token, sent=BytesSent())


def _change(desk: Desk, number: int, change: Change, what: str, *, reason: str = "", as_json: bool) -> None:
    one = desk.change(number, change, reason=reason)
    if as_json:
        show_json(one)
    else:
        show_line(f"{one['system']} version {one['version']} {what}.")


def _row(one: Json) -> tuple[str | int | None, ...]:
    attempt = None if one["attempt"] is None else f"{one['attempt']} of {one['attempts']}"
    names = ("id", "set", "system", "version", "team", "state", "answers", "no_answers", "position")
    return (*(one[name] for name in names), attempt, "selected" if one["selected"] else "")
