"""Details of a standings row: places, battles with neighbours, domains, lost questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element

from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.ui.formats import interval_of_points, interval_of_shares, points, range_of_shares, whole
from arena.site.ui.markup import Child, element
from arena.site.ui.tables import anchor
from data.store.question_stats import QuestionRecord
from data.text import percent
from leaderboard.standings.head_to_head import Meeting

MOST_OPPONENTS = 6
MOST_QUESTIONS = 3


Lost = Mapping[str, Sequence[QuestionRecord]]
"""Questions that a system lost, by its name, the clearest first; those of some systems are not known."""


def row_detail(view: BoardView, domain: str, line: Line, lost: Lost) -> Element:
    """Return the detail of a row, closed."""
    parts = filter(None, (_opponents(view, line), _domains(view, line), _questions(view, line, lost)))
    links = (
        anchor("Everything of it", "system", board=view.name, id=line.system),
        " · ",
        anchor("Compare with others", "compare", board=view.name, a=line.system),
    )
    return element(
        "details",
        element("summary", element("span", f"More of {line.system}", class_="aa-unseen")),
        element(
            "div",
            element("p", " ".join(_places(view, domain, line)), class_="aa-note"),
            element("div", *parts, class_="aa-columns"),
            element("p", *links, class_="aa-note"),
            class_="aa-detail",
        ),
    )


def _places(view: BoardView, domain: str, line: Line) -> Iterator[str]:
    if line.rank_lower is not None:
        yield f"Places that the battles leave open: {line.ranks} of {len(view.competitors(domain))}."
    if line.unranked:
        yield line.unranked
    if line.letters:
        yield f"Letters {line.letters}: who shares one is not told apart from it."
    if line.win_tie is not None:
        yield f"Won or tied {percent(line.win_tie.value)} ({interval_of_shares(line.win_tie)})."
    if line.rating is not None:
        yield f"Rating {points(line.rating.value)} ({interval_of_points(line.rating)})."


def _opponents(view: BoardView, line: Line) -> Element | None:
    """Its battles against those who stand nearest to it."""
    names = [one.system for one in view.lines[OVERALL]]
    if line.system not in names:
        return None
    here = names.index(line.system)
    nearest = sorted(
        (name for name in names if name != line.system), key=lambda name: abs(names.index(name) - here)
    )
    met = [(name, found) for name in nearest if (found := view.meetings.of(line.system, name)) is not None]
    rows = [_opponent(view, name, found) for name, found in met[:MOST_OPPONENTS]]
    return _part("Against", rows)


def _opponent(view: BoardView, name: str, met: Meeting) -> Element:
    counts = f"{whole(met.wins)} won, {whole(met.ties)} tied, {whole(met.losses)} lost"
    return _row(anchor(name, "system", board=view.name, id=name), counts)


def _domains(view: BoardView, line: Line) -> Element | None:
    rows = [
        _row(view.label(domain), f"{percent(one.win_tie.value, decimals=0)} ({range_of_shares(one.win_tie)})")
        for domain in view.domains
        if (one := view.line(line.system, domain)) is not None and one.win_tie is not None
    ]
    return _part("Won or tied by domain", rows)


def _questions(view: BoardView, line: Line, lost: Lost) -> Element | None:
    rows = [
        _row(
            anchor(one.question, "question", board=view.name, id=one.id),
            f"{one.wins} won, {one.ties} tied, {one.losses} lost",
        )
        for one in lost.get(line.system, ())[:MOST_QUESTIONS]
    ]
    return _part("Questions it lost", rows)


def _row(name: Child, text: str) -> Element:
    return element("li", element("span", name), element("span", text, class_="aa-sub"))


def _part(title: str, rows: Sequence[Element]) -> Element | None:
    """Return a list under its title; None where it has no row."""
    if not rows:
        return None
    return element("section", element("p", element("strong", title)), element("ul", *rows, class_="aa-pairs"))
