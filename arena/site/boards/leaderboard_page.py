"""The leaderboard: who leads, how surely, and where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from xml.etree.ElementTree import Element

import streamlit as st

from arena.site.boards.between_systems import between_systems
from arena.site.boards.board_parts import board_note, errata, health, set_note, show_files
from arena.site.boards.cache import cached_html
from arena.site.boards.charts import chosen_scatter, domain_heatmap, interval_plot, let_the_table_paint
from arena.site.boards.people_view import as_people_say, choose_voice, is_by_people, show_moves
from arena.site.boards.pickers import addressed_board, choose_board, choose_domain, chosen_domain
from arena.site.boards.sentences import headline
from arena.site.boards.standings_table import columns_by_default, columns_to_choose, standings_table
from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.boards.vote_link import invite_to_vote
from arena.site.ui.components import definitions, lead, name_page, strip
from arena.site.ui.url_state import choose_pills, choose_switch, chosen_many, chosen_words, is_on, text_filter

CONTROL = (
    "Ratings as they would be if both answers of each battle were equally long: judges tend to favour long "
    "answers. The headline, the table, the order and the charts of this page follow. Overall only."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """The board as it is shown, controlled for length or not, and its table's rows, columns and caption."""

    view: BoardView
    lines: tuple[Line, ...]
    columns: tuple[str, ...]
    note: str

    @property
    def key(self) -> str:
        """What the table depends on beside the view and the domain."""
        return f"{self.columns} {self.note} {[line.system for line in self.lines]}"

    def table(self, domain: str) -> Element:
        """The table."""
        return standings_table(self.view, domain, self.lines, chosen=self.columns, note=self.note)


def read_options(view: BoardView, domain: str) -> TableOptions:
    """What the address asks for."""
    by_people = is_by_people(view)
    controlled = is_on("control") and domain == OVERALL and bool(view.controlled.ratings) and not by_people
    shown = view.under_control() if controlled else as_people_say(view) if by_people else view
    words = chosen_words("find").casefold().split()
    return TableOptions(
        view=shown,
        lines=tuple(
            line for line in shown.lines[domain] if all(word in line.system.casefold() for word in words)
        ),
        columns=tuple(chosen_many("columns", columns_to_choose(view), columns_by_default(view))),
        note=f"Ratings, ranks and order are controlled for length; rates are not. {view.controlled.note}"
        if controlled
        else "",
    )


def options_form(view: BoardView, domain: str) -> None:
    """Offer search, columns and control for length; the choice goes into the address."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="look"):
        text_filter("find", "Find systems", width=220)
        with st.popover("Columns", icon=":material/view_column:"):
            names = columns_to_choose(view)
            choose_pills("columns", "Columns", {name: name for name in names}, columns_by_default(view))
        possible = bool(view.controlled.ratings) and domain == OVERALL and not is_by_people(view)
        choose_switch(
            "control",
            "Control for length",
            CONTROL if possible else view.controlled.note or CONTROL,
            disabled=not possible,
        )


def show() -> None:
    """Show a board."""
    board = addressed_board()
    name_page("Leaderboard", board.full_title)
    domain = chosen_domain(board)
    look = read_options(board, domain)
    view = look.view
    head = st.container(horizontal=True, vertical_alignment="bottom", key="head")
    head.title("Leaderboard", anchor=False)
    controls = st.container(key="controls")
    # The table is sent before what chooses from it, so that it is there first.
    lead(headline(view, domain))
    errata(view)
    set_note(view)
    health(view)
    cached_html(view, f"standings {domain} {look.key}", partial(look.table, domain))
    show_moves(view)
    let_the_table_paint()
    with head:
        choose_board(width=560)
    with controls:
        choose_voice(board)
        choose_domain(board)
        options_form(board, domain)
    if not look.lines:
        st.info("No system matches.", icon=":material/search_off:")
    board_note(view)
    between_systems(view)
    invite_to_vote(view)
    strip(view.facts)
    definitions()
    interval_plot(view, domain, look.lines)
    domain_heatmap(view)
    chosen_scatter(view, domain)
    show_files(view)
