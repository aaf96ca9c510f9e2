"""Train and check the embedded relation model on labels of real answers.

    python benchmarks/relations.py train [DATA]    # writes judges/metrics/relations/head.toml
    python benchmarks/relations.py check [DATA]    # prints every figure
    python benchmarks/relations.py thresholds [DATA]    # comprehensiveness with thresholds held out

DATA has `wikicontradict/dev.jsonl` and `qa_feedback/spans.jsonl`. The head is fitted on WikiContradict alone
and checked on QA-Feedback, which it never sees; figures on WikiContradict are by cross-validation, one
question left out at a time. Intervals are percentiles of 2,000 resamples of questions, 95 %.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from relation_data import DATA, LabelledPair, MarkedAnswer, marked_answers, wiki_pairs
from scipy.optimize import minimize

from data.records import MetricItem
from judges.metrics.comprehensiveness import answering
from judges.metrics.comprehensiveness.meta_evaluation import evaluate_wikicontradict, label_of
from judges.metrics.comprehensiveness.meta_files import Label, read_wikicontradict
from judges.metrics.factuality.lexical import LexicalRelations, notice
from judges.metrics.factuality.reasoner import FactReasoner
from judges.metrics.registry import Metric, build_metric
from judges.metrics.relations.head import COEFFICIENTS, Head, Noticed, trained_head
from judges.metrics.relations.model import Related
from judges.text.entailment import Entailment

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
COMPREHENSIVENESS = ("comprehensiveness-nli", "comprehensiveness-end-to-end")
RIDGE = 1.0
PRECISION = 0.85
RESAMPLES = 2_000
FEATURES = ("mark", "swap", "slot", "asked")
CLOSE, SIDES = (0.3, 0.4, 0.5), (0.5, 0.65, 0.8)
BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


def features_of(pairs: Sequence[LabelledPair]) -> list[Floats]:
    """For each pair one row a sentence of its hypothesis, (sentences, 4)."""
    rows = []
    for each in pairs:
        noticed = notice(each.pair, question=each.question)
        rows.append(np.array([one.values() for one in noticed] or [(0.0,) * len(FEATURES)]))
    return rows


def fit(rows: Floats, labels: Flags) -> Floats:
    """Logistic regression with a ridge, weights not below 0: whatever is noticed speaks for a contradiction.

    Returns:
        The intercept and the weights.
    """

    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = weights[0] + rows @ weights[1:]
        signs = np.where(labels, 1.0, -1.0)
        value = np.logaddexp(0, -signs * odds).sum() + RIDGE * (weights[1:] ** 2).sum() / 2
        slope = -signs / (1 + np.exp(signs * odds))
        ridge = RIDGE * weights[1:]
        return float(value), np.concatenate([[slope.sum()], rows.T @ slope + ridge])

    bounds = [(None, None), *[(0.0, None)] * rows.shape[1]]
    return np.asarray(minimize(loss, np.zeros(rows.shape[1] + 1), jac=True, bounds=bounds).x)


def surest(rows: Sequence[Floats], weights: Floats) -> Floats:
    """For each pair the probability of the sentence that is likeliest contradicted."""
    named = dict(zip(("intercept", *FEATURES), weights.tolist(), strict=True))
    head = Head(**named, contradicted_from=0.5)
    return np.array(
        [
            max(head.probability(Noticed(**dict(zip(FEATURES, one, strict=True)))) for one in row)
            for row in rows
        ]
    )


def cross_validated(rows: Sequence[Floats], labels: Flags, questions: Sequence[str]) -> Floats:
    """Probabilities of pairs, each by a head that has not seen its question."""
    scores = np.zeros(len(labels))
    most = np.array([row[row.sum(axis=1).argmax()] for row in rows])
    for question in dict.fromkeys(questions):
        held = np.array([each == question for each in questions])
        weights = fit(most[~held], labels[~held])
        scores[held] = surest([row for row, out in zip(rows, held, strict=True) if out], weights)
    return scores


def threshold_for(scores: Floats, labels: Flags, precision: float) -> float:
    """The lowest score from which on the given precision is kept."""
    order = np.argsort(-scores, kind="stable")
    share = np.cumsum(labels[order]) / np.arange(1, len(order) + 1)
    # Between two equal scores there is no threshold.
    ends = np.append(np.diff(scores[order]) != 0, True)
    kept = np.flatnonzero((share >= precision) & ends)
    return float(scores[order][kept[-1]]) if len(kept) else 1.0


def interval(statistic: Callable[[NDArray[np.intp]], float], questions: Sequence[str]) -> str:
    """A statistic of rows with its interval, whole questions resampled."""
    names = np.array(questions)
    places = [np.flatnonzero(names == name) for name in dict.fromkeys(questions)]
    generator = np.random.default_rng(0)
    draws = []
    for _ in range(RESAMPLES):
        drawn = generator.integers(len(places), size=len(places))
        draws.append(statistic(np.concatenate([places[at] for at in drawn])))
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return f"{statistic(np.arange(len(names))):.3f} [{low:.3f}-{high:.3f}]"


def auc(scores: Floats, labels: Flags) -> float:
    """The chance that a labelled row scores above another one."""
    ones, others = scores[labels], scores[~labels]
    if not len(ones) or not len(others):
        return float("nan")
    above = (ones[:, None] > others).sum() + 0.5 * (ones[:, None] == others).sum()
    return float(above / len(ones) / len(others))


def train(data: Path) -> None:
    """Fit the head on all pairs of WikiContradict and write it."""
    pairs = wiki_pairs(data)
    labels, questions = np.array([pair.contradicted for pair in pairs]), [pair.question for pair in pairs]
    rows = features_of(pairs)
    held_out = cross_validated(rows, labels, questions)
    weights = fit(np.array([row[row.sum(axis=1).argmax()] for row in rows]), labels)
    threshold = threshold_for(held_out, labels, PRECISION)
    lines = [
        "# Written by `python benchmarks/relations.py train`. Its figures: docs/method/factuality.md.",
        f"# Fitted on {len(labels)} pairs of {len(set(questions))} questions of WikiContradict (MIT), half",
        "# of them contradictions; the threshold is the lowest at which 85 % hold (cross-validated), or 0.5.",
        "[coefficients]",
        f"intercept = {weights[0]:.4f}",
        *(f"{name} = {weight:.4f}" for name, weight in zip(FEATURES, weights[1:], strict=True)),
        f"contradicted_from = {max(threshold, 0.5):.4f}",
    ]
    COEFFICIENTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def check(data: Path) -> None:
    """Print every figure."""
    answers = list(marked_answers(data))
    check_pairs(data)
    check_claims(answers)
    for name in COMPREHENSIVENESS:
        check_missing(name, answers)
    check_comprehensiveness(data)


def check_pairs(data: Path) -> None:
    """Print how well contradictions are told on WikiContradict's pairs."""
    pairs = wiki_pairs(data)
    labels, questions = np.array([pair.contradicted for pair in pairs]), [pair.question for pair in pairs]
    held_out = cross_validated(features_of(pairs), labels, questions)
    threshold = threshold_for(held_out, labels, PRECISION)
    _print_told(f"cross-validated, from {threshold:.3f}", held_out >= threshold, labels, questions)
    kept = trained_head().contradicted_from
    _print_told(f"cross-validated, from {kept:.3f}", held_out >= kept, labels, questions)
    found = [asyncio.run(LexicalRelations().relate([pair.pair], question=pair.question))[0] for pair in pairs]
    stances = [one.stance if isinstance(one, Related) else Entailment.NEUTRAL for one in found]
    told = np.array([stance == Entailment.CONTRADICTION for stance in stances])
    _print_told("as it is", told, labels, questions)
    signs = {Entailment.ENTAILMENT: 1.0, Entailment.CONTRADICTION: -1.0, Entailment.NEUTRAL: 0.0}
    signed = np.array(
        [signs[stance] * getattr(one, "probability", 0.0) for stance, one in zip(stances, found, strict=True)]
    )
    ranked = interval(lambda rows: auc(signed[rows], ~labels[rows]), questions)
    print(f"  AUC of entailed against contradicted {ranked}")


