"""The board: who leads and how surely, the table, what changed, who judged, how it was computed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import streamlit as st

from arena.formats import ends_of, points
from arena.html_pages import Parts
from arena.models.boards import OVERALL, BoardView, Line
from arena.services.boards.judge_health import TrustFigure
from arena.services.boards.sentences import grounds, headline, opening
from arena.site.boards.cache import made_once
from arena.site.boards.charts import cells_plot
from arena.site.boards.downloads import LABELS, how_made
from arena.site.boards.grid import MAX_SYSTEMS, correlation_sentence, grid_table, grid_titles
from arena.site.boards.pickers import addressed_board, boards, chosen_domain, domain_warning
from arena.site.boards.standings_cells import MOST_QUESTIONS
from arena.site.boards.standings_table import (
    LEAST_DOMAINS,
    Order,
    columns_to_choose,
    in_order,
    orders,
    standings_table,
    usual_columns,
)
from arena.site.queries import change_of, lost_questions, notices_of
from arena.site.services import address
from arena.site.ui.html import link, name_page, put_part
from arena.site.ui.url_state import chosen_many, chosen_words, unknown_choice
from leaderboard.standings.columns import columns

NOT_APPLIED = "Votes of people correct the overall ratings only; they are not applied to these."
SAID_NOTE = "What teams report of their systems is checked by nobody."
LOOKS = ("columns", "find", "sort", "win", "over", "systems")
"""Address parameters that links on the page keep, besides board, domain and ratings."""
BLOCKS = ("page", "grid", "rest")
"""Parts of the page in their order; the chart stands beside the grid."""
MAX_BESIDE = 8
"""Domains of a grid that leaves room for a chart beside it."""
Choice = tuple[str, str, bool]
"""The words of a link, its address, and whether it is what is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Choices in the address of a board, the columns `offered`, and `orders`: sort keys to names."""

    domain: str
    lines: tuple[Line, ...]
    columns: tuple[str, ...]
    offered: tuple[str, ...]
    order: Order
    orders: Mapping[str, str]
    address: Mapping[str, str]

    def with_(self, **changed: str) -> str:
        """Return the address of the page with other choices; an empty word takes one away."""
        words = {**self.address, **changed}
        return link("", **{name: word for name, word in words.items() if word})


def show() -> None:
    """Show a board."""
    board = addressed_board()
    name_page("Board", board.full_title)
    parts, pair = as_parts(board), chosen_pair(board)
    top, grid, rest = BLOCKS
    put_part(parts, top)
    if parts.values["grid"] is None or not all(pair):
        put_part(parts, grid)
    else:
        below = len(board.grid.domains) > MAX_BESIDE
        left, right = (st.container(), st.container()) if below else st.columns([3, 2], gap="large")
        with left:
            put_part(parts, grid)
        with right:
            cells_plot(board, *pair)
    put_part(parts, rest)


def chosen_pair(view: BoardView) -> tuple[str, str]:
    """Return the two measures of the grid that the address names, else the usual ones."""
    win, score = (
        word if (word := chosen_words(name)) in names else next(iter(names), "")
        for name, names in zip(("win", "over"), grid_titles(view), strict=True)
    )
    return win, score


def read_address(board: BoardView) -> Shown:
    """Read the choices from the address."""
    query = sorted(address().items())
    return made_once(board, f"leaderboard {query}", lambda: _read_address(board))


def _read_address(view: BoardView) -> Shown:
    domain = chosen_domain(view)
    words = chosen_words("find").casefold().split()
    kept = [
        line for line in view.lines.get(domain, ()) if all(word in line.system.casefold() for word in words)
    ]
    asked, names = Order.of(chosen_words("sort")), orders(view, domain)
    order = asked if asked.key in names else Order()
    offered = columns_to_choose(view)
    columns = chosen_many("columns", offered, usual_columns(view))
    return Shown(
        domain=domain,
        lines=in_order(view, domain, kept, order),
        columns=(*columns, *([names[order.key]] if order.key else [])),
        offered=offered,
        order=order,
        orders=names,
        address={
            "board": chosen_words("board") or view.name,
            **({} if domain == OVERALL else {"domain": domain}),
            **{name: value for name in LOOKS if (value := chosen_words(name))},
        },
    )


def as_parts(view: BoardView) -> Parts:
    """Build the parts of the page; every choice is a link."""
    shown, change = read_address(view), change_of(view)
    here, words = shown.address, chosen_words("find").strip()
    lost = lost_questions(view, MOST_QUESTIONS)
    same = {"board": view.name}
    return Parts(
        "pages/board.html",
        {
            "view": view,
            "board_label": boards()[here["board"]].removeprefix(f"{view.title} – "),
            "boards": [
                (label, link("", board=name), name == here["board"]) for name, label in boards().items()
            ],
            "about": opening(view, shown.domain),
            "lead": headline(view, shown.domain),
            "grounds": [
                (check.clause, f"{link('trust', **same)}#{check.part}")
                for check in grounds(view, shown.domain)
            ],
            "warnings": (*notices_of(view), *_warnings(view, shown)),
            "trust": link("trust", **same),
            "matrix": link("matrix", **same),
            "domains": [
                (view.label(one), shown.with_(domain="" if one == OVERALL else one), one == shown.domain)
                for one in (OVERALL, *view.grid.domains)
                if len(view.grid.domains) >= LEAST_DOMAINS
            ],
            "find": chosen_words("find"),
            "here": [(name, word) for name, word in here.items() if name != "find"],
            "menus": [(name, found) for name, found in _menus(shown, here) if len(found) > 1],
            "table": made_once(
                view,
                # Whose texts may change while the board does not.
                f"standings {here} {[line.system for line in shown.lines]} {lost}",
                lambda: standings_table(
                    view,
                    shown.domain,
                    shown.lines,
                    chosen=shown.columns,
                    order=shown.order,
                    address=here,
                    lost=lost,
                    marks={} if change is None or shown.domain != OVERALL else change.marks,
                ),
            ),
            "asked": words,
            "left": f"{sum(not line.is_reference for line in shown.lines)} of "
            f"{len(view.competitors(shown.domain))} systems: name with “{words}”. ",
            "all": shown.with_(find=""),
            **_grid(view, shown),
            "changes": () if change is None else change.sentences,
            "before": "" if change is None else change.previous,
            "facts": (*view.facts, *(one[:2] for one in view.health if one[0] == TrustFigure.VOTES))
            if shown.domain == OVERALL
            else (),
            "overall": shown.with_(domain=""),
            "notes": tuple(_notes(view, shown)),
            "files": link("data", board=here["board"]),
        },
    )


def _grid(view: BoardView, shown: Shown) -> Mapping[str, object]:
    """Build the grid of the chosen pair of measures, with the links that choose another."""
    wins, scores = grid_titles(view)
    if len(view.grid.domains) < LEAST_DOMAINS or not wins:
        return {"grid": None}
    win, score = chosen_pair(view)
    many = len(view.grid.systems)
    most = many if chosen_words("systems") == "all" else MAX_SYSTEMS
    made = made_once(view, f"grid {win} {score} {most}", lambda: grid_table(view, win, score, systems=most))
    return {
        "grid": made,
        "pair": [
            (
                word,
                names[chosen],
                [(text, shown.with_(**{key: one}), one == chosen) for one, text in names.items()],
            )
            for word, key, names, chosen in (("Show", "win", wins, win), ("over", "over", scores, score))
            if names
        ],
        "more": (f"Show all {many} systems", shown.with_(systems="all")) if many > most else (),
        "goes": correlation_sentence(view, win, score),
    }


def _menus(shown: Shown, here: Mapping[str, str]) -> Iterator[tuple[str, Sequence[Choice]]]:
    yield (
        "Columns",
        [
            (name, shown.with_(columns=",".join(_switched(shown, name))), name in shown.columns)
            for name in shown.offered
        ],
    )
    name = quote(here["board"])
    yield (
        "Download",
        [
            *((text, f"./api/v1/leaderboards/{name}?format={form}", False) for form, text in LABELS.items()),
            ("All files", link("data", board=here["board"]), False),
        ],
    )


def _switched(shown: Shown, name: str) -> Iterable[str]:
    return [one for one in shown.offered if (one in shown.columns) is not (one == name)]


def _warnings(view: BoardView, shown: Shown) -> Iterator[str]:
    yield from filter(None, [domain_warning(view)])
    order = chosen_words("sort")
    if order and Order.of(order).key not in shown.orders:
        yield unknown_choice(order, "The rows are in the order of their ranks.")


def _notes(view: BoardView, shown: Shown) -> Iterator[str]:
    yield how_made(view)
    if view.people:
        yield view.people if shown.domain == OVERALL else NOT_APPLIED
    if any(spec.said and spec.title in shown.columns for spec in columns()):
        yield SAID_NOTE
    if held := view.held(shown.domain):
        name = "" if view.reference == "reference" else f" ({view.reference})"
        value = f"{points(held.value)} ({ends_of(held, unknown='no interval')})"
        yield f"Dashed line: the reference{name} at {value}. It takes no rank."
