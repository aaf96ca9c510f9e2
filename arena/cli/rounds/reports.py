"""A round's state and counts, as several commands show them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import AsJson
from arena.cli.output import note, show_fields, show_json, show_line, show_rows, show_table
from arena.container import Arena, open_arena
from arena.services.tables.kinds import TableFormat, TableKind
from data.records import RoundCounts

if TYPE_CHECKING:
    from arena.services.jobs.service import JobStatus
    from arena.services.rounds.live import LiveStanding


COUNTS = (
    *("planned", "judged", "unreadable", "refused", "failed", "skipped", "missing", "estimated", "pending"),
    *("cost_usd", "reserved_usd", "lost_usd", "input_tokens", "output_tokens"),
)
RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")]


def show_status(arena: Arena, name: str, *, as_json: bool) -> RoundCounts:
    """Show a round's state, and return its counts."""
    reader = arena.round_reader
    round_, counts = reader.status(name)
    attacks, controls = reader.attacks(name), reader.controls(name)
    fields = {
        "name": round_.name,
        "state": round_.state.value,
        **{name: getattr(counts, name) for name in COUNTS},
        "digit_scan_differs": reader.scanned_otherwise(name),
    }
    job = arena.jobs.of_round(round_.id)
    rate = 0.0 if job is None else job.rate
    left = (counts.pending + attacks.pending + controls.pending) / rate if rate else None
    speed = {"rate": rate, "seconds_left": left}
    live, waves, cascade = reader.live(name), reader.waves(name), reader.cascade(name)
    if as_json:
        shown = None if job is None else job.as_json()
        beside = {"canaries": attacks.to_json(), "controls": controls.to_json(), "job": shown}
        told = {} if waves is None else {"waves": waves.as_json()}
        told |= {} if cascade is None else {"cascade": cascade.as_json()}
        show_json({**fields, **speed, **beside, "live": live.as_json(), **told})
    else:
        said = {"attack success": str(attacks), "control battles": str(controls), "job": _job_line(job)}
        lines = ({} if waves is None else waves.lines()) | ({} if cascade is None else cascade.lines())
        show_fields({**fields, **speed, **lines, **said})
        _show_live(live)
    if waves is not None and waves.ended is not None:
        for line in arena.boards.worth_of_waves(name):
            note(line)
    return counts


def _show_live(live: LiveStanding) -> None:
    """How the systems stand, with intervals that hold at this look."""
    show_line("")
    show_line(live.sentence)
    show_table(
        ("system", "score", "lower", "upper", "behind", "at least", "at most", "separated", "questions"),
        [
            (
                row.system,
                row.score,
                row.lower,
                row.upper,
                row.behind,
                row.behind_lower,
                row.behind_upper,
                "yes" if row.separated else "no",
                row.questions,
            )
            for row in live.systems
        ],
    )


def undecidable_lines(reasons: Mapping[str, int], planned: int) -> list[str]:
    """What the judge cannot decide of some planned battles, a line a reason."""
    return [
        f"cannot be decided: {count:,} of {planned:,} battles, since {why}" for why, count in reasons.items()
    ]


def _job_line(status: JobStatus | None) -> str | None:
    """A round's job in a line: its position in the queue, or its workers."""
    if status is None:
        return None
    job = status.job
    alive = [lease.worker.name for lease in status.leases if lease.lease_left > 0]
    parts = [
        f"{job.id}, {job.state}",
        "" if status.position is None else f"place {status.position} in the queue",
        f"by {', '.join(alive)}" if alive else "",
        job.error,
    ]
    return "; ".join(part for part in parts if part)