def _print_told(name: str, told: Flags, labels: Flags, questions: Sequence[str]) -> None:
    print(f"WikiContradict, {len(labels)} pairs, contradictions, {name}:")
    recall = interval(lambda rows: float((told & labels)[rows].sum() / labels[rows].sum()), questions)
    right = interval(lambda rows: float((told & labels)[rows].sum() / max(1, told[rows].sum())), questions)
    print(f"  recall {recall}, precision {right}")


def check_claims(answers: Sequence[MarkedAnswer]) -> None:
    """Print how factuality-fr2's posteriors and contradictions stand to what people marked as wrong."""
    metric = build_metric("factuality-fr2")
    assert isinstance(metric, FactReasoner)
    posteriors, true, told, questions = [], [], [], []
    for answer in answers:
        assessment = asyncio.run(metric.assess(answer.item, answer.sentences))
        against = {
            link.edge.target for link in assessment.links if link.edge.relation.value == "contradiction"
        }
        wrong_by_text = dict(zip(answer.sentences, answer.wrong, strict=True))
        for claim in assessment.claims:
            wrong = wrong_by_text[claim.text]
            posteriors.append(assessment.posteriors.marginals[claim.id])
            true.append(not wrong)
            told.append(claim.id in against)
            questions.append(answer.item.question)
    scores, labels, contradicted = np.array(posteriors), np.array(true), np.array(told)
    print(f"QA-Feedback, {len(labels)} sentences, {(~labels).sum()} marked as wrong or unverifiable:")
    print(f"  AUC of posteriors {interval(lambda rows: auc(scores[rows], labels[rows]), questions)}")
    brier = interval(lambda rows: float(((scores[rows] - labels[rows]) ** 2).mean()), questions)
    share = labels.mean()
    print(f"  Brier {brier}; constant {share:.3f}: {share * (1 - share):.3f}")
    said = scores > 0.5
    agreed = interval(lambda rows: _kappa(said[rows], labels[rows]), questions)
    print(f"  supported or not against the labels: agreement {(said == labels).mean():.3f}, kappa {agreed}")
    print(f"  always supported: agreement {share:.3f}, kappa 0")
    print(
        f"  supported of those that stand {said[labels].mean():.3f}, of the marked {said[~labels].mean():.3f}"
    )
    held = interval(lambda rows: float((~labels)[rows][contradicted[rows]].mean()), questions)
    print(f"  contradicted {contradicted.sum()}: marked of them {held} (of all {1 - share:.3f})")
    print(f"  of the marked, contradicted: {contradicted[~labels].mean():.3f}")
    print("  calibration, posterior: mean, true, sentences")
    for low, high in pairwise(BINS):
        inside = (scores >= low) & ((scores < high) | (high == 1))
        if inside.any():
            row = f"{scores[inside].mean():.3f}, {labels[inside].mean():.3f}, {inside.sum()}"
            print(f"    {low:.1f}-{high:.1f}: {row}")


