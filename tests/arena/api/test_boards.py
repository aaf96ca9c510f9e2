"""Boards and stored scores by the API, over real HTTP."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest

METRIC = "/sets/tiny/metrics/comprehensiveness-nli"


def test_board_is_the_same_in_the_list_and_by_its_name(public: httpx.Client) -> None:
    listed = public.get("/leaderboards").json()["leaderboards"]
    assert {one["round"] for one in listed} == {"tiny", None}
    for line in listed:
        board = public.get(f"/leaderboards/{line['name']}").json()
        assert board.pop("standings")
        assert board.pop("marks") == {}
        assert board == line


def test_board_is_json_csv_or_parquet(public: httpx.Client, tmp_path: Path) -> None:
    full = public.get("/leaderboards/tiny").json()
    systems = {line["system"] for line in full["standings"]["lines"]["overall"]}
    text = public.get("/leaderboards/tiny", headers={"Accept": "text/csv"})
    assert text.headers["content-type"].startswith("text/csv")
    assert {row["system"] for row in csv.DictReader(io.StringIO(text.text))} == systems
    raw = public.get("/leaderboards/tiny", params={"format": "parquet"}, headers={"Accept": "text/csv"})
    (tmp_path / "board.parquet").write_bytes(raw.content)
    assert set(pq.read_table(tmp_path / "board.parquet").column("system").to_pylist()) == systems
    assert "full" in systems


@pytest.mark.parametrize("path", ["/sets", "/sets/tiny/sample", "/leaderboards/tiny", "/rounds/tiny"])
def test_unchanged_answer_is_not_sent_twice(public: httpx.Client, path: str) -> None:
    first = public.get(path)
    again = public.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert public.get(path, headers={"If-None-Match": '"another"'}).status_code == 200


def test_formats_have_etags_of_their_own(public: httpx.Client) -> None:
    tags = {
        public.get("/leaderboards/tiny", params={"format": one}).headers["etag"] for one in ("json", "csv")
    }
    assert len(tags) == 2
    assert "Accept" in public.get("/leaderboards/tiny").headers["vary"]


def test_long_answers_travel_gzipped(public: httpx.Client) -> None:
    with public.stream("GET", "/leaderboards/tiny", headers={"Accept-Encoding": "gzip"}) as found:
        assert found.headers["content-encoding"] == "gzip"
        assert json.loads(found.read())["name"] == "tiny"
    plain = public.get("/leaderboards/tiny", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers


def test_metrics_with_scores_are_listed(public: httpx.Client) -> None:
    listed = public.get("/sets/tiny/metrics").json()["metrics"]
    assert listed == [{"metric": "comprehensiveness-nli", "judges": ["embedded"]}]


def test_scores_are_given_in_every_format(public: httpx.Client) -> None:
    answers = public.get(f"{METRIC}/scores").json()["scores"]
    assert {answer["details"]["covered"][0] for answer in answers} == {"A covered statement."}
    csv_answer = public.get(f"{METRIC}/scores", params={"format": "csv"})
    assert csv_answer.headers["content-type"].startswith("text/csv")
    assert "tiny-comprehensiveness-nli.csv" in csv_answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(csv_answer.text)))
    parquet = pq.read_table(io.BytesIO(public.get(f"{METRIC}/scores", params={"format": "parquet"}).content))
    assert len(rows) == parquet.num_rows == len(answers)
    assert list(rows[0]) == parquet.column_names


def test_board_that_is_unknown_or_unfit_is_refused(public: httpx.Client) -> None:
    for path in (
        "/sets/nowhere/metrics",
        "/sets/tiny/metrics/nonsense/scores",
        "/sets/tiny/metrics/factuality-fr3/scores",
        f"{METRIC}/scores?systems=nobody",
        f"{METRIC}/scores?judge=gpt",
    ):
        refused = public.get(path)
        assert refused.status_code == 404, path
        assert refused.json()["advice"]
    assert public.get(f"{METRIC}/scores?format=trec").status_code == 422
