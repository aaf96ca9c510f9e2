from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from data.models import MetricItem, Passage, Score
from judges.metrics.registry import build_metric

DEMO = Path(__file__).parents[3] / "data/sets/demo"
METRICS = ("comprehensiveness-nli", "coverage-icat-s", "coverage-icat-a", "factuality-fr3", "answer-crux")
ALONE = """
import asyncio, json, sys
from data.models import MetricItem, Passage
from judges.metrics.registry import build_metric
row = json.load(sys.stdin)
for name in ("passages", "contexts"):
    row[name] = tuple(Passage(**passage) for passage in row[name])
for name in ("aspects", "sub_questions"):
    row[name] = tuple(row[name])
scores = [asyncio.run(build_metric(name).score(MetricItem(**row))) for name in sys.argv[1:]]
print(json.dumps([[score.score, dict(score.details)] for score in scores], default=list))
"""


Row = dict[str, Any]


def _rows(questions: int) -> list[Row]:
    lines = (DEMO / "questions.jsonl").read_text(encoding="utf-8").splitlines()[:questions]
    by_id = {row["id"]: row for row in map(json.loads, lines)}
    rows: list[Row] = []
    for file in sorted((DEMO / "answers").glob("*.jsonl")):
        for answer in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            question = by_id.get(answer["question_id"])
            if question is not None:
                taken = ("id", "question", "reference", "passages", "aspects", "sub_questions")
                rows.append(
                    {name: question.get(name, []) for name in taken}
                    | {"answer": answer["answer"], "contexts": answer.get("contexts", [])}
                )
    return rows


def _item(row: Row) -> MetricItem:
    passages = {name: tuple(Passage(**passage) for passage in row[name]) for name in ("passages", "contexts")}
    texts: dict[str, tuple[str, ...]] = {name: tuple(row[name]) for name in ("aspects", "sub_questions")}
    return MetricItem(**{**row, **passages, **texts})


def _plain(score: Score) -> object:
    return json.loads(json.dumps([score.score, dict(score.details)], default=list))


@pytest.mark.long
def test_a_score_does_not_depend_on_what_was_scored_before() -> None:
    rows = _rows(2)
    items = [_item(row) for row in rows]

    async def score(name: str, some: list[MetricItem]) -> list[object]:
        metric = build_metric(name)
        return [_plain(await metric.score(item)) for item in some]

    forth = [asyncio.run(score(name, items)) for name in METRICS]
    back = [asyncio.run(score(name, items[::-1])) for name in METRICS]
    assert forth == [of_metric[::-1] for of_metric in back]
    alone = subprocess.run(
        [sys.executable, "-c", ALONE, *METRICS],
        input=json.dumps(rows[-1]),
        capture_output=True,
        text=True,
        check=True,
        cwd=DEMO.parents[2],
    )
    assert json.loads(alone.stdout) == [of_metric[-1] for of_metric in forth]
