"""A team's report as JSON, and as one HTML page that loads nothing from elsewhere.

Everything that a team, a system or a judge wrote is escaped: answers are untrusted text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

from arena.services.reports import Report, WorstQuestion

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
:root{color-scheme:light dark}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #8884}
pre{white-space:pre-wrap;overflow-wrap:anywhere}td{overflow-wrap:anywhere}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def report_json(report: Report) -> dict[str, Any]:
    """The report as JSON; shares are 0–1, what is not known is null."""
    return {
        "submission": report.submission.id,
        "set": report.submission.set_name,
        "system": report.submission.system,
        "version": report.submission.version,
        "team": report.submission.team,
        "round": report.round_name,
        "attempt": report.attempt,
        "attempts": report.attempts,
        "no_answer_share": report.no_answer_share,
        "domains": [
            {**asdict(one), "win_rate": one.win_rate, "loss_rate": one.loss_rate} for one in report.domains
        ],
        "worst_questions": [
            {**asdict(one.record), "lost": [asdict(lost) for lost in one.lost]} for one in report.worst
        ],
        "missed_facts": [asdict(fact) for fact in report.missed],
        "missed_in_all": report.missed_in_all,
        "unsupported_claims": [asdict(claim) for claim in report.doubtful],
    }


def report_html(report: Report) -> str:
    """The report as one page."""
    one = report.submission
    title = f"{one.system}, version {one.version}, in round {report.round_name}"
    attempt = "" if report.attempt is None else f"{report.attempt} of {report.attempts} judged versions. "
    silent = _share(report.no_answer_share)
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(one.set_name)}. {attempt}No answer: {silent} of its answers.</p>",
        "<h2>Where it loses</h2>",
        _table(
            ("domain", "won", "tied", "lost", "no verdict", "lost share", "no answers", "words", "field"),
            (
                (
                    *(found.label, found.wins, found.ties, found.losses, found.undecided),
                    *(_share(found.loss_rate), found.no_answers),
                    *(_number(found.median_words), _number(found.field_words)),
                )
                for found in report.domains
            ),
        ),
        f"<h2>Facts it misses ({report.missed_in_all})</h2>",
        _table(
            ("question", "fact", "others that have it", "others that miss it"),
            ((fact.question, fact.text, fact.covered_by, fact.missed_by) for fact in report.missed),
        ),
        "<h2>Claims that the passages do not support</h2>",
        _table(
            ("question", "claim", "held true at", "why"),
            (
                (claim.question, claim.text, f"{claim.posterior:.2f}", claim.reason)
                for claim in report.doubtful
            ),
        ),
        "<h2>Its worst questions</h2>",
        *map(_question, report.worst),
    ]
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
    )
    return head + "\n".join(parts) + "</body></html>\n"


def _question(found: WorstQuestion) -> str:
    record = found.record
    head = f"{record.id}: {record.wins} won, {record.ties} tied, {record.losses} lost"
    lost = "".join(
        f"<p>Lost to {escape(one.opponent)}:</p><pre>{escape(one.rationale)}</pre>" for one in found.lost
    )
    return f"<h3>{escape(head)}</h3><p>{escape(record.question)}</p>{lost}"


def _table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows]
    if not lines:
        return "<p>None known.</p>"
    head = "".join(f"<th>{escape(header)}</th>" for header in headers)
    return f"<table><tr>{head}</tr>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"
