"""`/vote`: visitors judge blind pairs of a set's published systems, on pages without scripts."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from arena.api.errors import status_of
from arena.container import Arena
from arena.html_pages import as_html, rendered
from arena.models.sets import VoteBoard
from arena.services.people.public_votes import Revealed, Visitor
from arena.site.hosts import ServedHosts
from arena.site.plain_pages import HEADERS
from arena.site.sign_in import fields_of_form
from arena.site.ui.errors import public_error
from arena.site.ui.formats import points
from arena.site.ui.tables import link, plain_table
from data.errors import ArenaError, ForbiddenError, InputError, QuotaError
from data.records import Preference

COOKIE = "arena_voter"
HALF_A_YEAR = 180 * 86_400
SHORTEST_WORD = 32
TOO_MANY = 429
ASSETS = Path(__file__).parents[1] / "assets"
BLIND = "You are not told whose the answers are until you have judged them."
PRIVACY_NOTE = (
    "We keep your judgment, and salted hashes of a cookie and of your address to count nobody twice; no "
    "name, no address. Some pairs are tests whose better answer is known."
)
OWN = "These are the ratings of visitors' votes alone. No judge has a part in them."


class VoteRoutes:
    """The routes of public blind votes."""

    def __init__(self, arena: Arena) -> None:
        self._votes = arena.public_votes
        self._sets = arena.sets
        self._hosts = ServedHosts.of(arena.settings)

    def routes(self) -> list[Route]:
        """What is to be served."""
        return [
            Route("/vote", self.sets, methods=["GET"]),
            Route("/vote/{set_name}", self.pair, methods=["GET"]),
            Route("/vote/{set_name}", self.judge, methods=["POST"]),
            Route("/vote/{set_name}/board", self.board, methods=["GET"]),
        ]

    async def sets(self, _request: Request) -> Response:
        """The sets that visitors vote on."""
        polls = await run_in_threadpool(self._votes.polls)
        links = [(f"./vote/{quote(poll.set_name)}", poll.set_name) for poll in polls if poll.open]
        lead = BLIND if links else "No set takes votes at present."
        return _page("Judge answers", lead, up="./", links=links)

    async def pair(self, request: Request) -> Response:
        """A blind pair with its buttons."""
        return await self._answered(request, lambda visitor: self._pair(request, visitor))

    async def judge(self, request: Request) -> Response:
        """Keep a vote and say whose the answers were."""
        try:
            fields = await fields_of_form(request)
            self._require_own_origin(request)
        except ArenaError as error:
            return _refusal(error)
        return await self._answered(request, lambda visitor: self._judge(request, fields, visitor))

    async def board(self, request: Request) -> Response:
        """The ratings by visitors' votes."""
        name = request.path_params["set_name"]
        try:
            board = await run_in_threadpool(self._votes.board, name)
        except ArenaError as error:
            return _refusal(error, up="../../")
        links = [(f"../{quote(name)}", "Judge a pair")] if board.open else []
        return _page(
            f"Votes on {name}", OWN, up="../../", links=links, board=_table(board), notes=_counted(board)
        )

    def _pair(self, request: Request, visitor: Visitor) -> HTMLResponse:
        name = request.path_params["set_name"]
        pair = self._votes.next(name, visitor)
        title = self._sets.summary(name).title
        return _page(title, BLIND, pair=pair, set_name=name, links=_board_link(name), notes=(PRIVACY_NOTE,))

    def _judge(self, request: Request, fields: Mapping[str, str], visitor: Visitor) -> HTMLResponse:
        name = request.path_params["set_name"]
        try:
            choice = Preference(fields.get("choice", ""))
        except ValueError as error:
            raise InputError("No answer was chosen.", advice="Choose one of the three.") from error
        revealed = self._votes.vote(name, fields.get("token", ""), choice, visitor)
        title = self._sets.summary(name).title
        return _page(
            title,
            revealed=revealed,
            said=_told(revealed),
            verdict=_verdict(revealed),
            set_name=name,
            links=_board_link(name),
            notes=(PRIVACY_NOTE,),
        )

    async def _answered(self, request: Request, make: Callable[[Visitor], HTMLResponse]) -> Response:
        """What is made for a visitor, whose cookie is set where they have none."""
        word = request.cookies.get(COOKIE, "")
        known = len(word) >= SHORTEST_WORD
        word = word if known else secrets.token_urlsafe(SHORTEST_WORD)
        host = request.client.host if request.client else ""
        try:
            page = await run_in_threadpool(make, Visitor(word=word, host=host))
        except ArenaError as error:
            page = _refusal(error)
        if not known:
            page.set_cookie(
                COOKIE,
                word,
                max_age=HALF_A_YEAR,
                path="/vote",
                httponly=True,
                samesite="lax",
                secure=request.url.scheme == "https",
            )
        return page

    def _require_own_origin(self, request: Request) -> None:
        origin = request.headers.get("origin") or request.headers.get("referer") or ""
        if not self._hosts.own(request.scope, origin):
            raise ForbiddenError("The vote did not come from this site.", advice="Judge the pair here.")


