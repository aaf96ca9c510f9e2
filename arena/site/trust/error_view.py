"""A board with the judge's own error in its intervals: its lines, and the error's causes."""

from __future__ import annotations

from dataclasses import replace
from xml.etree.ElementTree import Element

from arena.site.boards.cache import cached_html
from arena.site.boards.view_model import OVERALL, BoardView, Line, Rates
from arena.site.trust.error_figures import Ends, ErrorParts
from arena.site.ui.components import note
from arena.site.ui.formats import Bounded, points
from arena.site.ui.markup import element, put
from arena.site.ui.tables import rows_table
from leaderboard.vocabulary import ErrorKind

HEADINGS = (
    ("System", "aa-left"),
    ("Rating", ""),
    ("Questions", ""),
    ("Wordings", ""),
    ("Wordings on single questions", "aa-second"),
    ("Asking again", "aa-second"),
)
SAYS_INTERVALS = {
    ErrorKind.JUDGE: "Intervals count the judge's own error on the same questions.",
    ErrorKind.ALL: (
        "Intervals say where another round, in another wording on as many other questions, would come out."
    ),
}


def with_error(view: BoardView, kind: ErrorKind) -> BoardView:
    """The board with intervals, places and letters overall that count the judge's error; the order stays."""
    error = view.error
    if not error.systems or kind is ErrorKind.QUESTIONS:
        return view
    lines = tuple(_widened(line, error.systems.get(line.system), kind) for line in view.lines[OVERALL])
    return replace(
        view,
        lines={**view.lines, OVERALL: lines},
        method=f"{view.method} {SAYS_INTERVALS[kind]} {error.sentence}",
        gaps={},
        error_kind=kind,
    )


def show_parts(view: BoardView) -> None:
    """Where the error of each rating comes from; nothing where intervals count questions alone."""
    if view.error_kind is ErrorKind.QUESTIONS:
        return
    put(element("h2", "Where the error comes from", id="error-parts"))
    cached_html(view, "error parts", lambda: parts_table(view))
    note(f"{SAYS_INTERVALS[view.error_kind]} {view.error.sentence}")


def parts_table(view: BoardView) -> Element:
    """The table of causes; empty where the board knows nothing of the judge's own error."""
    caption = (
        f"{view.title}: what another round would differ by, as standard deviations in points. "
        "A dash: the retest does not tell it."
    )
    return rows_table(
        HEADINGS, [_row(system, view.error_kind) for system in view.error.systems.values()], caption=caption
    )


def _row(parts: ErrorParts, kind: ErrorKind) -> Element:
    rating = parts.ends[ErrorKind.ALL if kind is ErrorKind.QUESTIONS else kind].rating
    cell = element("td", "–" if rating is None else points(rating.value), class_="aa-main")
    if rating is not None and rating.lower is not None and rating.upper is not None:
        cell.append(element("span", f"{points(rating.lower)}–{points(rating.upper)}", class_="aa-sub"))
    causes = [
        element("td", "–" if value is None else points(value), class_=classes)
        for value, (_, classes) in zip(parts.points, HEADINGS[2:], strict=True)
    ]
    return element("tr", element("th", parts.system, scope="row"), cell, *causes)


def _widened(line: Line, parts: ErrorParts | None, kind: ErrorKind) -> Line:
    if parts is None or line.unranked:
        return line
    ends = parts.ends[kind]
    return replace(
        line,
        rating=ends.rating,
        rank_lower=ends.rank_lower,
        rank_upper=ends.rank_upper,
        letters=ends.letters,
        rates=_rates(line, ends),
    )


def _rates(line: Line, ends: Ends) -> Rates:
    return replace(line.rates, win=_around(line.win, ends.win), win_tie=_around(line.win_tie, ends.win_tie))


def _around(value: Bounded | None, ends: tuple[float, float] | None) -> Bounded | None:
    if value is None:
        return None
    lower, upper = ends or (None, None)
    return Bounded(value=value.value, lower=lower, upper=upper)
