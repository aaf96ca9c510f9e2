"""Everybody against everybody: how often each wins against each, and who is separated."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from arena.site.boards.cache import cached_html
from arena.site.boards.downloads import Rows, offer_files
from arena.site.boards.pickers import titled_board
from arena.site.boards.view_model import BoardView
from arena.site.ui.components import lead, name_page, note
from arena.site.ui.formats import whole
from arena.site.ui.markup import element, explain, explained, put
from arena.site.ui.tables import anchor, link, rows_table
from data.text import percent_figure
from leaderboard.standings.head_to_head import Meeting

EVEN = 0.5
ABSENT = "·"
"""In the cell of a pair without a figure. The caption says why: most pairs of a large board may lack one."""
STEPS = 4
"""Shades on each side of an even chance."""


def matrix_table(view: BoardView) -> Element:
    """Systems by systems, best first; the first column stays in view where the rest has to scroll."""
    systems = view.meetings.systems
    places = {system: str(at) for at, system in enumerate(systems, 1)}
    heads = [
        element("th", explained(places[system], system), scope="col", aria_label=system) for system in systems
    ]
    rows = [_row(view, system, places[system], systems) for system in systems]
    has_absent = any(cell.text == ABSENT for row in rows for cell in row)
    absent = f" {ABSENT} stands where the two never met." if has_absent else ""
    return rows_table(
        [("System", "aa-left"), *heads],
        rows,
        caption=f"{view.title}: {_counted(view, systems)}, numbered as in the rows.{absent}",
        classes="aa-matrix",
        class_="aa-wrap aa-scroll",
        tabindex="0",
        role="region",
        aria_label="Head-to-head matrix",
    )


def _counted(view: BoardView, systems: Sequence[str]) -> str:
    """Describe the number of visible systems, without the reference."""
    count = len(set(systems) - {view.reference})
    beside = " and the reference" if count < len(systems) else ""
    return f"{count} system{'' if count == 1 else 's'}{beside}"


def _row(view: BoardView, system: str, number: str, systems: Sequence[str]) -> Element:
    name = anchor(system, "system", board=view.name, id=system)
    cells = [_cell(view, system, other) for other in systems]
    return element("tr", element("th", f"{number} ", name, scope="row"), *cells)


def _cell(view: BoardView, system: str, other: str) -> Element:
    if system == other:
        return element("td", class_="aa-self")
    meeting = view.meetings.of(system, other)
    if meeting is None:
        return element("td", ABSENT, class_="aa-muted")
    apart = view.separates(system, other)
    figures = (
        f"{percent_figure(meeting.rate, decimals=0)}{_sign(meeting.rate, apart=apart)}",
        element("span", whole(meeting.battles), class_="aa-sub"),
    )
    words = in_words(system, other, meeting, apart=apart)
    if view.round_name is None:
        return element("td", explain(element("span", *figures), words), class_=_shade(meeting.rate))
    href = link("questions", board=view.name, system=system, opponent=other)
    return element(
        "td", element("a", *figures, href=href, target="_self", title=words), class_=_shade(meeting.rate)
    )


def opponents_table(view: BoardView, system: str) -> Element:
    """Return one system's record against each opponent, with its interval and separation."""
    header = (
        ("Opponent", "aa-left"),
        ("Won", ""),
        ("95 % interval", "aa-second"),
        ("Won / tied / lost", ""),
        ("Separated?", ""),
    )
    rows = [
        _opponent(view, system, other, meeting)
        for other in view.meetings.systems
        if (meeting := view.meetings.of(system, other)) is not None
    ]
    caption = f"{system} against each: share of the win in per cent, ties counting half."
    return rows_table(header, rows, caption=caption)


def _opponent(view: BoardView, system: str, other: str, meeting: Meeting) -> Element:
    name = anchor(other, "system", board=view.name, id=system, against=other)
    span, apart = meeting.interval, view.separates(system, other)
    return element(
        "tr",
        element("th", name, scope="row"),
        element(
            "td",
            element(
                "span", f"{percent_figure(meeting.rate)}{_sign(meeting.rate, apart=apart)}", class_="aa-main"
            ),
        ),
        element(
            "td",
            f"{percent_figure(span.lower)}–{percent_figure(span.upper)}" if span else "–",
            class_="aa-second",
        ),
        element("td", f"{whole(meeting.wins)} / {whole(meeting.ties)} / {whole(meeting.losses)}"),
        element("td", element("span", "yes" if apart else "no", class_="aa-main" if apart else "")),
    )


def matrix_rows(view: BoardView) -> Rows:
    """Return the matrix as rows, one a pair and side."""
    return [
        {
            "system": system,
            "opponent": other,
            "battles": meeting.battles,
            "wins": meeting.wins,
            "ties": meeting.ties,
            "losses": meeting.losses,
            "rate": meeting.rate,
            "lower": meeting.interval and meeting.interval.lower,
            "upper": meeting.interval and meeting.interval.upper,
            "apart": view.separates(system, other),
        }
        for (system, other), meeting in view.meetings.pairs.items()
    ]


def in_words(system: str, other: str, meeting: Meeting, *, apart: bool) -> str:
    """Return a meeting as a sentence."""
    counts = f"{whole(meeting.wins)} won, {whole(meeting.ties)} tied, {whole(meeting.losses)} lost"
    return f"{system} against {other}: {counts} of {whole(meeting.battles)}; {_separation(apart=apart)}"


def _separation(*, apart: bool) -> str:
    return "separated" if apart else "not separated"


def _sign(rate: float, *, apart: bool) -> str:
    return "" if not apart else " ▲" if rate > EVEN else " ▼"


def _shade(rate: float) -> str:
    step = min(STEPS, int(abs(rate - EVEN) * 2 * STEPS) + 1)
    if rate == EVEN:
        return ""
    return f"aa-{'over' if rate > EVEN else 'under'}-{step}"


DIRECT = "How often the system of the row beats that of the column, in per cent, ties counting half."
DIRECT_SIGNS = (
    "▲ and ▼: all battles together separate the two, as the brackets on the board say (at 5 %, for "
    "all pairs at once); without a sign the difference may be chance. Small figures are battles. "
    "A cell leads to its battles."
)


def show() -> None:
    """Show the matrix."""
    view = titled_board("Head to head", "matrix")
    name_page("Head to head", view.full_title)
    lead(DIRECT)
    put(anchor("To the board", "", board=view.name))
    note(DIRECT_SIGNS)
    cached_html(view, "matrix", lambda: matrix_table(view))
    offer_files(view, "head-to-head", lambda: matrix_rows(view))