def _told(revealed: Revealed) -> str:
    if revealed.gold:
        return "This was a test pair: one of the two answers was written for another question. Thank you."
    return "Thank you, your vote is kept." if revealed.taken else "Thank you. This vote does not count."


def _verdict(revealed: Revealed) -> tuple[str, str] | None:
    """What the judge decided, and the address of its evidence; None where there is nothing to say."""
    judged = revealed.judged
    if judged is None:
        return None
    decided = f"preferred {judged.winner}" if judged.winner else "called it a tie"
    # Votes are at /vote/SET, a folder below the pages.
    address = link("question", board=judged.board, id=judged.question, battle=judged.battle)
    return f"The judge {judged.judge} {decided}.", f".{address}"


def _board_link(name: str) -> list[tuple[str, str]]:
    return [(f"./{quote(name)}/board", "What visitors say so far")]


def _table(board: VoteBoard) -> str:
    if not board.ratings:
        return ""
    rows = [
        (
            row["system"],
            f"{row['rank_lower']}–{row['rank_upper']}",
            "–" if row["rating"] is None else points(row["rating"]),
            "–"
            if None in {row["lower"], row["upper"]}
            else f"{points(row['lower'])} to {points(row['upper'])}",
        )
        for row in board.ratings
    ]
    return as_html(plain_table(("System", "Rank", "Rating", "95 % interval"), rows))


def _counted(board: VoteBoard) -> Sequence[str]:
    rejected = sum(board.rejected.values())
    counted = f"{board.counted:,} of {board.given:,} votes count, of {board.visitors:,} visitors."
    left = (
        f"Not counted: {board.gold:,} on test pairs, {board.untried:,} of visitors who did not "
        f"pass theirs, {rejected:,} too quick or on answers that name their system, "
        f"{board.over_cap:,} beyond the {board.cap:,} that one network or visitor may have."
    )
    return tuple(filter(None, (counted, left, board.unrankable)))


def _page(title: str, *texts: str, status: int = 200, **values: object) -> HTMLResponse:
    empty = {
        "alert": "",
        "revealed": None,
        "said": "",
        "verdict": None,
        "pair": None,
        "set_name": "",
        "board": "",
        "up": "../",
    }
    lists: dict[str, object] = {"links": (), "notes": ()}
    page = rendered("vote.html", **{**empty, **lists, **values}, title=title, texts=texts, style=_style())
    return HTMLResponse(page, status, headers=HEADERS)


def _refusal(error: ArenaError, *, up: str = "../") -> HTMLResponse:
    status = TOO_MANY if isinstance(error, QuotaError) else status_of(error)
    return _page("Judge answers", alert=str(public_error(error)), status=status, up=up)


@cache
def _style() -> str:
    names = ("style.css", "document.css", "vote.css")
    return "".join((ASSETS / name).read_text(encoding="utf-8") for name in names)
