"""The leaderboard as an address asks for it: the board, what stands above its table, and the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import streamlit as st

from arena.site.boards.board_parts import health
from arena.site.boards.cache import made_once
from arena.site.boards.pickers import (
    chosen_domain,
)
from arena.site.boards.said_part import chosen_filters, keeps
from arena.site.boards.sentences import headline, judged
from arena.site.boards.standings_table import (
    Order,
    columns_to_choose,
    in_order,
    orders,
    standings_table,
    usual_columns,
)
from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.trust import basis as bases
from arena.site.trust.basis import Basis
from arena.site.trust.control_figures import LABELS as CONTROLS
from arena.site.ui.components import notice_of
from arena.site.ui.formats import points, range_of_points
from arena.site.ui.markup import element
from arena.site.ui.tables import link
from arena.site.ui.url_state import (
    chosen_many,
    chosen_words,
)

WHAT = (
    "Every system answers the same questions, a judge compares the answers in pairs, and the ratings say who "
    "answers better, and how surely."
)
REFERENCE_ROW = "row"
LOOKS = ("columns", "find", "reference", "sort")
"""What links on the page carry over of its address, beside board, domain, ratings and filters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the address asks for: a board on some basis, a domain, and the rows and columns of its table.

    `view` is the board on the basis, `every` how many systems there are before search and filters, `offered`
    the columns to choose from, `orders` what the rows can be sorted by (keys to names), `address` the query
    of the page.
    """

    view: BoardView
    basis: Basis
    domain: str
    lines: tuple[Line, ...]
    every: int
    columns: tuple[str, ...]
    offered: tuple[str, ...]
    order: Order
    orders: Mapping[str, str]
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
    query = sorted(st.query_params.to_dict().items())
    return made_once(board, f"leaderboard {query}", lambda: _read_address(board))


def _read_address(board: BoardView) -> Shown:
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
    offered = columns_to_choose(view)
    columns = chosen_many("columns", offered, usual_columns(offered))
    return Shown(
        view=view,
        basis=basis,
        domain=domain,
        lines=in_order(view, domain, kept, order),
        every=len(every),
        columns=(*columns, *([names[order.key]] if order.key else [])),
        offered=offered,
        order=order,
        orders=names,
        filters=filters,
        address={
            "board": chosen_words("board") or board.name,
            **({} if domain == OVERALL else {"domain": domain}),
            **bases.basis_query(basis),
            **{name: value for name in LOOKS if (value := chosen_words(name))},
            **filters,
        },
    )


def first_look(board: BoardView) -> Element:
    """What the page begins with where its address names a board at most; room is left for its choices."""
    lines, offered = board.competitors(OVERALL), columns_to_choose(board)
    shown = Shown(
        view=board,
        basis=Basis.JUDGE,
        domain=OVERALL,
        lines=lines,
        every=len(lines),
        columns=usual_columns(offered),
        offered=offered,
        order=Order(),
        orders={},
        filters={},
        address={"board": board.name},
    )
    return element(
        "div",
        element("div", element("h1", "Leaderboard"), class_="st-key-head"),
        opening(shown),
        *([notice_of(board.notice)] if board.notice else []),
        health(board, way={}),
        element("div", class_="st-key-controls"),
        shown.table(),
    )


def opening(shown: Shown) -> Element:
    """What this is, who leads, and on what it rests."""
    return element(
        "div",
        element("p", WHAT, class_="aa-note"),
        element("p", headline(shown.view, shown.domain), class_="aa-lead"),
        element("p", f"{judged(shown.view)} {shown.view.note}", class_="aa-note"),
        class_="aa-opening",
    )


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
