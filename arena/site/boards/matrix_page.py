"""Everybody against everybody: how often each wins against each, and who is separated."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from arena.site.boards import basis as bases
from arena.site.boards.cache import cached_html
from arena.site.boards.downloads import Rows, offer_files
from arena.site.boards.pickers import titled_board
from arena.site.boards.view_model import OVERALL, BoardView
from arena.site.ui.components import lead, name_page, note
from arena.site.ui.formats import whole
from arena.site.ui.markup import element, explain, explained, put
from arena.site.ui.tables import anchor, link, rows_table
from arena.site.ui.url_state import choose_segment
from data.percent import percent, percent_figure
from leaderboard.ratings.vocabulary import expected_share
from leaderboard.standings.head_to_head import Meeting

EVEN = 0.5
ABSENT = "·"
"""In the cell of a pair without a figure. The caption says why: most pairs of a large board may lack one."""
STEPS = 4
"""Shades on each side of an even chance."""


def matrix_table(view: BoardView) -> Element:
    """Systems by systems, best first; the first column stays in view where the rest has to scroll."""
    systems = view.meetings.systems if view.is_as_judged else _rated(view)
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
        caption=f"{view.title}: {_counted(view, systems)}, numbered as in the rows.{absent}",
        classes="aa-matrix",
        class_="aa-wrap aa-scroll",
        tabindex="0",
        role="region",
        aria_label="Head-to-head matrix",
    )


def _counted(view: BoardView, systems: Sequence[str]) -> str:
    """How many systems are shown; the reference is none."""
    count = len(set(systems) - {view.reference})
    beside = " and the reference" if count < len(systems) else ""
    return f"{count} system{'' if count == 1 else 's'}{beside}"


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


def _expected_cell(view: BoardView, system: str, other: str) -> Element:
    """What the ratings that are shown promise of a battle of the two."""
    if system == other:
        return element("td", class_="aa-self")
    pair = _expected(view, system, other)
    if pair is None:
        return element("td", ABSENT, class_="aa-muted")
    share, apart = pair
    words = f"{system} is expected to get {percent(share, decimals=0)} of the win against {other}"
    sign = _sign(share, apart=apart)
    figure = explained(f"{percent_figure(share, decimals=0)}{sign}", f"{words}; {_separation(apart=apart)}")
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
    return expected_share(one.rating.value - two.rating.value), view.separated(one, two)


def opponents_table(view: BoardView, system: str) -> Element:
    """One system's record against each opponent, with its interval and whether the two are separated."""
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
    """The matrix as rows, one a pair and side."""
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
    """A meeting as a sentence."""
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
    "▲ and ▼: all battles together separate the two, as their letters on the leaderboard say (at 5 %, for "
    "all pairs at once); without a sign the difference may be chance. Small figures are battles. "
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


def opening(view: BoardView) -> None:
    """Say what the matrix of the ratings of the address holds."""
    basis = bases.chosen_basis(view)
    lead(DIRECT if bases.on_basis(view, basis).is_as_judged else EXPECTED)
    if text := bases.basis_warning(view):
        put(element("p", text, class_="aa-notice", role="status"))


def show() -> None:
    """Show the matrix."""
    board = titled_board("Head to head", "matrix")
    name_page("Head to head", board.full_title)
    basis = bases.chosen_basis(board)
    view = bases.on_basis(board, basis)
    direct = view.is_as_judged
    opening(board)
    choices = bases.possible(board)
    if len(choices) > 1:
        choose_segment(bases.ADDRESS, "Ratings", {each.value: bases.LABELS[each] for each in choices})
    put(anchor("To the leaderboard on the same ratings", "", board=board.name, **bases.basis_query(basis)))
    note(DIRECT_SIGNS if direct else EXPECTED_SIGNS)
    cached_html(view, "matrix", lambda: matrix_table(view))
    rows = matrix_rows if direct else expected_rows
    offer_files(view, "head-to-head" if direct else f"head-to-head-{basis}", lambda: rows(view))