def check_missing(name: str, answers: Sequence[MarkedAnswer]) -> None:
    """Print how a metric of comprehensiveness stands to what people marked as missing."""
    metric = build_metric(name)
    scores, lacking, questions = [], [], []
    listed: list[bool] = []
    marked: list[bool] = []
    asked: list[str] = []
    for answer in answers:
        score = asyncio.run(metric.score(answer.item))
        if score.score is None:
            continue
        scores.append(score.score)
        lacking.append(bool(answer.missing))
        questions.append(answer.item.question)
        stated = [(text, True) for text in _texts(score.details["missing"])]
        stated += [(text, False) for text in _texts(score.details["covered"])]
        gone = " ".join(text for _, text in answer.missing)
        for text, out in stated:
            listed.append(out)
            marked.append(text in gone)
            asked.append(answer.item.question)
    values, labels = np.array(scores), np.array(lacking)
    print(f"QA-Feedback, {name}, {len(values)} answers, {labels.sum()} of which lack something:")
    print(f"  AUC of 1 - score {interval(lambda rows: auc(-values[rows], labels[rows]), questions)}")
    out_flags, gone_flags = np.array(listed), np.array(marked)
    found = interval(lambda rows: float(out_flags[rows][gone_flags[rows]].mean()), asked)
    others = out_flags[~gone_flags].mean()
    print(f"  of {gone_flags.sum()} statements marked as missing, listed {found}; of all others {others:.3f}")
    kappa = interval(lambda rows: _kappa(out_flags[rows], gone_flags[rows]), asked)
    print(f"  listed against marked: kappa {kappa}; always listed: 0")


