"""A board as people would say: its lines, and how far each system moves."""

from __future__ import annotations

from dataclasses import replace
from xml.etree.ElementTree import Element

from arena.site.boards.cache import cached_html
from arena.site.boards.people_figures import Moved, PeopleFigures
from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.ui.components import note
from arena.site.ui.formats import Bounded, points
from arena.site.ui.markup import element, put
from arena.site.ui.tables import rows_table

HEADINGS = (
    ("System", "aa-left"),
    ("People would say", ""),
    ("Place", "aa-second"),
    ("Judge says", ""),
    ("Place by judge", "aa-second"),
    ("Moves by", ""),
    ("Votes alone", "aa-second"),
    ("Battles with votes", "aa-second"),
)


def as_people_say(view: BoardView) -> BoardView:
    """The board with ratings, places, rates and order as people would give them."""
    people = view.people
    if people is None:
        return view
    lines = {domain: _by_rates(people, domain, rated) for domain, rated in view.lines.items()}
    return replace(
        view,
        lines={**lines, OVERALL: _overall(people, lines[OVERALL])},
        method=people.method,
        gaps={},
        is_by_people=True,
    )


def show_moves(view: BoardView) -> None:
    """How far each system moves from the judge's rating to people's; nothing without votes."""
    if view.people is None or not view.is_by_people:
        return
    put(element("h2", "How far each system moves", id="moves"))
    cached_html(view, "moves", lambda: moves_table(view))
    note(view.people.advice)


def moves_table(view: BoardView) -> Element:
    """The table of judge's and people's ratings; empty where no votes correct the board."""
    people = view.people
    rows = () if people is None else people.rows
    body = [_row(view, row) for row in rows]
    caption = f"{view.title}: from the judge's ratings to people's. Small figures are 95 % intervals."
    return rows_table(HEADINGS, body, caption=caption)


def _row(view: BoardView, row: Moved) -> Element:
    judged = view.judged_places.get(row.system, "–")
    shift = "–" if row.shift is None else f"{row.shift:+.0f}".replace("-", "−")
    return element(
        "tr",
        element("th", row.system, scope="row"),
        _estimate(row.corrected),
        element("td", _places(row), class_="aa-second"),
        _estimate(row.judge),
        element("td", judged, class_="aa-second"),
        element("td", shift, class_="aa-main"),
        _estimate(row.alone, "aa-second"),
        element("td", f"{row.labelled:,}", class_="aa-second"),
    )


def _places(row: Moved) -> str:
    if row.corrected is None or row.unranked:
        return "–"
    best, worst = row.ranks
    return str(best) if best == worst else f"{best}–{worst}"


def _estimate(value: Bounded | None, classes: str = "") -> Element:
    cell = element("td", "–" if value is None else points(value.value), class_=classes)
    if value is not None and value.lower is not None and value.upper is not None:
        cell.append(element("span", f"{points(value.lower)}–{points(value.upper)}", class_="aa-sub"))
    return cell


def _overall(people: PeopleFigures, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """In people's order; systems that the votes do not rate stand last."""
    named = {line.system: line for line in lines}
    rated = [
        replace(
            named[row.system],
            rating=row.corrected,
            rank_lower=row.ranks[0] if row.corrected and not row.unranked else None,
            rank_upper=row.ranks[1] if row.corrected and not row.unranked else None,
            letters=None,
            component=0,
            unranked="" if named[row.system].is_reference else row.unranked,
        )
        for row in people.rows
        if row.system in named and not named[row.system].unranked
    ]
    known = {line.system for line in rated}
    rest = [_unrated(line) for line in lines if line.system not in known]
    return (*sorted(rated, key=lambda line: (bool(line.unranked), line.rating is None)), *rest)


def _by_rates(people: PeopleFigures, domain: str, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """With people's rates; in a domain there are no ratings of theirs, so the rates order the lines."""
    corrected = []
    for line in lines:
        win, win_tie = people.rates.get((line.system, domain), (None, None))
        rates = replace(line.rates, win=win, win_tie=win_tie)
        corrected.append(replace(_unrated(line), rates=rates, against_all=None))
    return tuple(
        sorted(
            corrected,
            key=lambda line: (bool(line.unranked), -(line.win_tie.value if line.win_tie else -1.0)),
        )
    )


def _unrated(line: Line) -> Line:
    return replace(line, rating=None, rank_lower=None, rank_upper=None, letters=None)
