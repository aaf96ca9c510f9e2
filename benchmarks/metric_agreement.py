"""Measure the agreement of the embedded metrics with people's labels, with 95 % intervals over questions.

    python benchmarks/metric_agreement.py [DATA]

DATA has `wikicontradict/dev.jsonl` and `qa_feedback/spans.jsonl`. Intervals are percentiles of 2,000
resamples. Chance is 0.5 for an AUC or a share, and 0 for a kappa.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.models import Importance, MetricItem, Nugget, Passage
from judges.metrics.factuality.reasoner import FactReasoner
from judges.metrics.registry import build_metric
from judges.metrics.relations.model import CONTRADICTED_BELOW, SUPPORTED_FROM
from judges.text.sentences import split_sentences

DATA = Path(__file__).parents[1] / "../shared/data"
RESAMPLES = 2_000
LABELS = ("Incorrect", "Partially correct", "Correct")
SEEN = {1: slice(0, 1), 2: slice(1, 2)}
"""Passages behind WikiContradict's second and third answers."""
WRONG = {"Wrong-Grounding", "Unverifiable"}
Array = NDArray[Any]


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON Lines file."""
    if not path.exists():
        sys.exit(f"SKIPPED: {path} does not exist; name the folder of the data.")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def show(
    name: str, statistic: Callable[..., float], questions: Sequence[str], *columns: Array, among: Array
) -> None:
    """Print a statistic of columns with its interval, with questions resampled."""
    selected = np.flatnonzero(among)
    names = np.array(questions)[selected]
    places = [selected[names == question] for question in dict.fromkeys(names)]
    generator = np.random.default_rng(0)
    draws = [
        np.concatenate([places[at] for at in generator.integers(len(places), size=len(places))])
        for _ in range(RESAMPLES)
    ]
    value, *values = [statistic(*(column[rows] for column in columns)) for rows in (selected, *draws)]
    low, high = np.nanquantile(values, [0.025, 0.975])
    print(f"  {name}: {value:.3f} [{low:.3f}-{high:.3f}] of {len(selected)}")


def auc(scores: Array, labels: Array) -> float:
    """Return the probability that a labelled row scores above an unlabelled one."""
    positive, negative = scores[labels], scores[~labels]
    if not len(positive) or not len(negative):
        return float("nan")
    above = (positive[:, None] > negative).sum() + 0.5 * (positive[:, None] == negative).sum()
    return float(above / len(positive) / len(negative))


def kappa(first: Array, second: Array) -> float:
    """Return Cohen's kappa; 0 if chance explains everything."""
    chance = sum((first == label).mean() * (second == label).mean() for label in np.unique([*first, *second]))
    return float(((first == second).mean() - chance) / (1 - chance)) if chance < 1 else 0.0


def scores(name: str, items: Sequence[MetricItem]) -> Array:
    """Return the scores of items, or their completeness if reported; NaN without a score."""
    results = [asyncio.run(build_metric(name).score(item)) for item in items]
    return np.array(
        [result.details.get("completeness", result.score) for result in results], dtype=np.float64
    )


def show_claims(posteriors: Array, true: Array, questions: Sequence[str]) -> None:
    """Print how posteriors of claims compare with labels."""
    print(f"  constant: agreement {true.mean():.3f}, Brier {true.mean() * (1 - true.mean()):.3f}")
    everything, predicted, brier = posteriors >= 0, posteriors > 0.5, (posteriors - true) ** 2
    show("AUC", auc, questions, posteriors, true, among=everything)
    show("Brier", np.mean, questions, brier, among=everything)
    show("agreement", np.mean, questions, predicted == true, among=everything)
    show("kappa", kappa, questions, predicted, true, among=everything)
    low, high = posteriors < CONTRADICTED_BELOW, posteriors >= SUPPORTED_FROM
    show("contradicted claims that are not true", np.mean, questions, ~true, among=low)
    show("claims not confirmed that are true", np.mean, questions, true, among=~low & ~high)
    show("supported claims that are true", np.mean, questions, true, among=high)