def table(
    names: Annotated[list[str], typer.Argument(metavar="ROUND…", help="Rounds by name.")],
    kind: Annotated[
        TableKind,
        typer.Option(
            "--kind",
            help="The table, with its number in the RAG-QA Arena paper: `set` (2), `win-rates` (3), `pairs` "
            "(4), `ratings` (5), `references` (6; by words), `judges` (8; a line for each round), "
            "`no-answer` (9), `passages` (10; model and passages from the system cards); of CRUX's "
            "`coverage` (2) and `correlations` (3); `attacks` (canaries by family).",
        ),
    ],
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            metavar="FILE",
            help="Human labels, required for `judges` and possible for `pairs`; matched by question and "
            "answer texts, or by question, `system_a` and `system_b`.",
        ),
    ] = None,
    metric_judge: Annotated[
        str,
        typer.Option(
            "--metric-judge",
            metavar="JUDGE",
            show_default="the embedded version",
            help="Whose scores `coverage` and `correlations` show.",
        ),
    ] = "",
    form: Annotated[
        TableFormat,
        typer.Option(
            "--format",
            help="`markdown` and `latex` (booktabs) give shares in per cent, the best bold and the second "
            "best underlined, with the notes; `csv` is for machines.",
        ),
    ] = TableFormat.TEXT,
    *,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Add 95 % intervals, by questions, of rates and coefficients.")
    ] = False,
    significance: Annotated[
        bool, typer.Option("--significance", help="Add marks of tests; a note says of which.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print a table of stored rounds, like those of the RAG-QA Arena paper.

    Several rounds stand side by side; in `judges` and `passages` one below the other. No judge is asked.
    """
    from arena.services.tables.model import Shown
    from leaderboard.export.paper import Printed, printed

    shown = Shown(intervals=intervals, marks=significance)
    round_table = open_arena().tables.table(names, kind, labels, shown=shown, metric_judge=metric_judge)
    if as_json:
        show_json(round_table.to_json())
        return
    content = round_table.content
    if form is TableFormat.TEXT:
        show_table(content.keys, content.flat_rows())
    else:
        show_line(printed(content, Printed(form.value)).rstrip("\n"))
    if form in {TableFormat.TEXT, TableFormat.CSV}:
        for line in content.notes:
            note(line)


def compare(
    names: Annotated[list[str], typer.Argument(metavar="ROUND…", help="Rounds of one question set by name.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Compare rounds of the same question set on the battles that all of them decided.

    Prints how alike two judges rank the systems (Kendall's tau, rank and rating correlations, with
    intervals by questions), who moves between them, and ratings that know their judges. A single round
    compares the members of its panel. Systems in different versions are left out and named. No judge is
    asked.
    """
    from arena.cli.judge_tables import show_comparison

    comparison = open_arena().comparison.compare(names)
    if as_json:
        show_json(comparison.as_json())
    else:
        show_comparison(comparison)


def reparse(
    name: Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")],
    *,
    apply: Annotated[
        bool,
        typer.Option(
            "--apply",
            help="Store the new verdicts; only for rounds that are neither running nor published.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Parse a round's stored replies again and show what changes.

    No judge is asked.
    """
    fields = open_arena().reparsing.reparse(name, apply=apply).to_json()
    if as_json:
        show_json(fields)
        return
    examples = fields.pop("examples")
    show_fields(
        {key: json.dumps(value) if isinstance(value, dict) else value for key, value in fields.items()}
    )
    for example in examples:
        show_line(f"{example['battle']}: {example['before']} → {example['after']}")


def reports(
    name: Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")],
    *,
    as_json: AsJson = False,
) -> None:
    """List the judgments of a round that readers have reported, newest first.

    Readers report with "Report this judgment" on a question's page.
    """
    reported = open_arena().judgment_reports.of_round(name)
    rows = [
        (
            report.reported_at.isoformat(timespec="minutes"),
            report.question_id,
            f"{report.system_a} – {report.system_b}",
            report.judge,
            report.presentation.value,
            report.reason,
        )
        for report in reported
    ]
    show_rows(
        [{**asdict(report), "reported_at": report.reported_at.isoformat()} for report in reported],
        ("reported", "question", "battle", "judge", "order", "reason"),
        rows,
        as_json=as_json,
        empty="No reader has reported a judgment of this round.",
    )


def show_curve(waves: Mapping[str, Any]) -> None:
    """Show what a round in waves would tell for how many verdicts, beside a plain sample of as many."""
    columns = [f"width at correlation {value:.2f}" for value in waves["correlations"]]
    rows = [
        (
            f"{point['verdicts']:,}",
            "not known" if point["cost_usd"] is None else f"{point['cost_usd']:.2f}",
            _width(point["plain_width"]),
            *map(_width, point["widths"]),
        )
        for point in waves["curve"]
    ]
    show_line(f"Expected widths in rating points, from {waves['basis']}:")
    show_table(("verdicts", "cost in USD", "plain sample", *columns), rows)


def _width(width: float | None) -> str:
    return "no ranking" if width is None else f"{width:.0f}"
