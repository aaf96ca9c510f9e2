"""`arena submissions`: check, add, list, show, withdraw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import AsJson, CardFile, File, Server, SetName, SystemName, TeamName, TokenText
from arena.cli.output import (
    note,
    note_problems,
    show_fields,
    show_json,
    show_line,
    show_result,
    show_rows,
    show_table,
)
from arena.cli.versions import Number, backend_of, compare, gate, report
from arena.container import open_arena
from data.records import SubmissionKind

if TYPE_CHECKING:
    from arena.client.backends import Change, Json, SubmissionBackend

commands = typer.Typer(help="Submissions: one system's file of answers each.", no_args_is_help=True)


COLUMNS = (
    *("id", "set", "system", "version", "team", "kind", "state"),
    *("answers", "no answer", "queue", "attempt", "chosen"),
)
Kind = Annotated[
    SubmissionKind,
    typer.Option(
        "--kind",
        help="What the file holds: `answers`, or `contexts`, passages that were retrieved (a TREC run, or "
        "JSONL).",
    ),
]


@commands.command()
def check(
    file: File,
    set_name: SetName,
    kind: Kind = SubmissionKind.ANSWERS,
    server: Server = None,
    token: TokenText = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Check a file of answers, or of contexts, and report all its problems.

    Any format is recognised by its content: JSONL, CSV, Parquet, logs of evaluation harnesses, TREC's RAG
    track, ragas, and folders or zip files of Hugging Face datasets and HELM runs.

    The exit code is 1 if any problem is an error.
    """
    from submissions.check_report import report_json, report_lines

    result = backend_of(server, token).check(file, set_name, kind)
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
    system: SystemName,
    kind: Kind = SubmissionKind.ANSWERS,
    team: TeamName = "",
    card: CardFile = None,
    anonymous: Annotated[
        bool | None,
        typer.Option(
            "--anonymous/--named",
            show_default="as in the previous version",
            help="Hide the names of system and team until publication, or show them.",
        ),
    ] = None,
    server: Server = None,
    token: TokenText = None,
    *,
    hold: Annotated[
        bool, typer.Option("--hold", help="Store it as checked; `arena submissions confirm` submits it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check a file and store it as the system's next version.

    A file with errors is not stored.
    """
    from arena.client.backends import SubmissionRequest, problem_of

    request = SubmissionRequest(
        set_name=set_name,
        system=system,
        kind=kind,
        team=team,
        card=card,
        anonymous=anonymous,
        hold=hold,
    )
    submission = backend_of(server, token).add(file, request)
    note_problems(map(problem_of, submission["problems"]))
    state = "added" if submission["created"] else "unchanged: the newest version has the same content"
    held = "questions" if kind is SubmissionKind.CONTEXTS else "answers"
    name = f"{submission['system']} version {submission['version']}"
    show_result(
        submission,
        f"{name} ({submission['answers']:,} {held}) {state}; id {submission['id']}.",
        as_json=as_json,
    )


commands.command()(gate)
commands.command()(compare)


@commands.command()
def template(
    set_name: SetName,
    *,
    sample: Annotated[
        bool, typer.Option("--sample", help="Print a small complete file instead, which a check accepts.")
    ] = False,
) -> None:
    """Print a file of answers to fill in, with one line for each question."""
    for line in open_arena().submissions.template(set_name, sample=sample):
        show_line(line.rstrip("\n"))


@commands.command("list")
def list_(
    set_name: Annotated[
        str | None, typer.Option("--set", metavar="SET", help="Only submissions to this question set.")
    ] = None,
    server: Server = None,
    token: TokenText = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List submissions, sorted by set, system and version."""
    submissions = backend_of(server, token).find(set_name)
    empty = "There are no submissions yet. Add one with `arena submissions add FILE --set N --system S`."
    show_rows(submissions, COLUMNS, map(_row, submissions), as_json=as_json, empty=empty)


@commands.command()
def show(number: Number, server: Server = None, token: TokenText = None, *, as_json: AsJson = False) -> None:
    """Show a submission, its coverage and its card."""
    fields = backend_of(server, token).view(number)
    if as_json:
        show_json(fields)
        return
    card, coverage = fields.pop("card"), fields.pop("coverage")
    fields.pop("no_answer_share")
    fields["rounds"] = ", ".join(fields["rounds"]) or None
    show_fields({**fields, **{name: text for name, text in card.items() if text}})
    show_table(("domain", "coverage"), list(coverage.items()))


commands.command()(report)


@commands.command()
def export(
    number: Number,
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="File to write: `*.jsonl`.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Write the answers of a submission in the format of TREC's RAG track, sentences with their citations."""
    from arena.services.accounts.auth import OPERATOR
    from leaderboard.formats.sinks import atomic_text

    answers = 0
    rows = open_arena().submissions.trec_rag(number, caller=OPERATOR)
    with atomic_text(destination) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            answers += 1
    fields = {"answers": answers, "file": str(destination)}
    show_result(fields, f"{answers:,} answers in {destination}", as_json=as_json)


@commands.command()
def confirm(
    number: Number, server: Server = None, token: TokenText = None, *, as_json: AsJson = False
) -> None:
    """Submit a submission that was only checked."""
    from arena.client.backends import Change

    _change(backend_of(server, token), number, Change.CONFIRM, "is accepted", as_json=as_json)


@commands.command()
def select(
    number: Number, server: Server = None, token: TokenText = None, *, as_json: AsJson = False
) -> None:
    """Select the version that represents its system in future rounds."""
    from arena.client.backends import Change

    effect = "represents the system from now on"
    _change(backend_of(server, token), number, Change.SELECT, effect, as_json=as_json)


@commands.command()
def withdraw(
    number: Number,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="The reason, stored with the withdrawal.")
    ] = "",
    server: Server = None,
    token: TokenText = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Withdraw a submission.

    Its entry stays, marked as withdrawn, and published boards do not change.
    """
    from arena.client.backends import Change

    backend = backend_of(server, token)
    _change(backend, number, Change.WITHDRAW, "is withdrawn", reason=reason, as_json=as_json)


@commands.command()
def inbox(
    set_name: Annotated[
        str | None, typer.Option("--set", metavar="SET", help="Only submissions to this question set.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the submissions that wait, with what each waits for, and how to plan a round of them."""
    from arena.schemas import InboxLine
    from arena.services.accounts.auth import OPERATOR

    inbox_service = open_arena().inbox
    inboxes = inbox_service.waiting(set_name=set_name, caller=OPERATOR)
    rows = [
        (str(row.submission.id), row.submission.set_name, row.submission.system, block.why, block.text)
        for inbox_ in inboxes
        for row in inbox_.waiting
        for block in row.blocks
    ]
    payload = [InboxLine.of(inbox_).to_json() for inbox_ in inboxes] if as_json else rows
    headers = ("id", "set", "system", "waits for", "that is")
    show_rows(payload, headers, rows, as_json=as_json, empty="Nothing waits.")
    for inbox_ in inboxes:
        if inbox_.plannable and not as_json:
            systems = ",".join(inbox_.plannable)
            note(f"Plan them: arena rounds plan --set {inbox_.set_name} --judge JUDGE --systems {systems}")
    applied = inbox_service.applications(caller=OPERATOR)
    if applied:
        teams = ", ".join(application.team for application in applied)
        note(f"Teams that somebody applied for: {teams}. Decide: arena teams applications list")


def _change(
    backend: SubmissionBackend, number: int, change: Change, effect: str, *, reason: str = "", as_json: bool
) -> None:
    submission = backend.change(number, change, reason=reason)
    show_result(
        submission, f"{submission['system']} version {submission['version']} {effect}.", as_json=as_json
    )


def _row(submission: Json) -> tuple[str | int | None, ...]:
    attempt = (
        None if submission["attempt"] is None else f"{submission['attempt']} of {submission['attempts']}"
    )
    names = ("id", "set", "system", "version", "team", "kind", "state", "answers", "no_answers", "position")
    return (*(submission[name] for name in names), attempt, "selected" if submission["selected"] else "")
