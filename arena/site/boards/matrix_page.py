"""Everybody against everybody: how often each wins against each, and whether that is chance."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

import streamlit as st

from arena.site.boards.cache import cached_html
from arena.site.boards.downloads import Rows, offer_files
from arena.site.boards.pickers import choose_board
from arena.site.boards.view_model import OVERALL, BoardView
from arena.site.trust import basis as bases
from arena.site.ui.components import heading, lead, name_page, note, page_heading
from arena.site.ui.formats import whole
from arena.site.ui.markup import element, explain, explained, put
from arena.site.ui.tables import anchor, link, rows_table
from arena.site.ui.url_state import choose_one
from leaderboard.ratings.vocabulary import expected_share
from leaderboard.standings.head_to_head import PairTest

EVEN = 0.5
ABSENT = "·"
"""In the cell of a pair without a figure. The caption says why: most pairs of a large board may lack one."""
STEPS = 4
"""Shades on each side of an even chance."""


def matrix_table(view: BoardView) -> Element:
    """Systems by systems, best first; the first column stays in view where the rest has to scroll."""
    systems = view.tests.systems if view.is_as_judged else _rated(view)
    places = {system: str(at) for at, system in enumerate(systems, 1)}
    heads = [
        element("th", explained(places[system], system), scope="col", aria_label=system) for system in systems
    ]
    rows = [_row(view, system, places[system], systems) for system in systems]
    has_absent = any(cell.text == ABSENT for row in rows for cell in row)
    why = "never met" if view.is_as_judged else "cannot be compared"
    absent = f" {ABSENT} stands where the two {why}." if has_absent else ""
    return rows_table(
        [("System", "aa-left"), *heads],
        rows,
        caption=f"{view.title}: {len(systems)} systems, numbered as in the rows.{absent}",
        classes="aa-matrix",
        class_="aa-wrap aa-scroll",
        tabindex="0",
        role="region",
        aria_label="Head-to-head matrix",
    )


def _rated(view: BoardView) -> tuple[str, ...]:
    return tuple(line.system for line in view.lines[OVERALL] if line.rating is not None)


def _row(view: BoardView, system: str, number: str, systems: Sequence[str]) -> Element:
    name = anchor(system, "system", board=view.name, id=system)
    make = _cell if view.is_as_judged else _expected_cell
    cells = [make(view, system, other) for other in systems]
    return element("tr", element("th", f"{number} ", name, scope="row"), *cells)


def _cell(view: BoardView, system: str, other: str) -> Element:
    if system == other:
        return element("td", class_="aa-self")
    test = view.tests.of(system, other)
    if test is None:
        return element("td", ABSENT, class_="aa-muted")
    figures = (
        f"{100 * test.rate:.0f}{_sign(test.rate, apart=test.apart)}",
        element("span", whole(test.battles), class_="aa-sub"),
    )
    words = in_words(system, other, test)
    if view.round_name is None:
        return element("td", explain(element("span", *figures), words), class_=_shade(test.rate))
    href = link("questions", board=view.name, system=system, opponent=other)
    return element(
        "td", element("a", *figures, href=href, target="_self", title=words), class_=_shade(test.rate)
    )


def _expected_cell(view: BoardView, system: str, other: str) -> Element:
    """What the ratings that are shown promise of a battle of the two."""
    if system == other:
        return element("td", class_="aa-self")
    pair = _expected(view, system, other)
    if pair is None:
        return element("td", ABSENT, class_="aa-muted")
    share, apart = pair
    words = f"{system} is expected to get {100 * share:.0f} % of the win against {other}"
    separation = "separated" if apart else "not separated"
    sign = _sign(share, apart=apart)
    figure = explained(f"{100 * share:.0f}{sign}", f"{words}; {separation}")
    return element("td", figure, class_=_shade(share))


def _expected(view: BoardView, system: str, other: str) -> tuple[float, bool] | None:
    """The share of the win that ratings promise, and whether they separate the two; None without them."""
    one, two = view.line(system), view.line(other)
    if (
        one is None
        or two is None
        or one.rating is None
        or two.rating is None
        or one.component != two.component
    ):
        return None
    return expected_share(one.rating.value - two.rating.value), view.separated(one, two, OVERALL)


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
        _opponent(view, system, other, test)
        for other in view.tests.systems
        if (test := view.tests.of(system, other)) is not None
    ]
    caption = f"{system} against each: share of the win in per cent, ties counting half."
    return rows_table(header, rows, caption=caption)


def _opponent(view: BoardView, system: str, other: str, test: PairTest) -> Element:
    name: Element | str = other
    if view.round_name is not None:
        href = link("questions", board=view.name, system=system, opponent=other)
        name = element("a", other, href=href, target="_self")
    span = test.interval
    return element(
        "tr",
        element("th", name, scope="row"),
        element(
            "td",
            element("span", f"{100 * test.rate:.1f}{_sign(test.rate, apart=test.apart)}", class_="aa-main"),
        ),
        element("td", f"{100 * span.lower:.1f}–{100 * span.upper:.1f}" if span else "–", class_="aa-second"),
        element("td", f"{whole(test.wins)} / {whole(test.ties)} / {whole(test.losses)}"),
        element(
            "td",
            element("span", "yes" if test.apart else "no", class_="aa-main" if test.apart else ""),
            element("span", _chance(test.chance), class_="aa-sub"),
        ),
    )


def matrix_rows(view: BoardView) -> Rows:
    """The matrix as rows, one a pair and side."""
    return [
        {
            "system": system,
            "opponent": other,
            "battles": test.battles,
            "wins": test.wins,
            "ties": test.ties,
            "losses": test.losses,
            "rate": test.rate,
            "lower": test.interval and test.interval.lower,
            "upper": test.interval and test.interval.upper,
            "sign_test_p": test.chance,
            "apart": test.apart,
        }
        for (system, other), test in view.tests.pairs.items()
    ]


def in_words(system: str, other: str, test: PairTest) -> str:
    """A meeting as a sentence."""
    separation = "apart" if test.apart else "not separated"
    counts = f"{whole(test.wins)} won, {whole(test.ties)} tied, {whole(test.losses)} lost"
    return (
        f"{system} against {other}: {counts} of {whole(test.battles)}; {_chance(test.chance)}, {separation}"
    )


def _sign(rate: float, *, apart: bool) -> str:
    return "" if not apart else " ▲" if rate > EVEN else " ▼"


def _shade(rate: float) -> str:
    step = min(STEPS, int(abs(rate - EVEN) * 2 * STEPS) + 1)
    if rate == EVEN:
        return ""
    return f"aa-{'over' if rate > EVEN else 'under'}-{step}"


def _chance(value: float) -> str:
    least = 0.001
    return "p < 0.001" if value < least else f"p = {value:.3f}"


def expected_rows(view: BoardView) -> Rows:
    """The matrix of expected shares as rows, one a pair and side."""
    systems = _rated(view)
    return [
        {"system": system, "opponent": other, "expected_rate": pair[0], "apart": pair[1]}
        for system in systems
        for other in systems
        if system != other and (pair := _expected(view, system, other)) is not None
    ]


DIRECT = "How often the system of the row beats that of the column, in per cent, ties counting half."
DIRECT_SIGNS = (
    "▲ and ▼: the difference is statistically significant by an exact sign test of the direct battles, "
    "at 5 % for all pairs at once (Holm); without a sign it may be chance. Small figures are battles. "
    "A cell leads to its battles."
)
EXPECTED = (
    "The share of the win that the system of the row can expect against that of the column, in per cent, by "
    "the ratings shown."
)
EXPECTED_SIGNS = (
    "Direct battles are known as the judge decided them alone, so that here the ratings tell: 400 points are "
    "odds of ten to one. ▲ and ▼: the ratings separate the two; without a sign it may be chance."
)


def show() -> None:
    """Show the matrix."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        page_heading("Head to head")
        board = choose_board(width=560)
    name_page("Head to head", board.full_title)
    basis = bases.chosen_basis(board, OVERALL)
    view = bases.on_basis(board, basis)
    direct = view.is_as_judged
    lead(DIRECT if direct else EXPECTED)
    bases.warn_of_basis(board, OVERALL)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bases.choose_basis(board, OVERALL)
    put(anchor("To the leaderboard on the same ratings", "", board=board.name, **bases.basis_query(basis)))
    note(DIRECT_SIGNS if direct else EXPECTED_SIGNS)
    cached_html(view, "matrix", lambda: matrix_table(view))
    rows = matrix_rows if direct else expected_rows
    offer_files(view, "head-to-head" if direct else f"head-to-head-{basis}", lambda: rows(view))
    _one_against_each(board)


def _one_against_each(board: BoardView) -> None:
    """One system's direct battles, as the judge decided them."""
    heading("One system against each", anchor="opponents")
    note("Direct battles, as the judge decided them.")
    systems = board.tests.systems
    with st.container(width=360):
        system = choose_one("system", "System", {name: name for name in systems})
    put(opponents_table(board, system))
    opponents = [row for row in matrix_rows(board) if row["system"] == system]
    offer_files(board, f"opponents-{system}", lambda: opponents)
