"""`/vote`: a visitor's way from a blind pair to names, and what every other way is refused."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from arena.api.app import make_api
from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.site.public.votes import VoteRoutes
from data.records import TokenScope
from tests.arena.conftest import HOSTILE, Commands
from tests.arena.services.boards.test_corrected_boards import judge, publish

TOKEN = re.compile(r'name="token" value="([^"]+)"')
SITE = "http://localhost"


@pytest.fixture
def arena(filled: Callable[..., Arena], answers_file: Callable[..., Path]) -> Arena:
    """An arena with a published round named `tiny`, one of whose systems writes markup."""
    opened = filled()
    opened.submissions.add(answers_file("hostile", HOSTILE), "tiny", system="hostile")
    publish(judge(opened))
    return opened


@pytest.fixture
def visitor(arena: Arena) -> Iterator[TestClient]:
    """A browser without scripts, on the site's own address."""
    routes = VoteRoutes(arena).routes()
    with TestClient(Starlette(routes=routes), base_url=SITE, headers={"Origin": SITE}) as client:
        yield client


def test_pages_say_that_votes_are_off(visitor: TestClient) -> None:
    """By default there is nothing to vote on."""
    assert "No set takes votes" in visitor.get("/vote").text
    assert visitor.get("/vote/tiny").status_code == 404
    assert visitor.get("/vote/tiny/board").status_code == 404


def test_a_pair_is_blind_safe_and_reveals_names_after_the_vote(visitor: TestClient, arena: Arena) -> None:
    """The page shows texts as texts and no name; after the vote it names both systems."""
    arena.public_votes.open("tiny")
    assert './vote/tiny"' in visitor.get("/vote").text
    page = visitor.get("/vote/tiny")
    assert page.status_code == 200
    assert "<script" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for name in ("hostile", ">full<", ">short<"):
        assert name not in page.text
    (token,) = TOKEN.findall(page.text)
    assert TOKEN.findall(visitor.get("/vote/tiny").text) == [token]
    told = visitor.post("/vote/tiny", data={"token": html.unescape(token), "choice": "a"})
    assert told.status_code == 200
    assert "Whose they were" in told.text
    assert len(re.findall(r"<dd>(full|short|wrong|hostile)</dd>", told.text)) == 2
    if "This was a test pair" not in told.text:
        assert re.search(r"The judge lexical (preferred \w+|called it a tie)\.", told.text)
        assert re.search(r'href="\.\./question\?board=tiny&amp;id=q\d+&amp;battle=\w+"', told.text)
    assert visitor.post("/vote/tiny", data={"token": token, "choice": "a"}).status_code == 409
    board = visitor.get("/vote/tiny/board")
    assert "0 of 1 votes count" in board.text
    assert "1 too quick" in board.text or "1 on test pairs" in board.text


def test_forged_forms_are_refused(visitor: TestClient, arena: Arena) -> None:
    """Another site's form, another visitor's pair and a made-up choice change nothing."""
    arena.public_votes.open("tiny")
    (token,) = TOKEN.findall(visitor.get("/vote/tiny").text)
    vote = {"token": token, "choice": "a"}
    assert visitor.post("/vote/tiny", data=vote, headers={"Origin": "http://evil.example"}).status_code == 403
    assert visitor.post("/vote/tiny", data={"token": token, "choice": "c"}).status_code == 422
    visitor.cookies.clear()
    assert visitor.post("/vote/tiny", data=vote).status_code == 404
    assert arena.public_votes.board("tiny").given == 0


@pytest.mark.long
def test_a_visitor_who_asks_too_much_is_sent_away(visitor: TestClient, arena: Arena) -> None:
    """One address gets a limited number of pairs, whatever its cookies say; the page says so with 429."""
    arena.public_votes.open("tiny")
    statuses = []
    for _ in range(125):
        visitor.cookies.clear()
        statuses.append(visitor.get("/vote/tiny").status_code)
    assert statuses.count(200) == 120
    assert set(statuses[120:]) == {429}


def test_votes_over_the_api_and_by_commands(arena: Arena, run: Commands) -> None:
    """Organisers open, close and export; anybody reads the board."""
    arena.teams.add_account("olga", is_organiser=True, caller=OPERATOR)
    token = arena.tokens.create(name="ci", account="olga", scopes={TokenScope.ORGANISE}, caller=OPERATOR)
    bearer = {"Authorization": f"Bearer {token.secret}"}
    client = TestClient(make_api(arena))
    assert client.get("/sets/tiny/votes").status_code == 404
    assert client.put("/sets/tiny/votes", json={"open": True}).status_code == 401
    assert client.put("/sets/tiny/votes", json={"open": True}, headers=bearer).json() == {"open": True}
    board = client.get("/sets/tiny/votes").json()
    assert (board["open"], board["given"], board["ratings"]) == (True, 0, [])
    assert client.get("/sets/tiny/votes/file").status_code == 401
    assert client.get("/sets/tiny/votes/file", headers=bearer).text == ""
    assert client.put("/sets/tiny/votes", json={"open": False}, headers=bearer).json() == {"open": False}
    arena.close()
    assert run.json("votes", "open", "tiny", "--json")["open"]
    assert [one["set"] for one in run.json("votes", "list", "--json")] == ["tiny"]
    assert run.json("votes", "show", "tiny", "--json")["counted"] == 0
    assert run("votes", "show", "tiny")[0] == 0
    assert run("votes", "show", "tiny", "--export", run.home / "votes.jsonl")[0] == 0
    assert not run.json("votes", "close", "tiny", "--json")["open"]
    assert run("sets", "policy", "tiny", "--no-public-texts")[0] == 0
    code, _, err = run("votes", "open", "tiny")
    assert code != 0
    assert "not public" in err
