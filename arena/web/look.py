"""How a reader looks at the standings: which columns, which systems, with or without control for length."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element

import streamlit as st

from arena.web.choices import (
    choose_pills,
    choose_switch,
    choose_words,
    chosen_many,
    chosen_words,
    is_on,
)
from arena.web.standings_table import columns_by_default, columns_to_choose, standings_table
from arena.web.views import OVERALL, BoardView, Line

CONTROL = (
    "Ratings as they would be if both answers of each battle were equally long: judges tend to favour long "
    "answers. Overall only."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the table shows: rows, names of columns, and what its caption says further."""

    lines: tuple[Line, ...]
    columns: tuple[str, ...]
    note: str

    @property
    def key(self) -> str:
        """What the table depends on beside board and domain."""
        return f"{self.columns} {self.note} {[line.system for line in self.lines]}"

    def table(self, view: BoardView, domain: str) -> Element:
        """The table."""
        return standings_table(view, domain, self.lines, chosen=self.columns, note=self.note)


def read_look(view: BoardView, domain: str) -> Look:
    """What the address asks for."""
    controlled = is_on("control") and domain == OVERALL and bool(view.controlled.ratings)
    lines = view.under_control() if controlled else view.lines[domain]
    words = chosen_words("find").casefold().split()
    return Look(
        lines=tuple(line for line in lines if all(word in line.system.casefold() for word in words)),
        columns=tuple(chosen_many("columns", columns_to_choose(view), columns_by_default(view))),
        note=f"Ratings and ranks are controlled for length: {view.controlled.note}" if controlled else "",
    )


def choose_look(view: BoardView, domain: str) -> None:
    """Offer search, columns and control for length; the choice goes into the address."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="look"):
        choose_words("find", "Find systems", width=220)
        with st.popover("Columns", icon=":material/view_column:"):
            names = columns_to_choose(view)
            choose_pills("columns", "Columns", {name: name for name in names}, columns_by_default(view))
        possible = bool(view.controlled.ratings) and domain == OVERALL
        choose_switch(
            "control",
            "Control for length",
            CONTROL if possible else view.controlled.note or CONTROL,
            disabled=not possible,
        )
