"""Win shares and separation of all pairs of systems."""

from collections.abc import Mapping

from markupsafe import Markup

from arena.formats import ends_of, points, whole
from arena.html_pages import macro
from arena.models.boards import BoardView
from arena.services.boards.sentences import agreeing
from arena.site.boards.cache import made_once
from arena.site.boards.downloads import Rows, offer_files
from arena.site.boards.pickers import titled_board
from arena.site.ui.html import Cell, Child, anchor, lead, link, note, paragraph, put_html
from data.text import percent_figure
from leaderboard.standings.head_to_head import Meeting

EVEN = 0.5
ABSENT = "·"
"""Sign for a pair without battles; the caption explains it, as most pairs of a large board may lack one."""
SHADES = 4


def matrix_table(view: BoardView, *, in_file: bool = False) -> Markup:
    """Return a table of systems by systems, best first; a table `in_file` has no links."""
    systems = view.meetings.systems
    meetings = [[_meeting(view, row, column, links=not in_file) for column in systems] for row in systems]
    names = [name if in_file else anchor(name, "system", board=view.name, id=name) for name in systems]
    count = len(set(systems) - {view.reference})
    size = f"{count} system{'' if count == 1 else 's'}{' and the reference' if count < len(systems) else ''}"
    absent = f" {ABSENT}: the two never met." if any(None in row for row in meetings) else ""
    caption = f"{view.title}: {size}, columns numbered like the rows.{absent}"
    rows = list(zip(systems, names, meetings, strict=True))
    return macro("matrix", caption, rows, of="standings.html")


def _meeting(view: BoardView, system: str, other: str, *, links: bool) -> Mapping[str, object] | None:
    if system == other:
        return {"is_self": True}
    meeting = view.meetings.of(system, other)
    if meeting is None:
        return None
    apart = view.separates(system, other)
    query = {"board": view.name, "system": system, "opponent": other}
    return {
        "is_self": False,
        "text": f"{percent_figure(meeting.rate, decimals=0)}{_sign(meeting.rate, apart=apart)}",
        "battles": whole(meeting.battles),
        "words": in_words(system, other, meeting, apart=apart),
        "shade": _shade(meeting.rate),
        "href": link("questions", **query) if links and view.round_name is not None else "",
    }


def opponents_table(view: BoardView, system: str) -> Markup:
    """Return one system's record against each opponent, with the separation of the two."""
    columns = [
        ("Opponent", "aa-left"),
        ("Won", ""),
        ("Won / tied / lost", "aa-second"),
        ("Lead, points", ""),
        ("Separated?", ""),
    ]
    rows = [
        _opponent(view, system, other, meeting)
        for other in view.meetings.systems
        if (meeting := view.meetings.of(system, other)) is not None
    ]
    caption = (
        f"{system} against each opponent: win share in per cent, ties counting half; difference of "
        "ratings over all battles, with its 95 % interval unless the test of all pairs contradicts it."
    )
    return macro("table", columns, rows, caption)


def _opponent(view: BoardView, system: str, other: str, meeting: Meeting) -> tuple[Child, ...]:
    gap, apart = view.gap(system, other), view.separates(system, other)
    return (
        anchor(other, "system", board=view.name, id=system, against=other),
        Cell(f"{percent_figure(meeting.rate)}{_sign(meeting.rate, apart=apart)}", class_="aa-main"),
        f"{whole(meeting.wins)} / {whole(meeting.ties)} / {whole(meeting.losses)}",
        Cell(points(gap.value), sub=ends_of(agreeing(gap, apart=apart), unknown="")) if gap else "–",
        Cell("yes", class_="aa-main") if apart else "may be chance",
    )


def matrix_rows(view: BoardView) -> Rows:
    """Return the matrix as rows, one per ordered pair, with the difference of ratings as on the pages."""
    return [
        {
            "system": system,
            "opponent": other,
            **{name: getattr(meeting, name) for name in ("battles", "wins", "ties", "losses", "rate")},
            **_difference(view, system, other),
        }
        for (system, other), meeting in view.meetings.pairs.items()
    ]


def _difference(view: BoardView, system: str, other: str) -> Mapping[str, float | bool | None]:
    gap, apart = view.gap(system, other), view.separates(system, other)
    same = agreeing(gap, apart=apart)
    return {
        "points_ahead": gap.value if gap else None,
        "lower": same.lower if same else None,
        "upper": same.upper if same else None,
        "apart": apart,
    }


def in_words(system: str, other: str, meeting: Meeting, *, apart: bool) -> str:
    """Describe a meeting in a sentence."""
    counts = f"{whole(meeting.wins)} won, {whole(meeting.ties)} tied, {whole(meeting.losses)} lost"
    separation = "separated" if apart else "not separated"
    return f"{system} against {other}: {counts} of {whole(meeting.battles)}; {separation}"


def _sign(rate: float, *, apart: bool) -> str:
    return "" if not apart else " ▲" if rate > EVEN else " ▼"


def _shade(rate: float) -> str:
    step = min(SHADES, int(abs(rate - EVEN) * 2 * SHADES) + 1)
    if rate == EVEN:
        return ""
    return f"aa-{'over' if rate > EVEN else 'under'}-{step}"


DIRECT = "How often the row's system beats the column's system, in per cent; ties count half."
DIRECT_SIGNS = (
    "▲ and ▼ mark a significant difference over all battles (at 5 %, for all pairs at once), like the "
    "brackets on the board; without a mark the difference may be due to chance. Small figures count battles. "
    "Each cell links to its battles."
)


def show() -> None:
    """Show the matrix."""
    view = titled_board("Head to head", "matrix")
    lead(DIRECT)
    paragraph(anchor("To the board", "", board=view.name))
    note(DIRECT_SIGNS)
    put_html(made_once(view, "matrix", lambda: matrix_table(view)))
    offer_files(view, "head-to-head", lambda: matrix_rows(view))
