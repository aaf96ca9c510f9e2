from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data.errors import NotFoundError, RecordError, SpecError
from data.models import EMBEDDED_ENGINE, Json, MetricItem, Outcome, Passage, Score
from judges.metrics.registry import build_metric, metric_info, metrics, of_function


def test_every_metric_has_a_name_of_its_own() -> None:
    names = [info.name for info in metrics()]
    assert len(set(names)) == len(names)
    assert all(metric_info(name).name == name for name in names)


def test_an_unknown_metric_is_refused_with_the_known_ones() -> None:
    with pytest.raises(NotFoundError, match="comprehensiveness-nli"):
        build_metric("comprehensivness")


@pytest.mark.parametrize(
    ("outcome", "score", "details"),
    [
        (Outcome.JUDGED, None, {}),
        (Outcome.FAILED, 0.0, {"reason": "x"}),
        (Outcome.JUDGED, float("nan"), {}),
        (Outcome.UNREADABLE, None, {}),
    ],
)
def test_a_score_is_there_exactly_when_it_was_judged(
    outcome: Outcome, score: float | None, details: dict[str, Json]
) -> None:
    with pytest.raises(RecordError):
        Score(id="1", metric="m", outcome=outcome, score=score, details=details)


ITEM = MetricItem(
    id="q",
    question="When was the bridge opened?",
    answer="The bridge was opened in 1960 [1].",
    passages=(Passage("p", "The bridge was opened in 1960."),),
    aspects=("opening of the bridge",),
    sub_questions=("When was the bridge opened?",),
)


@pytest.mark.parametrize(
    "name", [info.name for info in metrics() if info.embedded and not info.takes_judgments]
)
@pytest.mark.parametrize("answer", [ITEM.answer, ""])
def test_every_embedded_metric_names_its_version(name: str, answer: str) -> None:
    item = replace(ITEM, answer=answer)
    assert asyncio.run(build_metric(name).score(item)).details["engine"] == EMBEDDED_ENGINE


@pytest.mark.parametrize("name", ["factuality-fr2", "comprehensiveness-nli", "coverage-icat-a"])
def test_numbers_of_citations_are_no_part_of_what_an_answer_says(name: str) -> None:
    passages = (
        Passage("p1", "The bridge has 12 arches. It was opened in 1905 by the mayor."),
        Passage("p2", "It is painted red every 5 years. Ships pass below it."),
    )
    plain = "The bridge was opened in 1905 by the mayor. It has 12 arches. It is painted red every 5 years."
    cited = "The bridge was opened in 1905 by the mayor [1]. It has 12 arches [1, 2]. "
    cited += "It is painted red every 5 years. [2]"
    scores = [
        asyncio.run(
            build_metric(name).score(
                MetricItem(id="q", question="What of the bridge?", answer=answer, passages=passages)
            )
        )
        for answer in (plain, cited)
    ]
    assert scores[0].score == scores[1].score is not None
    assert "mayor [1" not in str(scores[1].details)


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


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("citation-support", {"beta": 2}),
        ("nuggets", {"beta": 2}),
        ("reference-coverage", {"beta": 2}),
        ("comprehensiveness-nli", {"relevence": 3}),
        ("comprehensiveness-nli", {"relevance": 9}),
        ("comprehensiveness-nli", {"most_pairs": 0}),
        ("coverage-icat-s", {"beta": 0}),
        ("coverage-icat-s", {"retrieved": 0}),
        ("coverage-icat-s", {"judgments": []}),
        ("context-crux", {"threshold": 0}),
        ("context-crux", {"alpha": 2}),
        ("context-crux", {"required": "best"}),
        ("factuality-fr2", {"k": 3}),
        ("factuality-fr2", {"contexts_per_claim": 0}),
        ("factuality-fr2", {"factors": "table2"}),
        ("factuality-fr2", {"context_prior": 1.5}),
    ],
)
def test_options_that_cannot_be_meant_are_refused(name: str, options: dict[str, Json]) -> None:
    with pytest.raises(SpecError, match=next(iter(options))):
        build_metric(name, options=options)


@pytest.mark.parametrize("score", [0.5, None])
def test_a_metric_of_a_function_names_its_version(score: float | None) -> None:
    metric = of_function(lambda _: score)("m", runner=None, options={})
    assert asyncio.run(metric.score(ITEM)).details["engine"] == EMBEDDED_ENGINE


def test_a_metric_of_a_function_takes_no_judge() -> None:
    with pytest.raises(SpecError, match="asks no LLM"):
        of_function(len)("m", runner=Any, options={})  # type: ignore[arg-type]
