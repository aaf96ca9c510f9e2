"""The leaderboard: who leads, how surely, and where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from urllib.parse import quote
from xml.etree.ElementTree import Element

import streamlit as st

from arena.site.boards.board_parts import board_note, errata, health, set_note, show_files
from arena.site.boards.cache import cached_html
from arena.site.boards.charts import chosen_scatter, domain_heatmap, interval_plot, let_the_table_paint
from arena.site.boards.people_view import as_people_say, choose_voice, is_by_people, show_moves
from arena.site.boards.pickers import addressed_board, choose_board, choose_domain, chosen_domain
from arena.site.boards.sentences import headline
from arena.site.boards.standings_table import columns_by_default, columns_to_choose, standings_table
from arena.site.boards.view_model import BoardView, Line
from arena.site.queries import voted_set
from arena.site.trust.asked_again import warn_of_another_judge
from arena.site.trust.control_figures import LABELS
from arena.site.trust.covariates import choose_control, chosen_control
from arena.site.trust.error_view import choose_error, chosen_error, show_parts, with_error
from arena.site.trust.robustness import lead_to_trust
from arena.site.ui.components import definitions, lead, name_page, note, strip
from arena.site.ui.formats import points
from arena.site.ui.markup import element, put
from arena.site.ui.tables import plain_table
from arena.site.ui.url_state import choose_pills, chosen_many, chosen_words, text_filter

BETWEEN_SYSTEMS = ("Rank", "System", "Rating", "95 % interval")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """The board as it is shown, under a control or not, and its table's rows, columns and caption."""

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
    control = chosen_control(view, domain)
    judged = with_error(view, chosen_error(view, domain, as_judged=not (control or by_people)))
    shown = view.under_control(control) if control else as_people_say(view) if by_people else judged
    words = chosen_words("find").casefold().split()
    return TableOptions(
        view=shown,
        lines=tuple(
            line for line in shown.lines[domain] if all(word in line.system.casefold() for word in words)
        ),
        columns=tuple(chosen_many("columns", columns_to_choose(view), columns_by_default(view))),
        note=f"Ratings, ranks and order are controlled for {LABELS[control]}; rates are not. "
        f"{view.controls[control].note}"
        if control
        else "",
    )


def options_form(view: BoardView, domain: str, *, as_judged: bool) -> None:
    """Offer search, columns and what to control for; the choice goes into the address."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="look"):
        text_filter("find", "Find systems", width=220)
        with st.popover("Columns", icon=":material/view_column:"):
            names = columns_to_choose(view)
            choose_pills("columns", "Columns", {name: name for name in names}, columns_by_default(view))
        choose_control(view, domain)
        choose_error(view, domain, as_judged=as_judged)


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
    warn_of_another_judge(view.drift)
    set_note(view)
    health(view)
    cached_html(view, f"standings {domain} {look.key}", partial(look.table, domain))
    show_moves(view)
    show_parts(view)
    let_the_table_paint()
    with head:
        choose_board(width=560)
    with controls:
        choose_voice(board)
        choose_domain(board)
        options_form(board, domain, as_judged=not (view.is_controlled or view.is_by_people))
    if not look.lines:
        st.info("No system matches.", icon=":material/search_off:")
    board_note(view)
    lead_to_trust(view)
    _between_systems(view)
    _invite_to_vote(view)
    strip(view.facts)
    definitions()
    interval_plot(view, domain, look.lines)
    domain_heatmap(view)
    chosen_scatter(view, domain)
    show_files(view)


def _invite_to_vote(view: BoardView) -> None:
    """Lead to the blind pairs of a board's set; nothing where votes are not open."""
    name = voted_set(view)
    if name:
        way = element("a", "Judge a blind pair of answers", href=f"./vote/{quote(name)}", target="_self")
        put(element("p", way, class_="aa-note"))


def _between_systems(view: BoardView) -> None:
    """Offer a second table; nothing where the board has no such ratings of its own."""
    if not view.between.ratings:
        return
    with st.expander("Ratings of battles between systems alone"):
        note(f"{view.between.note} {_why(view)}")
        put(plain_table(BETWEEN_SYSTEMS, _rows(view)))


def _why(view: BoardView) -> str:
    """Why they may differ from the board's own."""
    if not view.yardsticks:
        return "They leave out what the judge makes of the reference."
    return (
        f"The judge held answers against {view.yardsticks}: against another yardstick, verdicts are on "
        "another scale, and those on the reference itself agree less with people."
    )


def _rows(view: BoardView) -> list[tuple[str, str, str, str]]:
    rows = []
    for system, placed in view.between.ratings.items():
        low, high = placed.rating.lower, placed.rating.upper
        interval = "–" if low is None or high is None else f"{points(low)}–{points(high)}"
        rank = str(placed.rank_lower)
        if placed.rank_upper != placed.rank_lower:
            rank = f"{rank}–{placed.rank_upper}"
        rows.append((rank, system, points(placed.rating.value), interval))
    return rows
