"""Stored scores by the API, over real HTTP: what `arena metrics show` and `export` give."""

from __future__ import annotations

import csv
import io

import httpx
import pyarrow.parquet as pq

METRIC = "/sets/tiny/metrics/comprehensiveness-nli"


def test_metrics_with_scores_are_listed(public: httpx.Client) -> None:
    """Each metric that answers were scored by, with whose scores there are."""
    listed = public.get("/sets/tiny/metrics").json()["metrics"]
    assert listed == [{"metric": "comprehensiveness-nli", "judges": ["embedded"]}]


def test_scores_are_given_in_every_format(public: httpx.Client) -> None:
    """JSON has details; CSV and Parquet the same columns."""
    answers = public.get(f"{METRIC}/scores").json()["scores"]
    assert {answer["details"]["covered"][0] for answer in answers} == {"A covered statement."}
    csv_answer = public.get(f"{METRIC}/scores", params={"format": "csv"})
    assert csv_answer.headers["content-type"].startswith("text/csv")
    assert "tiny-comprehensiveness-nli.csv" in csv_answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(csv_answer.text)))
    parquet = pq.read_table(io.BytesIO(public.get(f"{METRIC}/scores", params={"format": "parquet"}).content))
    assert len(rows) == parquet.num_rows == len(answers)
    assert list(rows[0]) == parquet.column_names


def test_what_is_not_there_or_cannot_be_is_said(public: httpx.Client) -> None:
    """Unknown sets, metrics, systems and judges are 404 with advice; a wrong wish is 422."""
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
