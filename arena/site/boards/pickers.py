"""Pickers of a board, kept in the address."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import streamlit as st

from arena.html_pages import macro
from arena.models.boards import OVERALL, BoardView, Line
from arena.site.auth import present
from arena.site.boards.cache import made_once
from arena.site.boards.downloads import LABELS
from arena.site.boards.grid import MIN_DOMAINS
from arena.site.boards.standings_table import Order, columns_to_choose, in_order, orders, usual_columns
from arena.site.queries import board_named, labels_of_boards, refuse_retracted
from arena.site.services import address
from arena.site.ui.html import anchor, link, name_page, page_heading, paragraph, put_html
from arena.site.ui.messages import PageEndedError
from arena.site.ui.url_state import chosen_many, chosen_words, unknown_choice
from data.errors import NotFoundError

LOOKS = ("columns", "find", "sort", "win", "over", "systems")
"""Address parameters that links on the page keep, in addition to board and domain."""
Choice = tuple[str, str, bool]
"""Text and address of a link, and whether it is the current choice."""


def boards() -> Mapping[str, str]:
    """Return the labels of the published boards by name, newest first."""
    wanted = address().get("board", "")
    titles = labels_of_boards(wanted)
    if wanted and wanted not in titles:
        refuse_retracted(wanted)
    if not titles:
        page_heading("Nothing is published yet")
        st.markdown("A board appears here when its organisers publish a judged round.")
        if present().organiser:
            paths = (anchor("Import a question set", "admin-data"), anchor("plan a round", "admin-rounds"))
            paragraph(paths[0], ", then ", paths[1], ".")
        raise PageEndedError
    return titles


def board_links(
    page: str = "", title: str = "", titles: Mapping[str, str] | None = None
) -> tuple[str, Sequence[Choice]]:
    """Return a menu with the same page of every board, titled by the chosen board's label."""
    titles = boards() if titles is None else titles
    chosen = address().get("board", next(iter(titles)))
    links = [(label, link(page, board=name), name == chosen) for name, label in titles.items()]
    return f"Board: {titles[chosen].removeprefix(f'{title} – ')}", links


def titled_board(title: str, page: str) -> BoardView:
    """Show the heading of a page with links to other boards, and return its board."""
    titles = boards()
    view = addressed_board(titles)
    put_html(title_of_page(title, page, titles))
    name_page(title, view.full_title)
    return view


def title_of_page(title: str, page: str, titles: Mapping[str, str] | None = None) -> str:
    """Render the title of a board's page, with links to the same page of other boards."""
    return macro("titled", title, [board_links(page, titles=titles)])


def addressed_board(titles: Mapping[str, str] | None = None) -> BoardView:
    """Return the board in the address; by default the newest."""
    names = tuple(boards() if titles is None else titles)
    _require_known("board", names, "No published board matches this address.")
    return board_named(address().get("board", names[0]))


def chosen_system(view: BoardView) -> str:
    """Return the system in the address; by default the first."""
    _require_known("id", view.systems, "The board has no system with this name.")
    return address().get("id", view.systems[0])


def chosen_opponent(view: BoardView, system: str) -> str:
    """Return the opponent in the address; empty if there is none."""
    _require_known("against", view.systems, "The board has no system with this name.")
    wanted = address().get("against", "")
    return "" if wanted == system else wanted


def chosen_domain(view: BoardView) -> str:
    """Return the domain in the address; by default all domains."""
    wanted = address().get("domain", OVERALL)
    return wanted if wanted in view.domains else OVERALL


def domain_warning(view: BoardView) -> str:
    """Return a warning about an unknown domain in the address; empty if the board has it."""
    if chosen_words("domain") in {"", OVERALL, *view.domains}:
        return ""
    return "The board has no domain with this name. All domains are shown."


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Choices in the address of a board, the columns `offered`, and `domains` as links."""

    domain: str
    domains: Sequence[Choice]
    lines: tuple[Line, ...]
    columns: Sequence[str]
    offered: Sequence[str]
    order: Order
    address: Mapping[str, str]
    warnings: Sequence[str]

    @property
    def found(self) -> str:
        """Search words for the names of systems; empty if all are shown."""
        return self.address.get("find", "").strip()

    def with_(self, **changed: str) -> str:
        """Return the address of the page with other choices; an empty word removes a choice."""
        return _with(self.address, **changed)

    @property
    def menus(self) -> Iterator[tuple[str, Sequence[Choice]]]:
        """Menus with their links."""
        yield (
            "Columns",
            [
                (name, self.with_(columns=",".join(self._switched(name))), name in self.columns)
                for name in self.offered
            ],
        )
        board = self.address["board"]
        file = f"./api/v1/leaderboards/{quote(board)}?format="
        forms = [(text, f"{file}{form}", False) for form, text in LABELS.items()]
        yield "Download", [*forms, ("All files", link("data", board=board), False)]

    def _switched(self, name: str) -> Iterable[str]:
        return [column for column in self.offered if (column in self.columns) is not (column == name)]


def _with(chosen: Mapping[str, str], **changed: str) -> str:
    return link("", **{name: word for name, word in {**chosen, **changed}.items() if word})


def read_address(view: BoardView) -> Shown:
    """Read the choices from the address."""
    return made_once(view, f"choices {sorted(address().items())}", lambda: _read_address(view))


def _read_address(view: BoardView) -> Shown:
    domain, wanted = chosen_domain(view), Order.of(chosen_words("sort"))
    words, lines = chosen_words("find").casefold().split(), view.lines.get(domain, ())
    matching = [line for line in lines if all(word in line.system.casefold() for word in words)]
    names = orders(view, domain)
    order = wanted if wanted.key in names else Order()
    offered, usual = columns_to_choose(view), usual_columns(view)
    columns = chosen_many("columns", offered, [name for name in offered if name in usual])
    here = {
        "board": chosen_words("board") or view.name,
        **({} if domain == OVERALL else {"domain": domain}),
        **{name: value for name in LOOKS if (value := chosen_words(name))},
    }
    warnings = [*filter(None, [domain_warning(view)])]
    if wanted != order:
        warnings.append(unknown_choice(wanted.word, "The rows are sorted by rank."))
    return Shown(
        domain=domain,
        domains=[
            (view.label(name), _with(here, domain="" if name == OVERALL else name), name == domain)
            for name in (OVERALL, *view.grid.domains)
            if len(view.grid.domains) >= MIN_DOMAINS
        ],
        lines=in_order(view, domain, matching, order),
        columns=(*columns, *([names[order.key]] if order.key else [])),
        offered=offered,
        order=order,
        address=here,
        warnings=warnings,
    )


def _require_known(name: str, options: Sequence[str], message: str) -> None:
    wanted = address().get(name)
    if wanted is not None and wanted not in options:
        raise NotFoundError(message, advice="Choose one on the leaderboard page.")
