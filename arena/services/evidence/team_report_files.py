"""A team's report as JSON, and as one HTML page that loads nothing from elsewhere.

Everything that a team, a system or a judge wrote is escaped: answers are untrusted text.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from arena.html_pages import rendered
from arena.services.evidence.citations import CitationReport
from arena.services.evidence.fixes import Fix
from arena.services.evidence.team_report import Report
from data.percent import percent
from judges.metrics.relations.verdicts import Verdict


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
        "fix_first": report.fixes.as_json(),
        "worst_questions": [
            {**asdict(question.record), "lost": [asdict(lost) for lost in question.lost]}
            for question in report.worst
        ],
        "missed_facts": [asdict(fact) for fact in report.missed],
        "missed_in_all": report.missed_in_all,
        "missed_source": report.contradictions or None,
        "claims_source": report.source or None,
        "unsupported_claims": _claims(report, Verdict.CONTRADICTED),
        "unconfirmed_claims": _claims(report, Verdict.UNCONFIRMED),
        "citations": None
        if report.citations is None
        else {**asdict(report.citations), "note": report.citations.silence or None},
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
        fixes=[_fix_row(fix) for fix in report.fixes.fixes],
        missed=[
            (
                *(fact.question, fact.text),
                "seems to contradict it" if fact.contradicted else "misses it",
                *(fact.covered_by, fact.missed_by),
            )
            for fact in report.missed
        ],
        claims=[
            (claim.question, claim.text, claim.verdict.value, f"{claim.posterior:.2f}", claim.reason)
            for claim in report.doubtful
        ],
        citations=report.citations,
        cited=_citation_rows(report.citations),
    )


def _fix_row(fix: Fix) -> tuple[object, ...]:
    gain = fix.gain
    interval = gain.interval
    return (
        fix.title,
        "–" if gain.points is None else f"{gain.points:+.0f}",
        "–" if interval is None else f"{interval.lower:+.0f} to {interval.upper:+.0f}",
        *(gain.questions, gain.lost, _share(gain.share), _share(gain.absent_share)),
        *(fix.meaning, ", ".join(fix.lost)),
    )


def _claims(report: Report, verdict: Verdict) -> list[dict[str, Any]]:
    return [asdict(claim) for claim in report.doubtful if claim.verdict is verdict]


def _citation_rows(citations: CitationReport | None) -> list[tuple[object, ...]]:
    """Precision, recall and counts in one row, where there are any."""
    if citations is None:
        return []
    shares = map(_share, (citations.precision, citations.recall, citations.f1))
    return [
        (
            *shares,
            *(citations.answers, citations.without, citations.sentences),
            *(citations.uncited, citations.unsupported),
        )
    ]


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value, decimals=0)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"