def _texts(facts: Any) -> list[str]:  # noqa: ANN401 - JSON
    return [fact["text"] for fact in facts]


def _kappa(one: Flags, other: Flags) -> float:
    agreed = (one == other).mean()
    chance = one.mean() * other.mean() + (1 - one.mean()) * (1 - other.mean())
    return float((agreed - chance) / (1 - chance)) if chance < 1 else 0.0


def check_comprehensiveness(data: Path) -> None:
    """Print WikiContradict's label match rates."""
    lines = (data / "wikicontradict" / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    items = read_wikicontradict([json.loads(line) for line in lines], where="dev.jsonl")
    for name in COMPREHENSIVENESS:
        found = asyncio.run(evaluate_wikicontradict(build_metric(name), items, resamples=RESAMPLES))
        parts = [
            f"{key} {value.value:.3f} [{value.over_questions.lower:.3f}-{value.over_questions.upper:.3f}]"
            for key, value in found.estimates.items()
        ]
        print(f"WikiContradict, {name}: {', '.join(parts)}; constant {found.baseline}")
        print(f"  confusion {found.confusion}")


def thresholds(data: Path) -> None:
    """Print comprehensiveness's kappa on WikiContradict by thresholds that have not seen the question."""
    lines = (data / "wikicontradict" / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    items = read_wikicontradict([json.loads(line) for line in lines], where="dev.jsonl")
    truth = np.array([item.label for item in items], dtype=object)
    questions = np.array([item.item.question for item in items])
    chosen = (answering.AS_CLOSE, answering.TAKES_SIDES)
    for name in COMPREHENSIVENESS:
        metric = build_metric(name)
        told: dict[tuple[float, float], NDArray[Any]] = {}
        for told_by in product(CLOSE, SIDES):
            answering.AS_CLOSE, answering.TAKES_SIDES = told_by
            told[told_by] = _labelled(metric, [item.item for item in items])
        answering.AS_CLOSE, answering.TAKES_SIDES = chosen
        held_out = np.empty(len(items), dtype=object)
        for question in dict.fromkeys(questions):
            out = questions == question
            best = max(told, key=lambda key: _kappa_of(told[key][~out], truth[~out]))
            held_out[out] = told[best][out]
        every = [_kappa_of(row, truth) for row in told.values()]
        print(f"{name}: thresholds {CLOSE} x {SIDES}, kappa {min(every):.3f} to {max(every):.3f}")
        for said, row in (("as it is", told[chosen]), ("held out", held_out)):
            agreed = partial(_kappa_at, row, truth)
            kappa = interval(agreed, list(questions))
            print(f"  {said}: kappa {kappa}")


def _kappa_at(said: NDArray[Any], truth: NDArray[Any], rows: NDArray[Any]) -> float:
    return _kappa_of(said[rows], truth[rows])


def _labelled(metric: Metric, items: Sequence[MetricItem]) -> NDArray[Any]:
    scores = [asyncio.run(metric.score(item)).score for item in items]
    return np.array([label_of(score or 0.0) for score in scores], dtype=object)


def _kappa_of(one: NDArray[Any], other: NDArray[Any]) -> float:
    chance = sum((one == label).mean() * (other == label).mean() for label in Label)
    return float(((one == other).mean() - chance) / (1 - chance)) if chance < 1 else 0.0


if __name__ == "__main__":
    {"train": train, "check": check, "thresholds": thresholds}[sys.argv[1]](
        Path(sys.argv[2]) if len(sys.argv) > 2 else DATA
    )
