"""The head-to-head matrix, and one system's row of it as a table that a phone has room for."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from arena.web.figures import whole
from arena.web.files import Rows
from arena.web.markup import element
from arena.web.tables import captioned_table, link
from arena.web.views import BoardView
from leaderboard.meetings import Meeting

EVEN = 0.5
STEPS = 4
"""Shades on each side of an even chance."""


def matrix_table(view: BoardView) -> Element:
    """Systems by systems, best first; the first column stays in view where the rest has to scroll."""
    systems = view.meetings.systems
    places = {system: str(at) for at, system in enumerate(systems, 1)}
    heads = [element("th", "System", scope="col", class_="aa-left")]
    heads += [
        element("th", element("abbr", places[system], title=system), scope="col", aria_label=system)
        for system in systems
    ]
    rows = [_row(view, system, places[system], systems) for system in systems]
    table = element(
        "table",
        element("caption", f"{view.title}: {len(systems)} systems, numbered as in the rows."),
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
        class_="aa-board aa-matrix",
    )
    attributes = {"tabindex": "0", "role": "region", "aria_label": "Head-to-head matrix"}
    return element("div", table, class_="aa-wrap aa-scroll", **attributes)


def _row(view: BoardView, system: str, place: str, systems: Sequence[str]) -> Element:
    href = link("system", board=view.name, id=system)
    name = element("a", system, href=href, target="_self")
    cells = [_cell(view, system, other) for other in systems]
    return element("tr", element("th", f"{place} ", name, scope="row"), *cells)


def _cell(view: BoardView, system: str, other: str) -> Element:
    if system == other:
        return element("td", class_="aa-self")
    found = view.meetings.of(system, other)
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
        ("Even pair?", ""),
    )
    rows = [
        _opponent(view, system, other, found)
        for other in view.meetings.systems
        if (found := view.meetings.of(system, other)) is not None
    ]
    caption = f"{system} against each: share of the win in per cent, ties counting half."
    return captioned_table(caption, header, rows)


def _opponent(view: BoardView, system: str, other: str, found: Meeting) -> Element:
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
            element("span", "apart" if found.apart else "could be", class_="aa-main" if found.apart else ""),
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
        for (system, other), found in view.meetings.pairs.items()
    ]


def in_words(system: str, other: str, found: Meeting) -> str:
    """A meeting as a sentence."""
    told = "apart" if found.apart else "not separated"
    counts = f"{whole(found.wins)} won, {whole(found.ties)} tied, {whole(found.losses)} lost"
    return f"{system} against {other}: {counts} of {whole(found.battles)}; p {_chance(found.chance)}, {told}"


def _sign(found: Meeting) -> str:
    if not found.apart:
        return ""
    return " ▲" if found.rate > EVEN else " ▼"


def _shade(found: Meeting) -> str:
    step = min(STEPS, int(abs(found.rate - EVEN) * 2 * STEPS) + 1)
    if found.rate == EVEN:
        return ""
    return f"aa-{'over' if found.rate > EVEN else 'under'}-{step}"


def _chance(value: float) -> str:
    least = 0.001
    return "< 0.001" if value < least else f"{value:.3f}"
