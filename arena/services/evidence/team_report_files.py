"""A team's report as JSON, and as one HTML page that loads nothing from elsewhere.

Everything that a team, a system or a judge wrote is escaped: answers are untrusted text.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from arena.html_pages import rendered
from arena.services.evidence.team_report import Report


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
            {**asdict(domain), "win_rate": domain.win_rate, "loss_rate": domain.loss_rate}
            for domain in report.domains
        ],
        "worst_questions": [
            {**asdict(question.record), "lost": [asdict(lost) for lost in question.lost]}
            for question in report.worst
        ],
        "missed_facts": [asdict(fact) for fact in report.missed],
        "missed_in_all": report.missed_in_all,
        "unsupported_claims": [asdict(claim) for claim in report.doubtful],
    }


def report_html(report: Report) -> str:
    """The report as one page."""
    submission = report.submission
    return rendered(
        "team_report.html",
        report=report,
        title=f"{submission.system}, version {submission.version}, in round {report.round_name}",
        silent=_share(report.no_answer_share),
        domains=[
            (
                *(record.label, record.wins, record.ties, record.losses, record.undecided),
                *(_share(record.loss_rate), record.no_answers),
                *(_number(record.median_words), _number(record.field_words)),
            )
            for record in report.domains
        ],
        missed=[(fact.question, fact.text, fact.covered_by, fact.missed_by) for fact in report.missed],
        claims=[
            (claim.question, claim.text, f"{claim.posterior:.2f}", claim.reason) for claim in report.doubtful
        ],
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"
