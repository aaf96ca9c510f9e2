"""`arena submissions gate` and `report`: how a version of a system fares."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

from arena.cli.options import (
    LARGEST_NUMBER,
    AsJson,
    CardFile,
    File,
    Seed,
    SetName,
    SystemName,
    TeamName,
)
from arena.cli.output import note, note_problems, show_json, show_line, show_table
from arena.container import open_arena
from data.percent import percent

Number = Annotated[int, typer.Argument(metavar="ID", max=LARGEST_NUMBER, help="Number of the submission.")]
EXIT_CODES = MappingProxyType({"pass": 0, "worse": 3, "undecided": 4})
SUBMITTED = "The version is submitted; it counts against the quota."
MOST_NAMED = 20
HELD = "Submit it by: arena submissions confirm {}"


class ReportForm(StrEnum):
    """Forms of a report."""

    JSON = "json"
    HTML = "html"


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
    seed: Seed = 0,
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
    from arena.services.gates.model import GateRequest, gate_lines, gate_markdown

    # What cannot be read is refused before anything is sent.
    asked = GateRequest(
        submission=0, max_loss=max_loss, against=against, judge=judge, budget_usd=budget_usd, seed=seed
    )
    arena = open_arena()
    added = arena.submissions.add(file, set_name, system=system, team=team, card=card, confirm=False)
    held = added.submission
    note_problems(added.warnings)
    note(f"{held.system}: submission {held.id} is {held.state}.")
    report = arena.gates.run(asked.of(held.id)).as_json()
    if submit and report["verdict"] == "pass" and held.state == "checked":
        arena.submissions.confirm(held.id)
        ending = SUBMITTED
    else:
        ending = HELD.format(held.id) if held.state == "checked" else "It was submitted before."
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
    from arena.services.accounts.auth import OPERATOR
    from arena.services.evidence.team_report_files import report_html, report_json
    from leaderboard.formats.sinks import atomic_text

    arena = open_arena()
    if changes:
        change = arena.versions.of_submission(number, against=against, round_name=round_name, caller=OPERATOR)
        _show_changes(change.as_json(), as_json=as_json)
        return
    shown = arena.reports.of(number, round_name=round_name, caller=OPERATOR)
    if as_json or (form is ReportForm.JSON and out is None):
        show_json(report_json(shown))
        return
    text = report_html(shown) if form is ReportForm.HTML else json.dumps(report_json(shown), indent=2)
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
