"""Question sets for organisers: brought, looked at, opened, frozen."""

from __future__ import annotations

import streamlit as st

from arena.web.markup import element, put
from arena.web.organise.common import grid, organiser, show_done
from arena.web.organise.set_parts import bring_set, policy_part, set_facts
from arena.web.pieces import lead, note
from arena.web.tables import link
from arena.web.wiring import arena


def show() -> None:
    """Show the set that the address names, else all of them and the form for another."""
    caller = organiser()
    name = st.query_params.get("set")
    if name is None:
        st.title("Sets", anchor=False)
        show_done()
        lead("A stored set never changes; what holds for submissions to it may.")
        _list()
        st.subheader("Import a set", anchor="import")
        bring_set(caller)
        return
    view = arena().set_desk.view(name, caller=caller)
    back = element("a", "All sets", href=link("admin-data"), target="_self")
    put(element("p", back, class_="aa-eyebrow"))
    st.title(view.summary.title, anchor=False)
    show_done()
    set_facts(view)
    policy_part(view, caller)


def _list() -> None:
    sets = arena().sets.summaries()
    if not sets:
        note("There are no sets yet.")
        return
    rows = [
        (
            element("a", one.name, href=link("admin-data", set=one.name), target="_self"),
            one.title,
            f"{one.questions:,}",
            str(len(one.domains)),
            one.content_hash[:12],
        )
        for one in sets
    ]
    grid(("Set", "Title", "Questions", "Domains", "Content"), rows)
