"""The report of a judged submission, for its team: where it loses, and what to mend first."""

from __future__ import annotations

import streamlit as st

from arena.web.figures import percent
from arena.web.life_texts import ordinal
from arena.web.markup import element, put
from arena.web.pieces import lead, strip
from arena.web.report_parts import offer_files, opening, show_claims, show_domains, show_missed, show_worst
from arena.web.tables import link
from arena.web.visitors import show_visitor
from arena.web.wiring import arena


def show() -> None:
    """Show the report that the address names."""
    st.title("Report", anchor=False)
    caller = show_visitor("read your team's reports")
    if not caller.signed_in:
        return
    wanted = st.query_params.get("id", "")
    if not (wanted.isascii() and wanted.isdecimal()):
        st.info(
            "Choose a submission on My team; each that is published has a report.", icon=":material/list:"
        )
        put(element("p", element("a", "Go to My team", href=link("team"), target="_self")))
        return
    report = arena().reports.of(int(wanted), round_name=st.query_params.get("round"), caller=caller)
    one = report.submission
    st.subheader(f"{one.system}, version {one.version}", anchor=False)
    lead(opening(report))
    attempt = f"{ordinal(report.attempt)} of {report.attempts}" if report.attempt else "–"
    strip(
        (
            ("round", report.round_name),
            ("question set", one.set_name),
            ("judged versions", attempt),
            ("answers", f"{one.answers:,}"),
            ("that found no answer", percent(report.no_answer_share)),
        )
    )
    offer_files(report)
    show_domains(report)
    show_missed(report)
    show_claims(report)
    show_worst(report)
