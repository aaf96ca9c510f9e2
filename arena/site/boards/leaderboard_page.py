"""The leaderboard: who leads, how surely, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote
from xml.etree.ElementTree import Element

import streamlit as st
from altair import LayerChart

from arena.site.boards.board_parts import board_note, errata, health
from arena.site.boards.cache import cached_html
from arena.site.boards.charts import LEAST_DOMAINS, chosen_scatter, domain_panels, interval_chart
from arena.site.boards.downloads import offer_files
from arena.site.boards.people_view import show_moves
from arena.site.boards.pickers import (
    addressed_board,
    choose_board,
    choose_domain,
    chosen_domain,
    warn_of_domain,
)
from arena.site.boards.said_part import FILTERS, choose_said, chosen_filters, cost_plot, in_words, keeps
from arena.site.boards.sentences import headline, judged
from arena.site.boards.standings_table import (
    Order,
    columns_by_default,
    columns_to_choose,
    in_order,
    orders,
    shown_rows,
    standings_table,
)
from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.queries import voted_set
from arena.site.trust import basis as bases
from arena.site.trust.asked_again import warn_of_another_judge
from arena.site.trust.basis import LABELS, Basis
from arena.site.trust.control_figures import LABELS as CONTROLS
from arena.site.trust.error_view import show_parts
from arena.site.trust.robustness import first_place
from arena.site.ui.components import definitions, name_page, note
from arena.site.ui.formats import points, range_of_points
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor, link, plain_table
from arena.site.ui.url_state import (
    choose_one,
    choose_pills,
    choose_switch,
    chosen_many,
    chosen_words,
    opened,
    say_unknown,
    text_filter,
)

WHAT = (
    "Every system answers the same questions, a judge compares the answers in pairs, and the ratings say who "
    "answers better, and how surely."
)
BETWEEN_SYSTEMS = ("Rank", "System", "Rating", "95 % interval")
REFERENCE_ROW = "row"
LOOKS = ("columns", "find", "reference", "sort")
"""What links on the page carry over of its address, beside board, domain, ratings and filters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the address asks for: a board on some basis, a domain, and the rows and columns of its table.

    `view` is the board on the basis, `every` how many systems there are before search and filters, `address`
    the query of the page.
    """

    view: BoardView
    basis: Basis
    domain: str
    lines: tuple[Line, ...]
    every: int
    columns: tuple[str, ...]
    order: Order
    filters: Mapping[str, str]
    address: Mapping[str, str]

    @property
    def key(self) -> str:
        """What the table depends on beside the view."""
        return f"standings {self.address} {[line.system for line in self.lines]}"

    def table(self) -> Element:
        """The table."""
        notes = (_control_note(self.view), _reference_note(self))
        return standings_table(
            self.view,
            self.domain,
            self.lines,
            chosen=self.columns,
            note=" ".join(filter(None, notes)),
            order=self.order,
            address=self.address,
        )

    def opening(self, domain: str) -> str:
        """The address of the same page in another domain."""
        return link("", **{**self.address, "domain": domain})


def read_address(board: BoardView) -> Shown:
    """What the address asks for."""
    domain = chosen_domain(board)
    basis = bases.chosen_basis(board, domain)
    view = bases.on_basis(board, basis)
    every = view.lines[domain] if chosen_words("reference") == REFERENCE_ROW else view.competitors(domain)
    words, filters = chosen_words("find").casefold().split(), chosen_filters(view)
    kept = [
        line
        for line in every
        if all(word in line.system.casefold() for word in words) and keeps(view, line, filters)
    ]
    asked, names = Order.of(chosen_words("sort")), orders(view, domain)
    order = asked if asked.key in names else Order()
    columns = chosen_many("columns", columns_to_choose(view), columns_by_default(view))
    return Shown(
        view=view,
        basis=basis,
        domain=domain,
        lines=in_order(view, domain, kept, order),
        every=len(every),
        columns=(*columns, *([names[order.key]] if order.key else [])),
        order=order,
        filters=filters,
        address={
            "board": chosen_words("board") or board.name,
            **({} if domain == OVERALL else {"domain": domain}),
            **bases.basis_query(basis),
            **{name: value for name in LOOKS if (value := chosen_words(name))},
            **filters,
        },
    )


def show() -> None:
    """Show a board."""
    board = addressed_board()
    name_page("Leaderboard", board.full_title)
    shown = read_address(board)
    view = shown.view
    head = st.container(horizontal=True, vertical_alignment="bottom", key="head")
    head.title("Leaderboard", anchor=False)
    put(_opening(shown))
    errata(view)
    warn_of_another_judge(view.drift)
    warn_of_domain(board)
    bases.warn_of_basis(board, shown.domain)
    _warn_of_looks(shown)
    health(view, way=bases.basis_query(shown.basis))
    controls = st.container(key="controls")
    # The table is sent before what chooses from it, so that it is there first.
    cached_html(view, shown.key, shown.table)
    with head:
        choose_board(width=560)
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


def _opening(shown: Shown) -> Element:
    """What this is, who leads, and on what it rests."""
    return element(
        "div",
        element("p", WHAT, class_="aa-note"),
        element("p", headline(shown.view, shown.domain), class_="aa-lead"),
        element("p", f"{judged(shown.view)} {shown.view.note}", class_="aa-note"),
        class_="aa-opening",
    )


def _warn_of_looks(shown: Shown) -> None:
    """Say what the address asks of the table that does not exist: its controls are behind a button."""
    order, row = chosen_words("sort"), chosen_words("reference")
    if order and Order.of(order).key not in orders(shown.view, shown.domain):
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
            names = columns_to_choose(view)
            choose_pills("columns", "Columns", {name: name for name in names}, columns_by_default(view))
            choose_one("sort", "Sort by", _orders(shown))
            if board.reference:
                choose_switch("reference", REFERENCE_ROW, "Reference as a row")
        choose_said(view)


def _orders(shown: Shown) -> dict[str, str]:
    """What to sort by: every column, and the one turned round that the address may name."""
    names = {"" if key == "rank" else key: name for key, name in orders(shown.view, shown.domain).items()}
    order = shown.order
    turned = {order.word: f"{names.get(order.key, 'Rank')}, reversed"} if order.turned else {}
    return {"": "Rank", **names, **turned}


def _control_note(view: BoardView) -> str:
    """What a control leaves as it was."""
    if view.controlled_for is None:
        return ""
    return (
        f"Ratings, ranks and order are controlled for {CONTROLS[view.controlled_for]}; rates are not. "
        f"{view.controls[view.controlled_for].note}"
    )


def _reference_note(shown: Shown) -> str:
    """Where the reference stands, which is a line in the chart and no row."""
    reference = shown.view.line(shown.view.reference, shown.domain)
    if reference is None or reference.rating is None:
        return ""
    value = f"{points(reference.rating.value)} ({range_of_points(reference.rating)})"
    name = "" if reference.system == "reference" else f" ({reference.system})"
    return f"Dashed line: the reference{name} at {value}."


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
