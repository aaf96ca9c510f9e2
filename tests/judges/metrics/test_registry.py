from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data.errors import NotFoundError, RecordError, SpecError
from data.files.question_sets.registry import load_set
from data.models import EMBEDDED_ENGINE, Json, MetricItem, Nugget, Outcome, Passage, Score
from judges.metrics.registry import build_metric, metrics, of_function
from tests.cases import cases
from tests.judges.asking import embedded, item_of


def test_unknown_metric_lists_known_metrics() -> None:
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
def test_only_judged_items_have_scores(
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
def test_embedded_metrics_report_version(name: str, answer: str) -> None:
    item = replace(ITEM, answer=answer)
    assert asyncio.run(build_metric(name).score(item)).details["engine"] == EMBEDDED_ENGINE


WHOLE = replace(
    ITEM, reference=ITEM.passages[0].text, contexts=ITEM.passages, nuggets=(Nugget(ITEM.passages[0].text),)
)
BLANK = (Passage("p", " \n"),)
COMPREHENSIVE = ("comprehensiveness-nli", "comprehensiveness-end-to-end")
CRUX = ("context-crux", "answer-crux")
LACKING: list[tuple[tuple[str, ...], dict[str, Any], str]] = [
    (("citation-support",), {"answer": "I couldn't find an answer."}, "states nothing that needs a citation"),
    (("citation-support",), {"passages": (), "contexts": ()}, "neither contexts"),
    (("nuggets",), {"nuggets": ()}, "no nuggets"),
    *((("reference-coverage",), {"reference": text}, "no reference") for text in (None, "", " \n")),
    *(
        (
            ("reference-coverage", "comprehensiveness-nli", "answer-crux"),
            {"reference": text, "passages": (), "sub_questions": ()},
            "",
        )
        for text in ("Not found in provided context.", "I don't know.", "Unanswerable.")
    ),
    (COMPREHENSIVE, {"passages": BLANK, "reference": None}, "neither passages nor a reference"),
    *((("coverage-icat-s",), {"aspects": aspects}, "no aspects") for aspects in ((), (" ",))),
    *((("coverage-icat-s",), {"passages": passages}, "no passages") for passages in ((), BLANK)),
    *((CRUX, {"sub_questions": (), "reference": text}, "no sub-questions") for text in (None, "…")),
    (CRUX, {"passages": (), "reference": None}, "neither passages nor a reference"),
    (CRUX, {"sub_questions": ("Who won at chess in Reykjavik?",)}, "No sub-question can be answered"),
    (("context-crux",), {"contexts": BLANK}, "contexts"),
    *(
        (tuple(info.name for info in metrics() if info.rates_claims), change, "")
        for change in ({"passages": (), "contexts": ()}, {"answer": " … "})
    ),
]


@pytest.mark.parametrize(
    ("name", "change", "reason"), [(name, *case) for names, *case in LACKING for name in names]
)
def test_measure_without_data_is_undefined_with_reason(
    name: str, change: dict[str, Any], reason: str
) -> None:
    result = embedded(name, replace(WHOLE, **change))
    assert (result.outcome, result.score) == (Outcome.UNREADABLE, None)
    assert result.reason
    assert reason in result.reason


@pytest.mark.parametrize("name", [*COMPREHENSIVE, "coverage-icat-s", "answer-crux", "reference-coverage"])
@pytest.mark.parametrize(
    "answer", ["", " \n ", "I couldn't find an answer.", "…", "Cats sleep on warm roofs."]
)
def test_irrelevant_answer_scores_zero(name: str, answer: str) -> None:
    result = embedded(name, replace(WHOLE, answer=answer))
    assert (result.outcome, result.score) == (Outcome.JUDGED, 0)


DEMO = Path(__file__).parents[3] / "data/sets/demo"
METRICS = ("comprehensiveness-nli", "coverage-icat-s", "coverage-icat-a", "factuality-fr3", "answer-crux")


def _items(questions: int) -> list[MetricItem]:
    """Return every demo system's answers to some questions."""
    files = sorted((DEMO / "answers").glob("*.jsonl"))
    answers = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        item_of(question, row["answer"], contexts=tuple(Passage(**row) for row in row.get("contexts", ())))
        for question in load_set(DEMO).questions.questions[:questions]
        for row in answers
        if row["question_id"] == question.id
    ]


def _plain(score: Score) -> object:
    return json.loads(json.dumps([score.score, dict(score.details)], default=list))


@pytest.mark.slow
def test_score_does_not_depend_on_earlier_scores() -> None:
    items = _items(2)

    async def score(name: str, some: list[MetricItem]) -> list[object]:
        metric = build_metric(name)
        return [_plain(await metric.score(item)) for item in some]

    forth = [asyncio.run(score(name, items)) for name in METRICS]
    back = [asyncio.run(score(name, items[::-1])) for name in METRICS]
    assert forth == [of_metric[::-1] for of_metric in back]


@pytest.mark.parametrize(("name", "options"), cases(__file__, "options_that_cannot_be_meant_are_refused"))
def test_invalid_options_are_rejected(name: str, options: dict[str, Json]) -> None:
    with pytest.raises(SpecError, match=next(iter(options))):
        build_metric(name, options=options)


@pytest.mark.parametrize("score", [0.5, None])
def test_function_metric_reports_version(score: float | None) -> None:
    metric = of_function(lambda _: score)("m", runner=None, options={})
    assert asyncio.run(metric.score(ITEM)).details["engine"] == EMBEDDED_ENGINE


def test_function_metric_takes_no_judge() -> None:
    with pytest.raises(SpecError, match="does not use an LLM"):
        of_function(len)("m", runner=Any, options={})  # type: ignore[arg-type]
