"""Retrieval: scores of contexts submitted without answers."""

import streamlit as st

from arena.formats import or_dash
from arena.services.contexts import CRUX, RANKING
from arena.site.auth import present
from arena.site.services import arena
from arena.site.ui.html import figures_table, name_page, note, page_heading, put_html
from arena.site.ui.url_state import choose_one
from leaderboard.vocabulary import OVERALL


def show() -> None:
    """Show the scores of contexts for the set in the address."""
    page_heading("Retrieval")
    names = arena().contexts.sets()
    if not names:
        st.info("No contexts have been submitted yet. Add a TREC run on the Submit page.")
        return
    set_name = choose_one("set", "Question set", {name: name for name in names})
    summary = arena().sets.summary(set_name)
    domain = choose_one("domain", "Domain", {OVERALL: "Overall", **summary.domains})
    name_page("Retrieval", summary.title or set_name)
    rows = arena().contexts.ranked(set_name, domain, caller=present())
    header = ("System", "Missing", *RANKING, "Coverage", "α-nDCG", "Density")
    cells = [
        (row["system"], f"{row['missing']:,}", *(or_dash(row[name], ".3f") for name in (*RANKING, *CRUX)))
        for row in rows
    ]
    put_html(figures_table(header, cells, spare=2, scrolls=True))
    note(
        f"Means over the {rows[0]['judged']:,} of {rows[0]['questions']:,} questions with gold documents; a "
        "question without passages counts as 0. Coverage, α-nDCG and density (CRUX) cover the questions "
        "scored by `arena metrics run --metric context-crux`."
        if rows
        else "No scores are public yet."
    )
