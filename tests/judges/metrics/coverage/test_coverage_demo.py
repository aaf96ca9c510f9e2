from __future__ import annotations

import asyncio
import json
from pathlib import Path
from statistics import fmean

import pytest

from data.files.question_sets.registry import load_set
from data.models import MetricItem, Outcome, Score
from judges.metrics.registry import build_metric
from tests.narrow import listed

DEMO = Path(__file__).parents[4] / "data" / "sets" / "demo"
SYSTEMS = ("meridian", "slipshod", "partisan", "pithy", "hesitant")


@pytest.fixture(scope="module")
def items() -> dict[str, list[MetricItem]]:
    """Every third question of the bundled set with each system's answer; two passages were its context."""
    questions = load_set(DEMO).questions.by_id
    found: dict[str, list[MetricItem]] = {}
    for system in SYSTEMS:
        lines = (DEMO / "answers" / f"{system}.jsonl").read_text(encoding="utf-8").splitlines()[::3]
        for row in map(json.loads, lines):
            question = questions[row["question_id"]]
            item = MetricItem(
                id=question.id,
                question=question.question,
                answer=row["answer"],
                passages=question.passages,
                reference=question.reference,
                contexts=question.passages[:2],
                aspects=question.aspects,
                sub_questions=question.sub_questions,
            )
            found.setdefault(system, []).append(item)
    return found


def scores(metric: str, items: list[MetricItem]) -> list[Score]:
    built = build_metric(metric)
    return [asyncio.run(built.score(item)) for item in items]


@pytest.mark.parametrize("metric", ["answer-crux", "coverage-icat-s", "coverage-icat-a"])
def test_the_complete_system_covers_most(metric: str, items: dict[str, list[MetricItem]]) -> None:
    means = {}
    for system in SYSTEMS:
        found = scores(metric, items[system])
        assert all(score.score is not None or score.reason for score in found)
        means[system] = fmean(score.score for score in found if score.score is not None)
    assert max(means, key=means.__getitem__) == "meridian"
    assert means["meridian"] - means["pithy"] > 0.15
    assert means["meridian"] - means["hesitant"] > 0.15


def test_refusing_does_not_pay(items: dict[str, list[MetricItem]]) -> None:
    icat, crux = (scores(name, items["hesitant"]) for name in ("coverage-icat-s", "answer-crux"))
    silent = [
        (one, other) for one, other in zip(icat, crux, strict=True) if one.details["factuality"] is None
    ]
    assert silent
    assert {(one.outcome, one.score, one.details["coverage"]) for one, _ in silent} == {
        (Outcome.JUDGED, 0, 0)
    }
    assert all(other.score == 0 for _, other in silent)
    answering = scores("coverage-icat-s", items["pithy"])
    assert fmean(one.score or 0.0 for one in icat) < fmean(one.score or 0.0 for one in answering)


def test_the_oracle_context_covers_everything(items: dict[str, list[MetricItem]]) -> None:
    part = scores("context-crux", items["meridian"])
    assert 0.4 < fmean(score.score or 0.0 for score in part) < 0.9
    asked = sum(len(item.sub_questions) for item in items["meridian"])
    answerable = sum(len(listed(score.details["answerable"])) for score in part)
    assert answerable / asked > 0.85
