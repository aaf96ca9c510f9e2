"""The leaderboard: who leads, how surely, and where."""

from __future__ import annotations

from functools import partial
from urllib.parse import quote

import streamlit as st
from altair import LayerChart

from arena.site.boards.board_parts import board_note, errata, health
from arena.site.boards.cache import cached_html
from arena.site.boards.charts import LEAST_DOMAINS, chosen_scatter, domain_panels, interval_chart
from arena.site.boards.downloads import offer_files
from arena.site.boards.leaderboard_view import REFERENCE_ROW, Shown, opening, read_address
from arena.site.boards.people_view import show_moves
from arena.site.boards.pickers import (
    addressed_board,
    choose_domain,
    offer_boards,
    warn_of_domain,
)
from arena.site.boards.said_part import FILTERS, choose_said, cost_plot, in_words
from arena.site.boards.standings_table import (
    Order,
    shown_rows,
    usual_columns,
)
from arena.site.boards.view_model import OVERALL, BoardView
from arena.site.queries import voted_set
from arena.site.trust import basis as bases
from arena.site.trust.asked_again import warn_of_another_judge
from arena.site.trust.basis import LABELS
from arena.site.trust.error_view import show_parts
from arena.site.trust.robustness import first_place
from arena.site.ui.components import definitions, name_page, note, page_heading
from arena.site.ui.formats import points
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor, link, plain_table
from arena.site.ui.url_state import (
    choose_one,
    choose_pills,
    choose_switch,
    chosen_words,
    opened,
    say_unknown,
    text_filter,
)

BETWEEN_SYSTEMS = ("Rank", "System", "Rating", "95 % interval")


def show() -> None:
    """Show a board."""
    board = addressed_board()
    name_page("Leaderboard", board.full_title)
    shown = read_address(board)
    view = shown.view
    head = st.container(horizontal=True, vertical_alignment="bottom", key="head")
    with head:
        page_heading("Leaderboard")
    put(opening(shown))
    errata(view)
    warn_of_another_judge(view.drift)
    warn_of_domain(board)
    bases.warn_of_basis(board, shown.domain)
    _warn_of_looks(shown)
    put(health(view, way=bases.basis_query(shown.basis)))
    controls = st.container(key="controls")
    # The table is sent before what chooses from it, so that it is there first.
    cached_html(view, shown.key, shown.table)
    with head:
        offer_boards(width=560)
    with controls:
        _choose(shown, board)
    _say_what_is_left(shown)
    _offer_what_is_shown(shown)
    if shown.domain == OVERALL and (rests := first_place(view)):
        note(rests)
    board_note(view)
    _lead_on(shown)
    show_moves(view)
    show_parts(view)
    _domains(shown)
    _between_systems(view)
    chosen_scatter(view, shown.domain)
    cost_plot(view, shown.domain, shown.lines)
    definitions()


def _warn_of_looks(shown: Shown) -> None:
    """Say what the address asks of the table that does not exist: its controls are behind a button."""
    order, row = chosen_words("sort"), chosen_words("reference")
    if order and Order.of(order).key not in shown.orders:
        say_unknown(order, "The rows are in the order of their ranks.")
    if row not in {"", REFERENCE_ROW}:
        say_unknown(row, "The reference is a line.")


def _choose(shown: Shown, board: BoardView) -> None:
    """Offer whose ratings, which domain, which systems and columns, and in which order."""
    view = shown.view
    with st.container(horizontal=True, vertical_alignment="bottom", key="whose"):
        bases.choose_basis(board, shown.domain)
        text_filter("find", "Find systems", width=160)
    with st.container(horizontal=True, vertical_alignment="bottom", key="where"):
        choose_domain(board)
        with st.popover("Columns and order", icon=":material/view_column:"):
            names = {name: name for name in shown.offered}
            choose_pills("columns", "Columns", names, usual_columns(names))
            choose_one("sort", "Sort by", _orders(shown))
            if board.reference:
                choose_switch("reference", REFERENCE_ROW, "Reference as a row")
        choose_said(view)


def _orders(shown: Shown) -> dict[str, str]:
    """What to sort by: every column, and the one turned round that the address may name."""
    names = {"" if key == "rank" else key: name for key, name in shown.orders.items()}
    order = shown.order
    turned = {order.word: f"{names.get(order.key, 'Rank')}, reversed"} if order.turned else {}
    return {"": "Rank", **names, **turned}


def _say_what_is_left(shown: Shown) -> None:
    """How many systems a search or a filter leaves, and the way back to all; nothing without either."""
    words = chosen_words("find").strip()
    asked = [*([f"name with “{words}”"] if words else []), *in_words(shown.filters)]
    if not asked:
        return
    if not shown.lines:
        st.info("No system matches.", icon=":material/search_off:")
    rest = {name: value for name, value in shown.address.items() if name not in {"find", *FILTERS}}
    way = element("a", "Show all", href=link("", **rest), target="_self")
    left = f"{len(shown.lines)} of {shown.every} systems: {', '.join(asked)}. "
    put(element("p", left, way, class_="aa-note"))


def _offer_what_is_shown(shown: Shown) -> None:
    """Offer the table as files, and its intervals as a picture."""
    label = LABELS[shown.basis]

    def draw(_ink: str) -> LayerChart:
        return interval_chart(shown.view, shown.domain, shown.lines)

    offer_files(
        shown.view,
        f"standings-{shown.domain}-{shown.basis}",
        partial(shown_rows, shown.view, shown.domain, shown.lines, shown.columns, label),
        title=f"{shown.view.label(shown.domain)}, {label.lower()}",
        chart=draw if any(line.rating or line.win_tie for line in shown.lines) else None,
    )


def _lead_on(shown: Shown) -> None:
    """Lead to the pages on the same ratings, to all files, and to the votes where they are open."""
    query = {"board": shown.address["board"], **bases.basis_query(shown.basis)}
    ways = [
        anchor("Head to head", "matrix", **query),
        anchor("All files of the board", "data", board=query["board"]),
    ]
    if name := voted_set(shown.view):
        ways.append(
            element("a", "Judge a blind pair of answers", href=f"./vote/{quote(name)}", target="_self")
        )
    put(element("ul", *(element("li", way) for way in ways), class_="aa-ways"))


def _domains(shown: Shown) -> None:
    """A small chart for each domain; nothing where there is one alone."""
    view = shown.view
    if len(view.domains) < LEAST_DOMAINS:
        return
    put(element("h2", "By domain", id="domains"))
    said = f" {LABELS[shown.basis]} is known overall only: here the judge's ratings stand."
    note(
        "The first systems of each domain with 95 % intervals, all on one scale. A name opens its domain."
        f"{said if bases.is_overall_only(shown.basis) else ''}"
    )
    cached_html(view, f"domains {shown.address}", lambda: domain_panels(view, shown.domain, shown.opening))


def _between_systems(view: BoardView) -> None:
    """Offer a second table; nothing where the board has no such ratings of its own."""
    if not view.between.ratings:
        return
    with opened("Ratings of battles between systems alone", "between") as is_open:
        if is_open:
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
