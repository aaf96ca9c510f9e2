"""The routes beside the pages: static board, embedded table, picture, site map, and files to download."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from xml.etree.ElementTree import fromstring

import altair as alt
import pyarrow.parquet as pq
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from arena.settings import Settings
from arena.site.app import _Routes
from leaderboard.export.charts import Estimate, forest
from leaderboard.export.tables import PictureForm, Stamp, TableForm, chart_file, table_file

SPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
STAMP = Stamp(board="spring", content_hash="ab" * 32)


@pytest.fixture(scope="module")
def client(published: Settings) -> Iterator[TestClient]:
    """A client of the routes."""
    # Streamlit's own server exists once a process; these routes stand without it.
    with TestClient(Starlette(routes=_Routes(published).all())) as found:
        yield found


class _Page(HTMLParser):
    """What a document has: metadata, links, tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.meta: dict[str, str] = {}
        self.links: list[dict[str, str | None]] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        if tag == "meta":
            self.meta[str(found.get("property") or found.get("name"))] = str(found.get("content"))
        if tag == "a":
            self.links.append(found)


def test_static_board_needs_no_script(client: TestClient) -> None:
    """The board is one page: a table a domain, who leads in words, and no script at all."""
    answer = client.get("/leaderboard.html", params={"board": "tiny"})
    page = _Page(answer.text)
    assert answer.status_code == 200
    assert "script" not in page.tags
    assert page.tags.count("h1") == 1
    assert page.tags.count("table") == 1 + 3 + 1
    assert "full leads" in answer.text or "human" in answer.text
    assert "script-src" not in answer.headers["content-security-policy"]
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_without_what_draws_no_picture_is_named(published: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation without the extra `pictures` serves the page, names no picture and has none."""
    monkeypatch.setattr("arena.site.public.routes.draws_pictures", lambda: False)
    bare = TestClient(Starlette(routes=_Routes(published).all()))
    answer = bare.get("/leaderboard.html", params={"board": "tiny"})
    assert answer.status_code == 200
    assert "og:title" in answer.text
    assert "og:image" not in answer.text
    assert bare.get("/og/tiny.png").status_code == 404


def test_static_board_shows_a_picture_where_it_is_shared(client: TestClient) -> None:
    """Open Graph names a title, a sentence and a picture that exists and has the size it says."""
    page = _Page(client.get("/leaderboard.html", params={"board": "tiny"}).text)
    assert "A tiny set" in page.meta["og:title"]
    picture = client.get(page.meta["og:image"])
    assert picture.headers["content-type"] == "image/png"
    assert picture.content[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(picture.content[16:20]) == int(page.meta["og:image:width"]) == 1200
    assert int.from_bytes(picture.content[20:24]) == int(page.meta["og:image:height"]) == 630


def test_newest_board_stands_where_none_is_named(client: TestClient) -> None:
    """Without a name the static page is the newest judged board; an unknown one is told where to look."""
    assert "A tiny set" in client.get("/leaderboard.html").text
    answer = client.get("/leaderboard.html", params={"board": "nobody"})
    assert answer.status_code == 404
    assert "/sitemap.xml" in answer.text


def test_embedded_table_may_be_framed_and_leads_out(client: TestClient) -> None:
    """Any site may frame the table; it sets no cookie, and its links open in the whole window."""
    answer = client.get("/embed/tiny", params={"domain": "d1"})
    assert "frame-ancestors *" in answer.headers["content-security-policy"]
    assert "set-cookie" not in answer.headers
    assert "x-frame-options" not in answer.headers
    page = _Page(answer.text)
    assert page.links
    assert all(link["target"] == "_top" and str(link["href"]).startswith("../") for link in page.links)
    assert "One" in answer.text


def test_site_map_lists_pages_that_answer(client: TestClient) -> None:
    """Boards and systems are on the map, its static pages answer, and robots are told of it."""
    base = str(client.base_url)
    text = client.get("/sitemap.xml").text
    places = [found.text or "" for found in fromstring(text).iter(f"{SPACE}loc")]  # noqa: S314 - our own
    assert f"{base}/leaderboard.html?board=tiny" in places
    assert f"{base}/system?board=tiny&id=full" in places
    static = [place for place in places if ".html" in place]
    assert [client.get(place).status_code for place in static] == [200, 200, 200]
    assert f"Sitemap: {base}/sitemap.xml" in client.get("/robots.txt").text


def test_hash_leads_to_its_board(client: TestClient) -> None:
    """The first characters of a hash are a permalink; too few, or another hash, are not."""
    text = client.get("/leaderboard.html", params={"board": "tiny"}).text
    content_hash = text.split("sha256 ")[1][:64]
    answer = client.get(f"/s/{content_hash[:8]}", follow_redirects=False)
    assert answer.headers["location"].endswith("?board=tiny")
    assert client.get(f"/s/{content_hash[:7]}").status_code == 404


ROWS: list[dict[str, object]] = [
    {"system": "=cmd()", "rating": 1000.5, "rank": 1},
    {"system": "b", "rating": None, "rank": None},
]


def test_downloaded_tables_say_where_they_are_from() -> None:
    """Board and hash stand in every form, and no cell is a formula."""
    rows = list(csv.DictReader(io.StringIO(table_file(ROWS, TableForm.CSV, STAMP).decode())))
    assert rows[0]["board"] == "spring"
    assert rows[0]["system"] == "'=cmd()"
    assert rows[1]["rating"] == ""
    whole = json.loads(table_file(ROWS, TableForm.JSON, STAMP))
    assert (whole["content_sha256"], whole["rows"]) == (STAMP.content_hash, ROWS)
    table = pq.read_table(io.BytesIO(table_file(ROWS, TableForm.PARQUET, STAMP)))
    assert table["content_sha256"].to_pylist() == [STAMP.content_hash] * 2
    assert table["rating"].to_pylist() == [1000.5, None]
    assert STAMP.stem == "spring-abababab"


@pytest.mark.parametrize("form", list(TableForm))
def test_empty_table_is_a_file_too(form: TableForm) -> None:
    """A table without rows can be downloaded."""
    assert table_file([], form, STAMP)


def test_downloaded_charts_say_where_they_are_from() -> None:
    """A picture bears its title, the board and the hash."""
    chart: alt.LayerChart = forest([Estimate(system="s", value=1, lower=0, upper=2)], axis="Rating")
    drawn = chart_file(chart, PictureForm.SVG, STAMP, "Spring: ratings").decode()
    assert "Spring: ratings" in drawn
    assert "spring, content abababababab" in drawn
    assert chart_file(chart, PictureForm.PNG, STAMP, "x")[:4] == b"\x89PNG"


def test_leaderboard_begins_in_its_document(client: TestClient) -> None:
    """The document of the leaderboard has the board before a script runs, as the page will show it."""
    text = client.get("/").text
    assert text.index('href="./style.css"') < text.index('id="first-view"') < text.index('<div id="root">')
    begun = text[text.index('id="first-view"') : text.index('<div id="root">')]
    assert begun.count("<h1>A tiny set</h1>") == 1
    assert 'href="./system?board=tiny&amp;id=full"' in begun
    assert "<script" not in begun


@pytest.mark.parametrize(
    ("page", "query"), [("", {"board": "none"}), ("system", {"id": "nobody"}), ("question", {"id": "q999"})]
)
def test_unknown_names_answer_404_with_the_page(client: TestClient, page: str, query: dict[str, str]) -> None:
    """Board, system and question that do not exist are not found, and the page says so."""
    found = client.get(f"/{page}", params=query)
    assert found.status_code == 404
    assert '<div id="root">' in found.text


def test_documents_bring_the_styles_and_what_pages_are_made_of(client: TestClient) -> None:
    """Every document links our styles behind Streamlit's, and names the files that its components need."""
    for page in ("/", "/compare", "/about"):
        text = client.get(page).text
        (root,) = re.findall(r'<link rel="stylesheet" href="./style.css" />\s*<div id="', text)
        assert root
        loaded = re.findall(r'<link rel="modulepreload" crossorigin href="./static/js/([\w.-]+)"', text)
        assert {name.partition(".")[0] for name in loaded} >= {"Html", "Selectbox"}
        assert len(loaded) == len(set(loaded))
    style = client.get("/style.css")
    assert style.headers["content-type"].startswith("text/css")
    assert style.text.count("@font-face") == 2
