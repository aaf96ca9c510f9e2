"""Check the embedded nugget metric on what people marked as missing in real answers.

    python benchmarks/nuggets.py [DATA]

DATA has `qa_feedback/spans.jsonl`. The nuggets of a question are the sentences of its passages that people
marked as missing from an answer: vital where the answer to the question was missing, else okay. That answer
states none of them in full; the same answer as they corrected it states at least a part of most. Intervals
are percentiles of 2,000 resamples of questions, 95 %. The metric's own threshold was set on this data.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from data.records import Importance, MetricItem, Nugget, Score
from judges.metrics.registry import build_metric

DATA = Path(__file__).parents[1] / "../shared/data"
VITAL = "Missing-Answer"
RESAMPLES = 2_000
SCORES = ("weighted", "weighted_strict", "vital", "vital_strict", "all", "all_strict")


def items_of(row: dict[str, Any]) -> tuple[MetricItem, MetricItem] | None:
    """The answer that lacks its nuggets, and the corrected one; None where nothing was marked."""
    nuggets: dict[str, Importance] = {}
    for entry in row["missing"]:
        # A passage is its title and its sentences, so the first of them is number 1.
        _, *sentences = row["passages"][entry["passage_id"] - 1]
        title = row["passages"][entry["passage_id"] - 1][0]
        importance = Importance.VITAL if entry["error type"] == VITAL else Importance.OKAY
        for number in entry["sentence_id"]:
            if 1 <= number <= len(sentences):
                nuggets.setdefault(sentences[number - 1].removeprefix(f"{title}\n\n"), importance)
    if not nuggets or not row["corrected"].strip():
        return None
    marked = tuple(Nugget(text, importance) for text, importance in nuggets.items())
    lacking, corrected = (
        MetricItem(id=row["id"], question=row["question"], answer=row[name], nuggets=marked)
        for name in ("answer", "corrected")
    )
    return lacking, corrected


def main(data: Path) -> None:
    """Print every figure."""
    path = data / "qa_feedback" / "spans.jsonl"
    if not path.exists():
        raise SystemExit(f"{path} is not there; name the folder of the data.")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [pair for pair in map(items_of, rows) if pair is not None]
    metric = build_metric("nuggets")

    async def score(items: list[MetricItem]) -> list[Score]:
        return [await metric.score(item) for item in items]

    lacking, corrected = (asyncio.run(score([pair[side] for pair in pairs])) for side in (0, 1))
    count = sum(len(pair[0].nuggets) for pair in pairs)
    print(f"{len(pairs)} questions, {count} nuggets")
    for name, scores in (("lacking", lacking), ("corrected", corrected)):
        grades = Counter(one["assignment"] for found in scores for one in _nuggets(found))
        shares = {grade: f"{number / count:.3f}" for grade, number in sorted(grades.items())}
        means = {key: f"{_mean([found.details[key] for found in scores]):.3f}" for key in SCORES}
        print(f"{name}: grades {shares}; means {means}")
    below = [
        float(good.score > bad.score) + 0.5 * (good.score == bad.score)
        for bad, good in zip(lacking, corrected, strict=True)
        if bad.score is not None and good.score is not None
    ]
    print(f"corrected above lacking, ties half: {_interval(below, fmean)}; a constant 0.5")


def _nuggets(score: Score) -> Any:  # noqa: ANN401 - JSON
    return score.details["nuggets"]


def _mean(values: list[Any]) -> float:
    return fmean(value for value in values if value is not None)


def _interval(values: list[float], of: Callable[[list[float]], float]) -> str:
    draws = np.random.default_rng(1).integers(0, len(values), (RESAMPLES, len(values)))
    array = np.array(values)
    lower, upper = np.percentile(array[draws].mean(axis=1), [2.5, 97.5])
    return f"{of(values):.3f} [{lower:.3f}-{upper:.3f}]"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
