"""Measure biases of an LLM judge in a study with both orders: first position, author and format.

Run: python -m benchmarks.bias [--study pairs.jsonl] [--question quality_overall …]
Each order of a pair is a battle, clustered by topic. The effect of the first position is estimated with the
product's style control and ratings of the six kinds of answer; in the estimates for author and format, these
features replace the ratings. The same figures for people's votes on these pairs follow for comparison.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from leaderboard.battles import BattleTable
from leaderboard.ratings import IntervalKind, Settings, StyleEffect, marked_column, rate_under_control
from leaderboard.ratings.models.covariates import FIRST

Floats = NDArray[np.float64]
STUDY = Path(__file__).parents[1] / "../shared/data/crowd_rag/pairs.jsonl"
QUESTIONS = (
    "quality_overall",
    "coverage_broad",
    "coverage_deep",
    "correctness_topical",
    "coherence_logical",
    "coherence_stylistic",
    "consistency_internal",
)
SHARES: Mapping[str, float] = {"a": 1.0, "b": 0.0, "n": 0.5}
JUDGES: Mapping[str, str] = {
    "llm_combined": "all seven at once",
    "llm_individual": "one at a time",
    "people": "people",
}
SETTINGS = Settings(interval=IntervalKind.SANDWICH, bootstrap=None)
POSITION, PEOPLE = "first place", "people"
TERMS = (POSITION, "written by an LLM", "bullet points", "news article")


@dataclass(frozen=True)
class Reading:
    """A pair in one order: topic, both kinds, a's win share, 1 if a was first, else -1."""

    topic: str
    a: str
    b: str
    share: float
    position: float


def readings(path: Path, judge: str, question: str) -> Iterator[Reading]:
    """Yield a judge's verdicts on a question; pairs that occur in both orders count once."""
    keys: set[tuple[str, ...]] = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        key = (row["question_id"], *sorted((row["model_a"], row["model_b"])))
        decided = row["llm_combined"] or {}
        if key in keys or not any(decided.values()):
            continue
        keys.add(key)
        sides = (row["question_id"], row["model_a"], row["model_b"])
        if judge == PEOPLE:
            votes = [SHARES[vote] for vote in row["people"][question]]
            yield Reading(*sides, float(np.mean(votes)), 0.0)
            continue
        for order, position in (("a_first", 1.0), ("b_first", -1.0)):
            preference = (row[judge].get(order) or {}).get(question)
            if preference is not None:
                yield Reading(*sides, SHARES[preference], position)


def terms_of(reading: Reading) -> tuple[float, ...]:
    """Return the differences a − b of position, writer, bullet points and news article."""
    a, b = (
        np.array([kind.startswith("llm"), kind.endswith("bullet"), kind.endswith("news")], dtype=float)
        for kind in (reading.a, reading.b)
    )
    return (reading.position, *(a - b).tolist())


def table_of(rows: Sequence[Reading]) -> BattleTable:
    """Convert readings to battles between kinds."""
    return BattleTable.from_columns(
        [row.topic for row in rows],
        ["all"] * len(rows),
        [row.a for row in rows],
        [row.b for row in rows],
        ["tie"] * len(rows),
        [row.share for row in rows],
    )


def position_effect(rows: Sequence[Reading], table: BattleTable) -> StyleEffect:
    """Estimate the effect of the first position with the product, with a free rating per kind."""
    column = marked_column(POSITION, [row.position for row in rows], FIRST)
    return rate_under_control(table, [column], SETTINGS).effects[0]


def kind_effects(rows: Sequence[Reading], table: BattleTable, resamples: int) -> tuple[Floats, Floats]:
    """Return (4,) coefficients in points and (2, 4) bounds of 95 % intervals, with topics resampled."""
    terms = np.array([terms_of(row) for row in rows])
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(resamples):
        weight = rng.standard_exponential(len(table.questions))[table.question]
        draws.append(_fit(terms, table.share, weight))
    ends = np.percentile(np.array(draws), [2.5, 97.5], axis=0)
    return _fit(terms, table.share), ends


def _fit(terms: Floats, share: Floats, weight: Floats | None = None) -> Floats:
    rows = np.ones(len(share)) if weight is None else weight
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-8, max_iter=500)
    model.fit(
        np.vstack([terms, terms]),
        np.repeat([1, 0], len(share)),
        sample_weight=np.concatenate([rows * share, rows * (1 - share)]),
    )
    return np.asarray(model.coef_[0] * 400 / np.log(10))


def main() -> None:
    """Print one row per judge and question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--study", type=Path, default=STUDY)
    parser.add_argument("--question", nargs="*", default=list(QUESTIONS), choices=QUESTIONS)
    parser.add_argument("--judge", nargs="*", default=list(JUDGES), choices=list(JUDGES))
    parser.add_argument("--resamples", type=int, default=300)
    options = parser.parse_args()
    print(f"| asked | question | verdicts | {' | '.join(TERMS)} |")
    print("|---" * 7 + "|")
    for judge in options.judge:
        for question in options.question:
            rows = list(readings(options.study, judge, question))
            table = table_of(rows)
            value, ends = kind_effects(rows, table, options.resamples)
            first = "–"
            if judge != PEOPLE:
                effect = position_effect(rows, table)
                first = f"{effect.value:.0f} ({effect.lower:.0f} to {effect.upper:.0f})"
            cells = [
                first,
                *(f"{value[at]:.0f} ({ends[0, at]:.0f} to {ends[1, at]:.0f})" for at in (1, 2, 3)),
            ]
            print(f"| {JUDGES[judge]} | {question} | {len(rows)} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
