"""Leaderboard page: headline, table, grid, changes, judge and method."""

from arena.html_pages import Parts
from arena.models.boards import OVERALL, BoardView
from arena.services.boards.judge_health import TrustFigure
from arena.services.boards.sentences import grounds, headline, opening
from arena.site.boards.cache import made_once
from arena.site.boards.downloads import notes_of
from arena.site.boards.grid import grid_part
from arena.site.boards.pickers import addressed_board, board_links, chosen_domain, chosen_system, read_address
from arena.site.boards.standings_cells import MAX_QUESTIONS, row_detail
from arena.site.boards.standings_table import standings_table
from arena.site.queries import change_of, lost_questions, notices_of
from arena.site.ui.html import link, name_page, put_part


def show() -> None:
    """Show a board."""
    board = addressed_board()
    name_page("Board", board.full_title)
    put_part(as_parts(board), "page")


def opened_row() -> str:
    """Return the details of the row in the address, as HTML."""
    view = addressed_board()
    system, domain = chosen_system(view), chosen_domain(view)
    line = view.line(system, domain)
    return row_detail(view, domain, line, lost_questions(view, system, MAX_QUESTIONS)) if line else ""


def as_parts(view: BoardView) -> Parts:
    """Build the page; every choice is a link."""
    choices, change = read_address(view), change_of(view)
    domain, order, here = choices.domain, choices.order, choices.address
    marks = {} if change is None or domain != OVERALL else change.marks
    table = made_once(
        view,
        f"standings {here} {[line.system for line in choices.lines]}",
        lambda: standings_table(
            view, domain, choices.lines, chosen=choices.columns, order=order, address=here, marks=marks
        ),
    )
    votes = [row[:2] for row in view.health if row[0] == TrustFigure.VOTES]
    trust = link("trust", board=view.name)
    return Parts(
        "pages/board.html",
        {
            "view": view,
            "shown": choices,
            "board_menu": board_links(title=view.title),
            "about": opening(view, domain),
            "lead": headline(view, domain),
            "grounds": [(check.clause, f"{trust}#{check.part}") for check in grounds(view, domain)],
            "warnings": (*notices_of(view), *choices.warnings),
            "trust": trust,
            "matrix": link("matrix", board=view.name),
            "files": link("data", board=here["board"]),
            "table": table,
            **grid_part(view, choices.with_),
            "change": change,
            "facts": (*view.facts, *votes) if domain == OVERALL else (),
            "notes": notes_of(view, domain, choices.columns),
        },
    )
