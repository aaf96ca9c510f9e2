"""The Atom feed of boards, read by a reader of feeds and held against the rules of Atom."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import feedparser
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.site.public.links import ATOM, atom_feed
from arena.site.public.routes import BoardRoutes
from tests.arena.conftest import mix

NOTICE = "Two <files> & more were exchanged."
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


@pytest.fixture
def arena(filled: Callable[..., Arena], tmp_path: Path) -> Arena:
    """An arena with the boards `one` and `two`, and a round that nobody published."""
    opened = mix(filled(public_url="https://arena.example"), tmp_path)
    for name in ("one", "two", "secret"):
        opened.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name=name))
        opened.rounds.run(name, concurrency=2, report=lambda _progress: None)
    for name in ("one", "two"):
        opened.boards.publish(name, report=lambda _line: None, score=False)
    return opened


@pytest.fixture
def client(arena: Arena) -> TestClient:
    """A client of the routes."""
    return TestClient(Starlette(routes=BoardRoutes(arena).routes()))


def only(parent: Element, name: str) -> str:
    """The text of an element that must stand there once, and not be empty."""
    (child,) = parent.findall(f"{{{ATOM}}}{name}")
    text = "".join(child.itertext()).strip()
    assert text
    return text


def require_atom(text: str) -> list[Element]:
    """Hold a feed against what RFC 4287 requires, and return its entries."""
    root = fromstring(text)  # noqa: S314 - our own
    assert root.tag == f"{{{ATOM}}}feed"
    entries = root.findall(f"{{{ATOM}}}entry")
    (author,) = root.findall(f"{{{ATOM}}}author")
    only(author, "name")
    for part in (root, *entries):
        only(part, "title")
        assert re.match(r"(https?://|urn:uuid:)", only(part, "id"))
        assert MOMENT.fullmatch(only(part, "updated"))
        links = part.findall(f"{{{ATOM}}}link")
        assert [link.get("rel") for link in links].count("alternate") == 1
        assert all(str(link.get("href")).startswith("https://arena.example/") for link in links)
    assert len({only(entry, "id") for entry in entries}) == len(entries)
    return entries


def test_feed_has_the_published_boards_alone(client: TestClient) -> None:
    """Each published board is an entry with title, link and moment, newest first; other rounds are none."""
    answer = client.get("/feed.atom")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    assert len(require_atom(answer.text)) == 2
    feed = feedparser.parse(answer.content)
    assert not feed.bozo
    assert feed.version == "atom10"
    assert [entry.link.rpartition("=")[2] for entry in feed.entries] == ["two", "one"]
    assert feed.entries[0].summary == "Judged by lexical."
    assert "secret" not in answer.text


def test_changed_boards_are_the_same_entries_anew(arena: Arena, client: TestClient) -> None:
    """A notice or a retraction updates a board's entry under its id; a retracted one has only its notice."""
    before = {entry.link: entry for entry in feedparser.parse(client.get("/feed.atom").content).entries}
    arena.boards.put_notice("two", "Mind the gap.")
    arena.boards.retract("one", NOTICE)
    text = client.get("/feed.atom").text
    require_atom(text)
    first, second = feedparser.parse(text).entries
    assert (first.title, first.summary) == ("Retracted: one", NOTICE)
    assert second.summary == "Judged by lexical. Mind the gap."
    for entry in (first, second):
        assert entry.id == before[entry.link].id
        assert entry.published == before[entry.link].published
        moments = [datetime.fromisoformat(row.updated) for row in (before[entry.link], entry)]
        assert moments[0] < moments[1]


def test_who_has_the_feed_is_told_so(arena: Arena, client: TestClient) -> None:
    """ETag and Last-Modified spare readers what they have; a change, or nonsense, gets the whole feed."""
    headers = client.get("/feed.atom").headers
    for have in (
        {"If-None-Match": headers["etag"]},
        {"If-None-Match": f'"x", W/{headers["etag"]}'},
        {"If-Modified-Since": headers["last-modified"]},
    ):
        answer = client.get("/feed.atom", headers=have)
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["etag"] == headers["etag"]
    for have in ({"If-None-Match": '"x"'}, {"If-Modified-Since": "yesterday"}):
        assert client.get("/feed.atom", headers=have).status_code == 200
    arena.boards.retract("one", NOTICE)
    assert client.get("/feed.atom", headers={"If-None-Match": headers["etag"]}).status_code == 200


def test_pages_lead_to_the_feed(client: TestClient) -> None:
    """Plain pages name the feed in their head, where readers of feeds look for it."""
    for path in ("/leaderboard.html?board=one", "/s/00000000"):
        page = client.get(path).text
        assert re.search(r'<link rel="alternate" type="application/atom\+xml" [^>]*feed\.atom"', page)


def test_feed_without_boards_is_a_feed() -> None:
    """Before the first publication the feed is valid and empty."""
    assert require_atom(atom_feed("https://arena.example/", ())) == []