def wikicontradict(data: Path) -> None:
    """Compare comprehensiveness with three grades, and factuality with each answer as a claim."""
    items: list[MetricItem] = []
    labels: list[int] = []
    claims: list[tuple[MetricItem, bool]] = []
    for number, row in enumerate(rows_of(data / "wikicontradict" / "dev.jsonl")):
        passages = tuple(Passage(f"context{at}", str(row[f"context{at}_self_contained"])) for at in (1, 2))
        for at in range(5):
            answer, label = str(row[f"answer{at}"]), str(row[f"label{at}"])
            item = MetricItem(
                id=f"{number}.{at}", question=str(row["question"]), answer=answer, passages=passages
            )
            items.append(item)
            # An answer from one passage is at most partially correct for both.
            labels.append(min(LABELS.index(label), 1) if at < 3 else LABELS.index(label))
            if label != LABELS[1] and answer.strip():
                claims.append(
                    (replace(item, passages=passages[SEEN.get(at, slice(0, 2))]), label == LABELS[2])
                )
    truth, questions = np.array(labels), [item.question for item in items]
    for name in ("comprehensiveness-nli", "comprehensiveness-end-to-end"):
        values = np.nan_to_num(scores(name, items))
        grades = np.where(values >= 1, 2, np.where(values <= 0, 0, 1))
        print(f"WikiContradict, {name}; constant: {(truth == 1).mean():.3f}")
        show("label match rate", np.mean, questions, grades == truth, among=truth >= 0)
        show("kappa", kappa, questions, grades, truth, among=truth >= 0)
    reasoner = build_metric("factuality-fr1")
    assert isinstance(reasoner, FactReasoner)
    posteriors = [
        next(iter(asyncio.run(reasoner.assess(item, (item.answer,))).posteriors.marginals.values()))
        for item, _ in claims
    ]
    print("WikiContradict, factuality-fr1")
    show_claims(np.array(posteriors), np.array([true for _, true in claims]), [i.question for i, _ in claims])


def marked_sentences(row: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield an answer's sentences, labelled if wrong or unverifiable."""
    spans = [
        (int(error["start"]), int(error["end"])) for error in row["errors"] if error["error type"] in WRONG
    ]
    answer, at = str(row["answer"]), 0
    for sentence in split_sentences(answer):
        start = max(0, answer.find(sentence[:40], at))
        end = at = start + len(sentence)
        yield sentence, any(min(end, last) - max(start, first) >= 3 for first, last in spans)


def nuggets_of(row: dict[str, Any]) -> tuple[Nugget, ...]:
    """Return the sentences of passages that people labelled as missing."""
    nuggets: dict[str, Importance] = {}
    for entry in row["missing"]:
        title, *sentences = row["passages"][entry["passage_id"] - 1]
        importance = Importance.VITAL if entry["error type"] == "Missing-Answer" else Importance.OKAY
        for number in entry["sentence_id"]:
            if 1 <= number <= len(sentences):
                nuggets.setdefault(sentences[number - 1].removeprefix(f"{title}\n\n"), importance)
    return tuple(Nugget(text, importance) for text, importance in nuggets.items())


def qa_feedback(data: Path) -> None:
    """Compare factuality with labelled sentences, and completeness with missing information."""
    rows = rows_of(data / "qa_feedback" / "spans.jsonl")
    items = [
        MetricItem(
            id=str(row["id"]),
            question=str(row["question"]),
            answer=str(row["answer"]),
            reference=row["reference"],
            passages=tuple(
                Passage(f"p{at}", " ".join(text.removeprefix(f"{title}\n\n") for text in texts), title)
                for at, (title, *texts) in enumerate(row["passages"], start=1)
            ),
            nuggets=nuggets_of(row),
        )
        for row in rows
    ]
    reasoner = build_metric("factuality-fr2")
    assert isinstance(reasoner, FactReasoner)
    claims: list[tuple[float, bool, str]] = []
    for item, row in zip(items, rows, strict=True):
        wrong = dict(marked_sentences(row))
        assessment = asyncio.run(reasoner.assess(item, tuple(wrong)))
        claims += [
            (assessment.posteriors.marginals[claim.id], not wrong[claim.text], item.question)
            for claim in assessment.claims
        ]
    print("QA-Feedback, factuality-fr2")
    posteriors, true, questions_of_claims = zip(*claims, strict=True)
    show_claims(np.array(posteriors), np.array(true), questions_of_claims)
    lacking, questions = np.array([bool(item.nuggets) for item in items]), [item.question for item in items]
    print(f"QA-Feedback, {lacking.sum()} of {len(items)} answers lack information")
    for name in ("comprehensiveness-nli", "comprehensiveness-end-to-end", "reference-coverage"):
        plain = items if name == "reference-coverage" else [replace(item, reference=None) for item in items]
        values = scores(name, plain)
        show(f"AUC of {name}", auc, questions, -values, lacking, among=~np.isnan(values))
    pairs = [
        (item, replace(item, answer=row["corrected"]))
        for item, row in zip(items, rows, strict=True)
        if item.nuggets and row["corrected"].strip()
    ]
    before, after = (scores("nuggets", [pair[side] for pair in pairs]) for side in (0, 1))
    above = (after > before) + 0.5 * (after == before)
    show("nuggets: corrected above", np.mean, [item.question for item, _ in pairs], above, among=above >= 0)


if __name__ == "__main__":
    for measured in (wikicontradict, qa_feedback):
        measured(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
