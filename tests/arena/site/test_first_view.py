from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from arena.services.accounts.tokens import COOKIE
from arena.site.app import _Routes
from arena.site.ui.html import BEGUN
from tests.opened_pages import html_of, page_of
from tests.served import published

START = '<div id="first-view" data-view="'


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=_Routes(published()).all())) as client:
        yield client


def _words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


@pytest.mark.parametrize("query", [{}, {"domain": "d1"}, {"sort": "words", "find": "o"}], ids=str)
def test_document_matches_page(
    client: TestClient, query: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    document = client.get("/", params=query).text
    assert document.count(START) == 1
    view, _, first = document.partition(START)[2].partition('<div id="root">')[0].partition('">')
    first, _, footer = _words(first).partition(" Answer Arena ")
    assert footer.endswith("Sign in")
    page = page_of(published(), "boards.leaderboard_page", **query).run()
    assert not page.exception
    assert first in _words("".join(part.proto.body for part in page.get("html")))
    assert len(first) > 200
    monkeypatch.setattr(type(st.context), "cookies", {BEGUN: view})
    page = page_of(published(), "boards.leaderboard_page", **query)
    assert not page.run().get("html")
    assert [text.value for text in page.text] == [""]
    assert first in _words(html_of(page.run()))


def test_open_row_has_only_public_texts(client: TestClient) -> None:
    document = client.get("/").text
    links = [unescape(link) for link in re.findall(r'data-from="([^"]*)"', document)]
    assert len(links) == len(set(links)) > 1
    assert 'class="aa-detail"' not in document
    for href in links:
        row = client.get(href)
        assert (row.status_code, row.headers["cache-control"]) == (200, "private, no-cache")
        assert re.search(r"Place \d.* of \d.*Against .*\d+ won, \d+ tied, \d+ lost", _words(row.text))
    assert any("Questions it lost" in client.get(href).text for href in links)
    unknown = client.get("/row?id=absent")
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "The board has no system with this name.")


def test_document_is_empty_for_private_pages(client: TestClient) -> None:
    for query in ({"board": "nowhere"}, {"find": "x" * 400}):
        answered = client.get("/", params=query)
        assert (answered.status_code, START in answered.text) == (200, False)
    client.cookies.set(COOKIE, "made-up")
    assert START not in client.get("/").text
    client.cookies.clear()
    assert START not in client.get("/trust").text
    assert client.get("/").headers["vary"] == "Cookie"
