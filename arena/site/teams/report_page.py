"""The report of a judged submission, for its team: where it loses, and what to improve first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import repeat
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.evidence.team_report import Report
from arena.services.evidence.team_report_files import report_html, report_json
from arena.site.auth import show_visitor
from arena.site.boards.downloads import Rows, offer_table
from arena.site.questions.answers import CLASSES, SIGNS
from arena.site.services import arena
from arena.site.systems.fixes_part import show_fixes
from arena.site.systems.weaknesses import claim_rows, missed_rows
from arena.site.ui.components import heading, lead, name_page, note, page_heading, strip
from arena.site.ui.formats import ordinal, shown
from arena.site.ui.markup import Child, element, put
from arena.site.ui.tables import anchor, plain_table
from arena.site.ui.url_state import say_unknown
from data.errors import NotFoundError
from data.percent import percent
from leaderboard.export.tables import Stamp


def opening(report: Report) -> str:
    """Where it loses most, in a sentence."""
    judged = [domain for domain in report.domains if domain.loss_rate is not None]
    if not judged:
        return "None of its battles has a verdict."
    worst = judged[0]
    if not worst.losses:
        return "It lost no battle."
    return f"It loses most in {worst.label}: {percent(worst.loss_rate)} of its battles there."


def offer_files(report: Report) -> None:
    """Offer the report as one page and as JSON."""
    stem = f"report-{report.submission.id}-{report.round_name}"
    with st.container(horizontal=True):
        for ending, mime, make in (
            ("html", "text/html", partial(report_html, report)),
            ("json", "application/json", partial(_as_json, report)),
        ):
            st.download_button(
                f"Report, {ending.upper()}",
                make,
                file_name=f"{stem}.{ending}",
                mime=mime,
                icon=":material/download:",
                on_click="ignore",
            )


def show_links(report: Report) -> None:
    """Lead to the system's page, and to what changed since the version before; nothing before publication."""
    if published_stamp(report) is None:
        return
    place = {"board": report.round_name, "id": report.submission.system}
    links: list[Child] = [anchor("Its page on the board", "system", **place)]
    if report.attempt is not None and report.attempt > 1:
        links += [" · ", anchor("What changed since the version before", "system", **place, part="versions")]
    put(element("p", *links, class_="aa-eyebrow"))


def published_stamp(report: Report) -> Stamp | None:
    """The stamp of the board of a report's round; None while that is not published."""
    try:
        board = arena().boards.get(report.round_name)
    except NotFoundError:
        return None
    return Stamp(board=board.name, content_hash=board.content_hash)


def show_domains(report: Report) -> None:
    """Won and lost by domain, with no-answer replies and length against the field."""
    heading("Where it loses", anchor="losses")
    header = ("Domain", "Lost", "Won", "Tied", "Lost share", "Words", "Field", "No answer", "No verdict")
    rows = [
        (
            domain.label,
            f"{domain.losses:,}",
            f"{domain.wins:,}",
            f"{domain.ties:,}",
            percent(domain.loss_rate),
            shown(domain.median_words, "g"),
            shown(domain.field_words, "g"),
            f"{domain.no_answers:,} of {domain.answers:,}",
            f"{domain.undecided:,}",
        )
        for domain in report.domains
    ]
    put(plain_table(header, rows, spare=4))
    _offer(report, "losses", lambda: [asdict(domain) for domain in report.domains])
    note(
        "Battles, the worst domain first. Words: median length of its answers; Field: the median over the "
        "other systems' medians. No answer: replies that say that none was found."
    )


def show_missed(report: Report) -> None:
    """The facts that it misses most often compared with the others."""
    heading("Facts it misses most", anchor="missed")
    if not report.missed:
        note("None are known: its answers were not scored, or they miss nothing.")
        return
    note(f"{len(report.missed)} of {report.missed_in_all:,}; first what most other systems have.")
    put(
        _listed(
            report,
            (
                (
                    fact.question,
                    f"{'✗' if fact.contradicted else '–'} {fact.text}",
                    others_have(fact.covered_by, fact.missed_by),
                )
                for fact in report.missed
            ),
        )
    )
    if report.contradictions:
        note(f"✗: the answer seems to contradict it. {report.contradictions}")
    _offer(report, "missed", lambda: missed_rows(report.submission.system, report.missed))


def show_claims(report: Report) -> None:
    """Its least credible claims, with who told so and how often that is right."""
    heading("Claims to check", anchor="claims")
    if not report.doubtful:
        note("None are known: its claims were not scored, or none is likelier false than true.")
        return
    note(report.source)
    put(
        _listed(
            report,
            (
                (
                    claim.question,
                    f"{SIGNS[claim.verdict]} {claim.text}",
                    f"{claim.verdict}, probability {claim.posterior:.2f}. {claim.reason}",
                )
                for claim in report.doubtful
            ),
            [CLASSES[claim.verdict] for claim in report.doubtful],
        )
    )
    _offer(report, "claims", lambda: claim_rows(report.submission.system, report.doubtful))


