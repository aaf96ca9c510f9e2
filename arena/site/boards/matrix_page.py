"""Everybody against everybody: how often each wins against each, and whether that is chance."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

import streamlit as st

from arena.site.boards.downloads import Rows, offer_files
from arena.site.boards.pickers import choose_board
from arena.site.boards.view_model import BoardView
from arena.site.ui.components import lead, name_page, note
from arena.site.ui.formats import whole
from arena.site.ui.markup import element, explained, put
from arena.site.ui.tables import anchor, link, rows_table
from arena.site.ui.url_state import choose_one
from leaderboard.standings.head_to_head import PairTest

EVEN = 0.5
STEPS = 4
"""Shades on each side of an even chance."""


def matrix_table(view: BoardView) -> Element:
    """Systems by systems, best first; the first column stays in view where the rest has to scroll."""
    systems = view.tests.systems
    places = {system: str(at) for at, system in enumerate(systems, 1)}
    heads = [
        element("th", explained(places[system], system), scope="col", aria_label=system) for system in systems
    ]
    rows = [_row(view, system, places[system], systems) for system in systems]
    return rows_table(
        [("System", "aa-left"), *heads],
        rows,
        caption=f"{view.title}: {len(systems)} systems, numbered as in the rows.",
        classes="aa-matrix",
        class_="aa-wrap aa-scroll",
        tabindex="0",
        role="region",
        aria_label="Head-to-head matrix",
    )


def _row(view: BoardView, system: str, place: str, systems: Sequence[str]) -> Element:
    name = anchor(system, "system", board=view.name, id=system)
    cells = [_cell(view, system, other) for other in systems]
    return element("tr", element("th", f"{place} ", name, scope="row"), *cells)


def _cell(view: BoardView, system: str, other: str) -> Element:
    if system == other:
        return element("td", class_="aa-self")
    found = view.tests.of(system, other)
    if found is None:
        return element("td", "·", class_="aa-muted", title=f"{system} and {other} never met")
    figures = (
        f"{100 * found.rate:.0f}{_sign(found)}",
        element("span", whole(found.battles), class_="aa-sub"),
    )
    words = in_words(system, other, found)
    if view.round_name is None:
        return element("td", *figures, class_=_shade(found), title=words)
    href = link("questions", board=view.name, system=system, opponent=other)
    return element("td", element("a", *figures, href=href, target="_self", title=words), class_=_shade(found))


def opponents_table(view: BoardView, system: str) -> Element:
    """One system's record against each opponent, with interval and chance."""
    header = (
        ("Opponent", "aa-left"),
        ("Won", ""),
        ("95 % interval", "aa-second"),
        ("Won / tied / lost", ""),
        ("Significant?", ""),
    )
    rows = [
        _opponent(view, system, other, found)
        for other in view.tests.systems
        if (found := view.tests.of(system, other)) is not None
    ]
    caption = f"{system} against each: share of the win in per cent, ties counting half."
    return rows_table(header, rows, caption=caption)


def _opponent(view: BoardView, system: str, other: str, found: PairTest) -> Element:
    name: Element | str = other
    if view.round_name is not None:
        href = link("questions", board=view.name, system=system, opponent=other)
        name = element("a", other, href=href, target="_self")
    span = found.interval
    return element(
        "tr",
        element("th", name, scope="row"),
        element("td", element("span", f"{100 * found.rate:.1f}{_sign(found)}", class_="aa-main")),
        element("td", f"{100 * span.lower:.1f}–{100 * span.upper:.1f}" if span else "–", class_="aa-second"),
        element("td", f"{whole(found.wins)} / {whole(found.ties)} / {whole(found.losses)}"),
        element(
            "td",
            element("span", "yes" if found.apart else "no", class_="aa-main" if found.apart else ""),
            element("span", f"p {_chance(found.chance)}", class_="aa-sub"),
        ),
    )


def matrix_rows(view: BoardView) -> Rows:
    """The matrix as rows, one a pair and side."""
    return [
        {
            "system": system,
            "opponent": other,
            "battles": found.battles,
            "wins": found.wins,
            "ties": found.ties,
            "losses": found.losses,
            "rate": found.rate,
            "lower": found.interval and found.interval.lower,
            "upper": found.interval and found.interval.upper,
            "sign_test_p": found.chance,
            "apart": found.apart,
        }
        for (system, other), found in view.tests.pairs.items()
    ]


def in_words(system: str, other: str, found: PairTest) -> str:
    """A meeting as a sentence."""
    told = "apart" if found.apart else "not separated"
    counts = f"{whole(found.wins)} won, {whole(found.ties)} tied, {whole(found.losses)} lost"
    return f"{system} against {other}: {counts} of {whole(found.battles)}; p {_chance(found.chance)}, {told}"


def _sign(found: PairTest) -> str:
    if not found.apart:
        return ""
    return " ▲" if found.rate > EVEN else " ▼"


def _shade(found: PairTest) -> str:
    step = min(STEPS, int(abs(found.rate - EVEN) * 2 * STEPS) + 1)
    if found.rate == EVEN:
        return ""
    return f"aa-{'over' if found.rate > EVEN else 'under'}-{step}"


def _chance(value: float) -> str:
    least = 0.001
    return "< 0.001" if value < least else f"{value:.3f}"


def show() -> None:
    """Show the matrix."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Head to head", anchor=False)
        view = choose_board(width=560)
    name_page("Head to head", view.full_title)
    lead("How often the system of the row beats that of the column, in per cent, ties counting half.")
    note(
        "▲ and ▼: the difference is statistically significant by an exact sign test of the direct battles, "
        "at 5 % for all pairs at once (Holm); without a sign it may be chance. Small figures are battles. "
        "A cell leads to its battles."
    )
    put(matrix_table(view))
    offer_files(view, "head-to-head", lambda: matrix_rows(view))
    st.header("One system against each", anchor="opponents")
    systems = view.tests.systems
    with st.container(width=360):
        system = choose_one("system", "System", {name: name for name in systems})
    put(opponents_table(view, system))
    opponents = [row for row in matrix_rows(view) if row["system"] == system]
    offer_files(view, f"opponents-{system}", lambda: opponents)
