"""`arena submissions`: check, add, list, show, withdraw."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arena.bootstrap import open_arena
from arena.cli.options import AsJson, File, SetName
from arena.cli.output import note, problem_line, show_fields, show_json, show_line, show_table
from data.records import Submission

commands = typer.Typer(help="Submissions: one system's file of answers.", no_args_is_help=True)
Number = Annotated[int, typer.Argument(metavar="ID", help="Number of the submission.")]


@commands.command()
def check(file: File, set_name: SetName, *, as_json: AsJson = False) -> None:
    """Report every problem of a file at once; exit 1 if any is an error."""
    from submissions.report import report_json, report_lines

    result = open_arena().submissions.check(file, set_name)
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
    *,
    as_json: AsJson = False,
) -> None:
    """Check a file and store it as the system's next version; a file with errors stores nothing."""
    added = open_arena().submissions.add(file, set_name, system=system, team=team, card=card)
    for problem in added.warnings:
        note(problem_line(problem))
    if as_json:
        show_json({**_fields(added.submission), "created": added.created})
    else:
        one = added.submission
        state = "added" if added.created else "unchanged: the newest version has the same content"
        show_line(f"{one.system} version {one.version} ({one.answers:,} answers) {state}; id {one.id}.")


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
    *,
    as_json: AsJson = False,
) -> None:
    """List submissions by set, system and version."""
    found = open_arena().submissions.find(set_name=set_name)
    if as_json:
        show_json([_fields(one) for one in found])
    elif not found:
        note("There are no submissions yet. Add one with `arena submissions add FILE --set N --system S`.")
    else:
        rows = [
            (one.id, one.set_name, one.system, one.version, one.team, one.state, one.answers, one.no_answers)
            for one in found
        ]
        show_table(("id", "set", "system", "version", "team", "state", "answers", "no answer"), rows)


@commands.command()
def show(number: Number, *, as_json: AsJson = False) -> None:
    """Show a submission, its coverage and its card."""
    view = open_arena().submissions.view(number)
    fields = _fields(view.submission)
    if as_json:
        show_json({**fields, "coverage": dict(view.coverage)})
        return
    card = fields.pop("card")
    show_fields({**fields, **{name: text for name, text in card.items() if text}})
    show_table(("domain", "coverage"), list(view.coverage.items()))


@commands.command()
def withdraw(number: Number) -> None:
    """Withdraw a submission; a tombstone stays, and published boards keep it."""
    withdrawn = open_arena().submissions.withdraw(number)
    show_line(f"{withdrawn.system} version {withdrawn.version} is withdrawn from {withdrawn.set_name}.")


def _fields(one: Submission) -> dict[str, Any]:
    from dataclasses import asdict

    fields = {**asdict(one), "state": one.state.value, "created_at": one.created_at.isoformat()}
    fields["set"] = fields.pop("set_name")
    return fields
