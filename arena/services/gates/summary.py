"""What a gate says, as lines for a terminal and as Markdown for a job's summary or a comment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

MARK = {"pass": "✅", "worse": "❌", "undecided": "❔"}
WORDS = {"pass": "passes", "worse": "is worse", "undecided": "is undecided"}
NOTHING_PUBLIC = "Nothing of this is public, and no quota was used."


def gate_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a report, as `GateReport.as_json` gives it."""
    new, old = report["new"], report["old"]
    yield (
        f"{report['system']} {WORDS[report['verdict']]}: {report['reason']} "
        f"(submission {new['submission']} against version {old['version']}, {report['set']}, "
        f"judge {report['judge']})"
    )
    for share in (report["overall"], *report["domains"]):
        yield (
            f"{share['domain']}: {_points(share)} points of win + tie, {_interval(share)}; "
            f"{share['questions']:,} questions, {share['ahead']:,} better, {share['behind']:,} worse"
        )
    yield from _notes(report)


def gate_markdown(report: Mapping[str, Any]) -> str:
    """The same as Markdown; names stand in it as code, so that they cannot be read as markup."""
    new, old = report["new"], report["old"]
    title = f"{_code(report['system'])} {WORDS[report['verdict']]} on {_code(report['set'])}"
    scope = (
        f"Submission {new['submission']} against version {old['version']} (submission {old['submission']}), "
        f"judged by {_code(report['judge'])}; {report['max_loss']:g} points may be lost."
    )
    lines = [
        f"### {MARK[report['verdict']]} {title}",
        "",
        f"{report['reason']} {scope}",
        "",
        "| | win + tie, points | 95 % interval at every look | questions | better | worse |",
        "|---|--:|--:|--:|--:|--:|",
        *(
            f"| {_code(share['domain'])} | {_points(share)} | {_interval(share)} | {share['questions']:,} "
            f"| {share['ahead']:,} | {share['behind']:,} |"
            for share in (report["overall"], *report["domains"])
        ),
        "",
        *(f"- {note}" for note in _notes(report)),
    ]
    return "\n".join(lines) + "\n"


def _notes(report: Mapping[str, Any]) -> Iterator[str]:
    count = len(report["waves"])
    looks = f"{count} {'look' if count == 1 else 'looks'}"
    cap = "" if report["budget_usd"] is None else f" of {report['budget_usd']:g}"
    yield (
        f"{report['asked']:,} of {report['questions']:,} questions asked in {looks}, "
        f"{report['cost_usd']:.4f}{cap} USD; {report['same']:,} have the same answer in both versions."
    )
    if report["lost"]:
        yield f"{report['lost']:,} questions are answered by the old version alone: lost by the new one."
    if report["added"]:
        yield f"{report['added']:,} questions are answered by the new version alone: in no figure."
    for reason, count in report["undecidable"].items():
        yield f"{count:,} questions left out: {reason}."
    for outcome, count in report["unjudged"].items():
        yield f"{count:,} questions without a verdict: {outcome}."
    yield NOTHING_PUBLIC


def _points(share: Mapping[str, Any]) -> str:
    return "–" if share["difference"] is None else f"{share['difference']:+.1f}"


def _interval(share: Mapping[str, Any]) -> str:
    return f"{share['lower']:+.1f} to {share['upper']:+.1f}"


def _code(text: str) -> str:
    return f"`{text.replace('`', '').replace('|', '')}`"
