"""`arena submissions`: check, add, list, show, withdraw."""

from typing import Annotated, Any

import typer

from arena.cli import output
from arena.cli.options import AsJson, CardFile, File, SetName, SystemName, TeamName, Yes, confirm, row_id
from arena.container import open_arena
from data.models import SubmissionKind

commands = typer.Typer(
    help="Submissions: answer files, one per system.", epilog="Also: `list`.", no_args_is_help=True
)


COLUMNS = (
    *("id", "set", "system", "version", "team", "kind", "state"),
    *("answers", "declined", "queue", "attempt", "chosen"),
)
Kind = Annotated[
    SubmissionKind,
    typer.Option(
        help="Content of the file: `answers`, or `contexts` (retrieved passages: a TREC run or JSONL)."
    ),
]
KeepNa = Annotated[bool, typer.Option("--keep-na", help="Read NA, None and a harness's errors as answers.")]


OfSet = Annotated[
    str | None, typer.Option("--set", metavar="SET", help="List only submissions to this question set.")
]
Number = Annotated[int, typer.Argument(metavar="ID", parser=row_id, help="Number of the submission.")]


@commands.command()
def check(
    file: File,
    set_name: SetName,
    kind: Kind = SubmissionKind.ANSWERS,
    system: Annotated[
        str,
        typer.Option(
            metavar="SYSTEM", help="System to read (value or column) from a table of several systems."
        ),
    ] = "",
    *,
    keep_na: KeepNa = False,
    as_json: AsJson = False,
) -> None:
    """Check an answer file, or a file of contexts, and report all its problems.

    $ arena submissions check answers.jsonl --set fiqa

    The format is recognised by content: JSONL, JSON, CSV, Parquet, Excel, logs of evaluation harnesses,
    TREC's RAG track, ragas, and folders or zip files of Hugging Face datasets and HELM runs.

    The exit code is 1 if any problem is an error.
    """
    from submissions.check import report_lines

    _note_failed_formats()
    result = open_arena().submissions.check(file, set_name, kind=kind, system=system, keep_na=keep_na)
    if as_json:
        output.show_json(result.model_dump(mode="json"))
    else:
        output.show_line(*report_lines(result))
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
            show_default="as for the previous version",
            help="Hide the names of system and team until publication, or show them.",
        ),
    ] = None,
    *,
    keep_na: KeepNa = False,
    as_json: AsJson = False,
) -> None:
    """Check a file and store it as the system's next version.

    $ arena submissions add answers.jsonl --set fiqa --system ours

    A file with errors is not stored.
    """
    from arena.models.submissions import AddedSubmission

    _note_failed_formats()
    added = open_arena().submissions.add(
        file, set_name, system=system, kind=kind, team=team, card=card, anonymous=anonymous, keep_na=keep_na
    )
    output.note_problems(added.warnings)
    submission = AddedSubmission(
        **dict(added.submission), created=added.created, problems=added.warnings
    ).to_json()
    state = "added" if submission["created"] else "unchanged (the newest version has the same content)"
    unit = "questions" if kind is SubmissionKind.CONTEXTS else "answers"
    name = f"{submission['system']} version {submission['version']}"
    output.show_result(
        submission,
        f"{name} ({submission['answers']:,} {unit}) {state}; id {submission['id']}.",
        as_json=as_json,
    )


def _note_failed_formats() -> None:
    from submissions.formats.registry import added_formats

    output.note(*(f"warning: {problem}" for problem in added_formats().problems))


@commands.command()
def show(
    number: Annotated[
        int | None,
        typer.Argument(
            metavar="ID",
            parser=row_id,
            show_default="all, by set, system and version",
            help="Number of the submission.",
        ),
    ] = None,
    set_name: OfSet = None,
    *,
    inbox: Annotated[
        bool,
        typer.Option(
            "--inbox",
            help="List submissions that are not on a board yet, with what they wait for and their warnings.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the submissions, or show one with its coverage and its card.

    $ arena submissions show 3
    """
    from arena.services.accounts.auth import OPERATOR

    if inbox:
        _show_inbox(set_name, as_json=as_json)
        return
    if number is None:
        list_(set_name, as_json=as_json)
        return
    fields = open_arena().submissions.view(number, caller=OPERATOR).to_json()
    if as_json:
        output.show_json(fields)
        return
    card, coverage = fields.pop("card"), fields.pop("coverage")
    fields.pop("no_answer_share")
    fields["rounds"] = ", ".join(fields["rounds"]) or None
    output.show_fields({**fields, **{name: text for name, text in card.items() if text}})
    output.show_table(("domain", "coverage"), list(coverage.items()))


@commands.command("list", hidden=True)
def list_(set_name: OfSet = None, *, as_json: AsJson = False) -> None:
    """List the submissions by set, system and version.

    $ arena submissions list --set fiqa
    """
    from arena.services.accounts.auth import OPERATOR

    lines = open_arena().submissions.find(set_name=set_name, caller=OPERATOR)
    submissions = [line.to_json() for line in lines]
    empty = "There are no submissions yet. Add one with `arena submissions add FILE --set N --system S`."
    output.show_rows(submissions, COLUMNS, map(_row, submissions), as_json=as_json, empty=empty)


def _show_inbox(set_name: str | None, *, as_json: bool) -> None:
    from arena.services.accounts.auth import OPERATOR

    inboxes = open_arena().inbox.waiting(set_name=set_name, caller=OPERATOR)
    waiting = [(inbox_.set, row) for inbox_ in inboxes for row in inbox_.waiting]
    rows = [
        (str(row.submission), name, row.system, block.why, block.text)
        for name, row in waiting
        for block in row.blocks
    ]
    rows += [
        (str(row.submission), name, row.system, "warning", text)
        for name, row in waiting
        for text in row.warnings
    ]
    payload = [inbox_.to_json() for inbox_ in inboxes] if as_json else rows
    headers = ("id", "set", "system", "waits for", "details")
    output.show_rows(payload, headers, rows, as_json=as_json, empty="No submission is waiting.")
    for inbox_ in inboxes:
        if inbox_.plannable and not as_json:
            systems = ",".join(inbox_.plannable)
            output.note(f"Plan them: arena rounds plan --set {inbox_.set} --judge JUDGE --systems {systems}")


@commands.command()
def withdraw(
    number: Number,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Reason to store with the withdrawal.")] = "",
    *,
    disqualify: Annotated[
        bool, typer.Option("--disqualify", help="Mark it as disqualified on boards; requires --reason.")
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Withdraw a submission.

    $ arena submissions withdraw 3 --reason "A wrong file."

    Its entry stays, marked as withdrawn, and published boards do not change.
    """
    confirm(f"Withdraw submission {number}?", yes=yes)
    withdrawn = open_arena().submissions.withdraw(number, reason=reason, disqualify=disqualify)
    effect = "disqualified" if disqualify else "withdrawn"
    line = f"{withdrawn.system} version {withdrawn.version} is {effect}."
    output.show_result(withdrawn.to_json(), line, as_json=as_json)


def _row(submission: dict[str, Any]) -> tuple[str | int | None, ...]:
    attempt = (
        None if submission["attempt"] is None else f"{submission['attempt']} of {submission['attempts']}"
    )
    names = ("id", "set", "system", "version", "team", "kind", "state", "answers", "no_answers", "position")
    return (*(submission[name] for name in names), attempt, "selected" if submission["selected"] else "")