def show_citations(report: Report) -> None:
    """What its citations support, and the sentences that lack support."""
    heading("Citations", anchor="citations")
    found = report.citations
    if found is None:
        note("Not scored: no answer of the round has a citation, or metrics were left out.")
        return
    strip(
        (
            ("precision", percent(found.precision)),
            ("recall", percent(found.recall)),
            ("F1", percent(found.f1)),
            ("uncited sentences", f"{found.uncited:,} of {found.sentences:,}"),
            ("unsupported", f"{found.unsupported:,}"),
        )
    )
    note(f"Decided by {found.source}. {found.silence}")
    for title, sentences in (
        ("Uncited", found.uncited_first),
        ("Not supported by what they cite", found.unsupported_first),
    ):
        if sentences:
            note(f"{title}, the first {len(sentences)}:")
            put(_listed(report, ((one.question, one.text, _numbers(one.cited)) for one in sentences)))


def _numbers(cited: Sequence[int]) -> str:
    return f"cites {', '.join(map(str, cited))}" if cited else "cites nothing"


def show_worst(report: Report) -> None:
    """Its worst questions, with what the judge wrote."""
    heading("Its worst questions", anchor="worst")
    if not report.worst:
        note("On no question did it lose more than it won.")
    for number, worst in enumerate(report.worst):
        record = worst.record
        with st.container(key=f"fact-worst-{number}", border=True):
            st.text(record.question)
            summary = f"{record.id}: {record.wins} won · {record.ties} tied · {record.losses} lost · "
            put(element("p", summary, _evidence(report, record.id), class_="aa-eyebrow"))
            for lost in worst.lost:
                note(f"Lost to {lost.opponent}:")
                st.text(lost.rationale or "The judge gave no reason.")


def _offer(report: Report, name: str, rows: Callable[[], Rows]) -> None:
    """A file bears the hash of its board, so there is none before publication."""
    stamp = published_stamp(report)
    if stamp is not None:
        offer_table(stamp, f"{name}-{report.submission.id}", rows)


def others_have(covered_by: int, missed_by: int) -> str:
    """How many other answers have a fact, and how many miss it, in words."""
    have = "1 other answer has it" if covered_by == 1 else f"{covered_by:,} other answers have it"
    return f"{have}, {missed_by:,} {'misses' if missed_by == 1 else 'miss'} it"


def _listed(
    report: Report, lines: Iterable[tuple[str, str, str]], sides: Iterable[str] = repeat("aa-against")
) -> Element:
    items = []
    for (question, text, detail), side in zip(lines, sides, strict=False):
        sub = element("p", f"{question} · {detail} · ", class_="aa-sub")
        sub.append(_evidence(report, question))
        items.append(element("li", element("p", text), sub, class_=side))
    return element("ul", *items, class_="aa-claims")


def _evidence(report: Report, question: str) -> Element:
    return anchor("Evidence", "question", board=report.round_name, id=question)


def _as_json(report: Report) -> str:
    return json.dumps(report_json(report), ensure_ascii=False, indent=2)


def show() -> None:
    """Show the report that the address names."""
    named = st.empty()
    with named:
        page_heading("Report")
    caller = show_visitor("read your team's reports")
    if not caller.signed_in:
        return
    number = st.query_params.get("id", "")
    if not (number.isascii() and number.isdecimal()):
        if number:
            say_unknown(number, "A report has the number of its submission.")
        st.info(
            "Choose a submission on My team; each that is published has a report.", icon=":material/list:"
        )
        put(element("p", anchor("Go to My team", "team")))
        return
    report = arena().reports.of(int(number), round_name=st.query_params.get("round"), caller=caller)
    submission = report.submission
    name = f"{submission.system}, version {submission.version}"
    name_page(name, "Report", report.round_name)
    with named:
        page_heading(f"Report on {name}, in {report.round_name}")
    lead(opening(report))
    attempt = f"{ordinal(report.attempt)} of {report.attempts}" if report.attempt else "–"
    strip(
        (
            ("round", report.round_name),
            ("question set", submission.set_name),
            ("judged versions", attempt),
            ("answers", f"{submission.answers:,}"),
            ("that found no answer", percent(report.no_answer_share)),
        )
    )
    offer_files(report)
    show_links(report)
    show_domains(report)
    show_fixes(report.round_name, report.fixes)
    show_missed(report)
    show_claims(report)
    show_citations(report)
    show_worst(report)
