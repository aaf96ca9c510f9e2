"""Measure the embedded judge's agreement with people, with bootstrap intervals over questions.

    python benchmarks/lexical_agreement.py PAIRS [--resamples 1000]

PAIRS is a file in the format of `arena judges calibrate`: one line per vote with `question`, `reference`,
`passages`, `answer_a`, `answer_b` and `label` (a, b, tie, or −2 to 2, positive where b is better); several
lines with the same `id` are several annotators, whose labels are averaged.

- `between systems`: as in a round, with the reference as ground truth if there is one;
- `without passages`: the same, but without passages;
- `passages`: with passages as ground truth;
- `against the reference`: b's margin against the reference minus a's, judged by the passages.

P and S are the Pearson and Spearman correlations of the margin with the mean label, and `decided` is the
judge's agreement on pairs that people decided, with its ties as misses; all are multiplied by 100.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from scipy.stats import pearsonr, spearmanr

from data.models import GroundTruth, Passage, Question
from judges.base import JudgeInput
from judges.catalogue import load_spec
from judges.lexical import LexicalJudge

SIDES = {"a": -1.0, "tie": 0.0, "b": 1.0}


def read_pairs(path: Path) -> list[tuple[Question, str, str, float]]:
    """Return the pairs with their mean labels."""
    labels: dict[str, list[float]] = defaultdict(list)
    rows: dict[str, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        label = row["label"]
        labels[row["id"]].append(SIDES[label] if isinstance(label, str) else float(label))
        rows[row["id"]] = row
    return [
        (question_of(row), row["answer_a"], row["answer_b"], fmean(labels[name]))
        for name, row in rows.items()
    ]


def question_of(row: dict[str, Any]) -> Question:
    """Convert a row to a question."""
    passages = tuple(
        Passage(f"p{at}", text if isinstance(text, str) else text["text"])
        for at, text in enumerate(row.get("passages") or ())
    )
    return Question(
        id="q", domain="d", question=row["question"], reference=row.get("reference"), passages=passages
    )


def margin(judge: LexicalJudge, question: Question, a: str, b: str, side: str | None = None) -> float:
    """Return the judge's margin; 0 if it declines."""
    judge_input = JudgeInput(battle_id="x", question=question, answer_a=a, answer_b=b, reference_side=side)
    return judge.settle(judge_input).judgments[0].margin or 0.0


def figures(margins: np.ndarray, labels: np.ndarray) -> tuple[float, float, float]:
    """Return both correlations (P, S) and the agreement on decided pairs, times 100."""
    decided = labels != 0
    agreed = np.sign(margins[decided]) == np.sign(labels[decided])
    p, s = pearsonr(margins, labels)[0], spearmanr(margins, labels)[0]
    return 100 * float(p), 100 * float(s), 100 * float(agreed.mean())


def show(name: str, margins: Sequence[float], labels: np.ndarray, groups: np.ndarray, resamples: int) -> None:
    """Print figures with 95 % intervals."""
    values = np.array(margins)
    generator = np.random.default_rng(0)
    places = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    draws = []
    for _ in range(resamples):
        chosen = np.concatenate([places[at] for at in generator.integers(0, len(places), size=len(places))])
        draws.append(figures(values[chosen], labels[chosen]))
    ends = np.percentile(draws, [2.5, 97.5], axis=0)
    figures_text = [
        f"{label} {value:.1f} ({low:.1f} to {high:.1f})"
        for label, value, low, high in zip(
            ("P", "S", "decided"), figures(values, labels), ends[0], ends[1], strict=True
        )
    ]
    print(f"{name:24} {', '.join(figures_text)}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--resamples", type=int, default=1_000)
    options = parser.parse_args()
    pairs = read_pairs(options.pairs)
    labels = np.array([label for *_, label in pairs])
    groups = np.unique([question.question for question, *_ in pairs], return_inverse=True)[1]
    spec = load_spec("lexical")
    judge, strict = (
        LexicalJudge(spec),
        LexicalJudge(spec.model_copy(update={"ground_truth": GroundTruth.PASSAGES})),
    )

    def against_reference(question: Question, a: str, b: str) -> float:
        reference = str(question.reference)
        own, other = (margin(judge, question, reference, text, "a") for text in (a, b))
        return other - own

    uses: dict[str, Callable[[Question, str, str], float]] = {
        "between systems": lambda question, a, b: margin(judge, question, a, b),
        "without passages": lambda question, a, b: margin(judge, replace(question, passages=()), a, b),
        "passages": lambda question, a, b: margin(strict, question, a, b),
        "against the reference": against_reference,
    }
    has_passages = any(question.passages for question, *_ in pairs)
    for name, use in uses.items():
        if has_passages or name == "between systems":
            show(name, [use(q, a, b) for q, a, b, _ in pairs], labels, groups, options.resamples)


if __name__ == "__main__":
    main()
