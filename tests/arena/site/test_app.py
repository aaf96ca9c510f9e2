from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator

import altair as alt
import pyarrow.parquet as pq
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from arena.site.app import _Routes
from leaderboard.export.charts import Estimate, forest
from leaderboard.export.tables import PictureForm, Stamp, chart_file, table_file
from leaderboard.vocabulary import BoardForm
from tests.served import published

STAMP = Stamp(board="spring", content_hash="ab" * 32)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=_Routes(published()).all())) as client:
        yield client


ROWS: list[dict[str, object]] = [
    {"system": "=cmd()", "rating": 1000.5, "rank": 1},
    {"system": "b", "rating": None, "rank": None},
]


def test_downloaded_tables_state_their_origin() -> None:
    rows = list(csv.DictReader(io.StringIO(table_file(ROWS, BoardForm.CSV, STAMP).decode())))
    assert rows[0]["board"] == "spring"
    assert rows[0]["system"] == "'=cmd()"
    assert rows[1]["rating"] == ""
    whole = json.loads(table_file(ROWS, BoardForm.JSON, STAMP))
    assert (whole["content_sha256"], whole["rows"]) == (STAMP.content_hash, ROWS)
    table = pq.read_table(io.BytesIO(table_file(ROWS, BoardForm.PARQUET, STAMP)))
    assert table["content_sha256"].to_pylist() == [STAMP.content_hash] * 2
    assert table["rating"].to_pylist() == [1000.5, None]
    assert STAMP.stem == "spring-abababab"


def test_downloaded_charts_state_their_origin() -> None:
    chart: alt.LayerChart = forest([Estimate(system="s", value=1, lower=0, upper=2)], axis="Rating")
    drawn = chart_file(chart, PictureForm.SVG, STAMP, "Spring: ratings").decode()
    assert "Spring: ratings" in drawn
    assert "spring, content abababababab" in drawn
    assert chart_file(chart, PictureForm.PNG, STAMP, "x")[:4] == b"\x89PNG"


def test_documents_preload_styles_and_components(client: TestClient) -> None:
    for page in ("/", "/compare", "/about"):
        text = client.get(page).text
        (style,) = re.findall(r'<link rel="stylesheet" href="(./style.css\?\w{16})" />\s*<div id="', text)
        loaded = re.findall(r'<link rel="modulepreload" crossorigin href="./static/js/([\w.-]+)"', text)
        assert {name.partition(".")[0] for name in loaded} >= {"Html"}
        assert len(loaded) == len(set(loaded))
    style = client.get(style)
    assert style.headers["content-type"].startswith("text/css")
    assert "immutable" in style.headers["cache-control"]
    assert style.text.count("@font-face") == 2
