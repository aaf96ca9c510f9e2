"""Every page of the site with an address that has content, from the site's own lists.

New pages are included at their bare address; a page that needs parameters must be added here, otherwise
tests fail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto

from starlette.routing import BaseRoute, Route

from arena.site.pages import pages


class Who(StrEnum):
    """Role of a page's viewer."""

    PUBLIC = auto()
    MEMBER = auto()
    ORGANISER = auto()


@dataclass(frozen=True, slots=True)
class View:
    """A page at an address, as a user sees it."""

    path: str
    who: Who = Who.PUBLIC

    def __str__(self) -> str:
        return f"{self.who} {self.path}"

    @property
    def page(self) -> str:
        """The page's address without parameters and slash, as in `pages()`."""
        return self.path.partition("?")[0].removeprefix("/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Names in the addresses of an arena."""

    board: str
    question_set: str
    system: str = "meridian"
    opponent: str = "reference"
    domain: str = "finance"
    question: str = "bio-6"
    imported_board: str = "rag-qa-arena"
    submission: int
    rounds: Sequence[str] = ()


SIGNED_IN: Mapping[str, Who] = {"rank": Who.ORGANISER, "submit": Who.MEMBER, "team": Who.MEMBER}


def page_views(names: Names) -> list[View]:
    """Return every page that Streamlit draws, grouped by role; some at several addresses."""
    queries = _queries(names)
    views = [
        View(f"/{page}{query}", _who(page)) for page in pages() for query in queries.get(page, ("",)) or ("",)
    ]
    return sorted(views, key=lambda view: view.who)


def _who(page: str) -> Who:
    return Who.ORGANISER if page.startswith("admin") else SIGNED_IN.get(page, Who.PUBLIC)


def _queries(names: Names) -> Mapping[str, Sequence[str]]:
    """Return the query of each page; pages that are not named have none."""
    board = f"?board={names.board}"
    pair = f"{board}&system={names.system}&opponent={names.opponent}"
    imported = f"?board={names.imported_board}"
    return {
        "": (board, f"{board}&domain={names.domain}", f"{board}&sort=win", imported),
        "compare": (f"{board}&a={names.system}&b={names.opponent}", imported),
        "matrix": (board, imported),
        "questions": (board, pair, f"{board}&words=%22rate+of%22+interest&sort=spread"),
        "retrieval": (f"?set={names.question_set}",),
        "data": (board,),
        "trust": (board, imported),
        "system": (
            f"{board}&id={names.system}",
            *(f"{board}&id={names.system}&part={part}" for part in ("card", "facts", "domains")),
            f"{board}&id={names.system}&against={names.opponent}",
        ),
        "question": (f"{board}&id={names.question}",),
        "submit": (f"?set={names.question_set}",),
        "admin-data": ("", f"?set={names.question_set}"),
        "admin-rounds": ("", *(f"?round={name}" for name in names.rounds)),
    }


NO_PAGES = {"/healthz", "/metrics", "/site.js", "/style.css", "/favicon.png", "/leaderboard", "/row"}
"""Routes for programs, parts of pages, pictures and redirects."""


def plain_views(routes: Sequence[BaseRoute]) -> list[View]:
    """Return every page without Streamlit, refused ones included; none has parameters."""
    patterns = {route.path for route in routes if isinstance(route, Route) and "GET" in (route.methods or ())}
    plain = patterns - {f"/{page}" for page in pages()} - NO_PAGES
    assert not any("{" in pattern for pattern in plain), f"Give the addresses of {plain}, or add to NO_PAGES."
    return [View(path) for path in sorted({*plain, "/no-such-page"})]
