"""`arena submissions gate` and `report`: how a version of a system fares."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import (
    LARGEST_NUMBER,
    AsJson,
    CardFile,
    File,
    Seed,
    Server,
    SetName,
    SystemName,
    TeamName,
    TokenText,
)
from arena.cli.output import BytesSent, note, note_problems, show_json, show_line, show_table
from data.percent import percent

if TYPE_CHECKING:
    from arena.client.backends import SubmissionBackend

Number = Annotated[int, typer.Argument(metavar="ID", max=LARGEST_NUMBER, help="Number of the submission.")]
EXIT_CODES = MappingProxyType({"pass": 0, "worse": 3, "undecided": 4})
SUBMITTED = "The version is submitted; it counts against the quota."
MOST_NAMED = 20
HELD = "Submit it by: arena submissions confirm {}"


class ReportForm(StrEnum):
    """Forms of a report."""

    JSON = "json"
    HTML = "html"


def backend_of(server: str | None, token: str | None) -> SubmissionBackend:
    """Where submissions are: this machine's arena, or another's."""
    from arena.client.backends import open_backend

    return open_backend(server, token, sent=BytesSent())


def gate(
    file: File,
    set_name: SetName,
    system: SystemName,
    max_loss: Annotated[
        float,
        typer.Option(
            "--max-loss",
            metavar="POINTS",
            min=0.0,
            max=100.0,
            help="Percentage points of win + tie against the reference that the new version may lose.",
        ),
    ],
    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="VERSION",
            help="The old version of the same system: `last`, the number of a version, or `id:` and the "
            "number of a submission.",
        ),
    ] = "last",
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="JUDGE",
            show_default="as the set's rule says, else `lexical`",
            help="Name of a judge, or the path of its spec.",
        ),
    ] = None,
    budget_usd: Annotated[
        float | None,
        typer.Option(
            "--budget-usd",
            metavar="X",
            min=0.0,
            show_default="as the set's rule says",
            help="The most that the gate may spend; a judge that asks an LLM needs a cap.",
        ),
    ] = None,
    team: TeamName = "",
    card: CardFile = None,
    summary: Annotated[
        Path | None,
        typer.Option(
            "--summary",
            metavar="FILE",
            help="Append what it says as Markdown, as to `$GITHUB_STEP_SUMMARY`.",
        ),
    ] = None,
    wait: Annotated[
        float,
        typer.Option(
            "--wait", metavar="SECONDS", min=0.0, help="Longest wait for another machine's workers."
        ),
    ] = 3600.0,
    seed: Seed = 0,
    server: Server = None,
    token: TokenText = None,
    *,
    submit: Annotated[
        bool, typer.Option("--submit", help="Submit the version where it passes; else it stays checked.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check a file, and say whether it is worse than an earlier version of the system.

    $ arena submissions gate answers.jsonl --set fiqa --system ours --max-loss 2

    Both versions are judged against the reference on the same questions, in growing waves, until a loss of
    more than --max-loss is ruled out or shown, or the cap is reached. The interval holds at every look.

    Exit code: 0 the version passes, 3 it is worse, 4 undecided within the cap; 1 an error, 2 misuse.

    Nothing public appears, and no quota is used: the file is stored as checked only.
    """
    from arena.client.backends import Change, SubmissionRequest, problem_of
    from arena.services.gates.model import GateRequest, gate_lines, gate_markdown

    # What cannot be read is refused before anything is sent.
    asked = GateRequest(
        submission=0, max_loss=max_loss, against=against, judge=judge, budget_usd=budget_usd, seed=seed
    )
    backend = backend_of(server, token)
    held = backend.add(
        file, SubmissionRequest(set_name=set_name, system=system, team=team, card=card, hold=True)
    )
    note_problems(map(problem_of, held["problems"]))
    note(f"{held['system']}: submission {held['id']} is {held['state']}.")
    report = backend.gate(asked.of(held["id"]), patience=wait)
    passed = report["verdict"] == "pass"
    if submit and passed and held["state"] == "checked":
        backend.change(held["id"], Change.CONFIRM)
        ending = SUBMITTED
    else:
        ending = HELD.format(held["id"]) if held["state"] == "checked" else "It was submitted before."
    if summary is not None:
        _append(summary, gate_markdown(report))
    if as_json:
        show_json(report)
    else:
        for line in gate_lines(report):
            show_line(line)
        show_line(ending)
    raise typer.Exit(EXIT_CODES[report["verdict"]])


def _append(path: Path, text: str) -> None:
    from data.errors import InputError

    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}."
        raise InputError(message, advice="Name another file for the summary.") from error


def report(
    number: Number,
    round_name: Annotated[
        str | None,
        typer.Option(
            "--round",
            metavar="ROUND",
            show_default="the latest with this submission",
            help="Name of the round.",
        ),
    ] = None,
    form: Annotated[ReportForm, typer.Option("--format", help="Format of the report.")] = ReportForm.JSON,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", show_default="standard output", help="File to write."),
    ] = None,
    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="VERSION",
            help="With --changes: the earlier version: `last`, its number, or `id:` and the number of its "
            "submission.",
        ),
    ] = "last",
    server: Server = None,
    token: TokenText = None,
    *,
    changes: Annotated[
        bool,
        typer.Option("--changes", help="What changed since an earlier version that was judged."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Report where a judged submission loses, or what changed since an earlier version.

    $ arena submissions report 3 --format html --out report.html
    $ arena submissions report 3 --changes

    The report says also which facts it misses, and which questions to read first. Versions are compared by
    judged rounds, against the same opponents on the same questions; nothing is judged again.
    """
    from leaderboard.formats.sinks import atomic_text

    backend = backend_of(server, token)
    if changes:
        _show_changes(backend.compare(number, against, round_name), as_json=as_json)
        return
    if as_json or (form is ReportForm.JSON and out is None):
        show_json(backend.report(number, round_name))
        return
    if form is ReportForm.HTML:
        text = backend.report_page(number, round_name)
    else:
        text = json.dumps(backend.report(number, round_name), indent=2)
    if out is None:
        show_line(text)
    else:
        with atomic_text(out) as file:
            file.write(text)
        show_line(f"The report is written to {out}.")


def _show_changes(change: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_json(change)
        return
    new, old = change["new"], change["old"]
    show_line(
        f"{change['system']}: version {new['version']} ({new['round_name']}) against version "
        f"{old['version']} ({old['round_name']})"
    )
    show_table(
        ("domain", "difference", "95 % interval", "questions", "won", "lost"),
        [_share_row(share) for share in change["shares"]],
    )
    for title in ("won", "lost"):
        ids = [question["id"] for question in change[title]]
        show_line(f"{title}: {len(ids):,}{': ' if ids else ''}{', '.join(ids[:MOST_NAMED])}")
    for text in change["notes"]:
        note(text)


def _share_row(share: Mapping[str, Any]) -> tuple[str, ...]:
    interval = share["interval"]
    ends = () if interval is None else (interval["lower"], interval["upper"])
    bounds = " to ".join(percent(end, signed=True) for end in ends)
    difference = "" if share["difference"] is None else percent(share["difference"], signed=True)
    counts = (f"{share[name]:,}" for name in ("questions", "ahead", "behind"))
    return (share["domain"], difference, bounds, *counts)
