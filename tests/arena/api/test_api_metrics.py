"""Stored scores by the API, over real HTTP: what `arena metrics show` and `export` give."""

from __future__ import annotations

import csv
import io
import json

import httpx
import pyarrow.parquet as pq

METRIC = "/sets/tiny/metrics/comprehensiveness-nli"


def test_metrics_with_scores_are_listed(public: httpx.Client) -> None:
    """Each metric that answers were scored by, with whose scores there are."""
    listed = public.get("/sets/tiny/metrics").json()["metrics"]
    assert listed == [{"metric": "comprehensiveness-nli", "judges": ["embedded"]}]


def test_a_table_is_as_the_command_prints_it(public: httpx.Client) -> None:
    """Means by system, domain and question; the last row is over all."""
    table = public.get(METRIC).json()
    assert (table["metric"], table["judge"], table["by"]) == ("comprehensiveness-nli", "embedded", "system")
    assert [row["system"] for row in table["rows"]] == ["full", "all"]
    assert table["rows"][0]["score"]["mean"] == 0.75
    assert table["untried"] > 0
    by_domain = public.get(METRIC, params={"by": "domain"}).json()["rows"]
    assert len(by_domain) > 2
    again = public.get(METRIC, headers={"If-None-Match": public.get(METRIC).headers["ETag"]})
    assert again.status_code == 304


def test_scores_are_given_in_every_format(public: httpx.Client) -> None:
    """JSON has details; CSV and Parquet the same columns; trec_eval's lines are of one system."""
    answers = public.get(f"{METRIC}/scores").json()["scores"]
    assert {answer["details"]["covered"][0] for answer in answers} == {"A covered statement."}
    csv_answer = public.get(f"{METRIC}/scores", params={"format": "csv"})
    assert csv_answer.headers["content-type"].startswith("text/csv")
    assert "tiny-comprehensiveness-nli.csv" in csv_answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(csv_answer.text)))
    parquet = pq.read_table(io.BytesIO(public.get(f"{METRIC}/scores", params={"format": "parquet"}).content))
    assert len(rows) == parquet.num_rows == len(answers)
    assert list(rows[0]) == parquet.column_names
    lines = public.get(f"{METRIC}/scores", params={"format": "trec", "systems": "full"}).text.splitlines()
    assert [line.split() for line in lines if line.startswith("num_q")] == [
        ["num_q", "all", str(len(answers))]
    ]
    assert ["comprehensiveness_nli", "all", "0.7500"] in [line.split() for line in lines]


def test_what_is_not_there_or_cannot_be_is_said(public: httpx.Client) -> None:
    """Unknown sets, metrics, systems and judges are 404 with advice; a wrong wish is 422."""
    for path in (
        "/sets/nowhere/metrics",
        "/sets/tiny/metrics/nonsense",
        "/sets/tiny/metrics/factuality-fr3",
        f"{METRIC}?systems=nobody",
        f"{METRIC}?judge=gpt",
    ):
        refused = public.get(path)
        assert refused.status_code == 404, path
        assert refused.json()["advice"]
    assert public.get(f"{METRIC}?by=nothing").status_code == 422
    refused = public.get(f"{METRIC}/scores?format=trec")
    assert (refused.status_code, refused.json()["detail"]) == (422, "trec_eval's lines are of one system.")
    assert json.loads(refused.text)["advice"] == "Name it: ?systems=NAME&format=trec."
