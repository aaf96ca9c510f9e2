"""Measure how often the embedded version of factuality is right, and write it where pages read it.

    python benchmarks/relation_figures.py [DATA]    # writes judges/metrics/relations/figures.json

DATA is as in `relations.py`. Due with every new version of the engine; a test compares the two. Intervals
are percentiles of 2,000 resamples of questions, 95 %.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from nuggets import items_of
from numpy.typing import NDArray
from relation_data import DATA, MarkedAnswer, marked_answers, wiki_pairs
from relations import RESAMPLES, Flags, Floats, auc, cross_validated, features_of

from data.records import EMBEDDED_ENGINE, MetricItem
from judges.metrics.comprehensiveness.meta_evaluation import evaluate_wikicontradict
from judges.metrics.comprehensiveness.meta_files import read_wikicontradict
from judges.metrics.factuality.measures import calibration_curve
from judges.metrics.factuality.meta_evaluation import ClaimAssessor
from judges.metrics.factuality.meta_files import read_labelled_claims
from judges.metrics.factuality.reasoner import FactReasoner
from judges.metrics.registry import build_metric
from judges.metrics.relations.figures import (
    CONTRADICTED_BELOW,
    RECORD,
    SUPPORTED_FROM,
    Figures,
    Measured,
    OnClaims,
    OnMissing,
    Tenth,
    Verdict,
    verdict_of,
)
from judges.metrics.relations.head import trained_head

WIKI = "WikiContradict's shared half"
FEEDBACK = "QA-Feedback"
DIGITS = 4


@dataclass(frozen=True)
class Claims:
    """Posteriors of claims with people's labels.

    Attributes:
        posteriors: 0–1.
        true: By people.
        questions: Of each claim.
        against: Whether some passage is told to contradict it.
    """

    posteriors: Floats
    true: Flags
    questions: Sequence[str]
    against: Flags


def measured(
    statistic: Callable[[NDArray[np.intp]], float], questions: Sequence[str], among: Flags
) -> Measured:
    """A statistic of some rows with its interval, whole questions resampled."""
    kept = np.flatnonzero(among)
    names = np.array(questions)[kept]
    places = [kept[names == name] for name in dict.fromkeys(names)]
    generator = np.random.default_rng(0)
    draws = [
        statistic(np.concatenate([places[at] for at in generator.integers(len(places), size=len(places))]))
        for _ in range(RESAMPLES)
    ]
    lower, upper = np.nanquantile(draws, [0.025, 0.975])
    return Measured(
        value=round(statistic(kept), DIGITS),
        lower=round(float(lower), DIGITS),
        upper=round(float(upper), DIGITS),
        of=len(kept),
    )


def wiki_claims(data: Path) -> Claims:
    """Each answer of WikiContradict as a claim beside the passages that it saw."""
    lines = (data / "wikicontradict" / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    metric = build_metric("factuality-fr1")
    assert isinstance(metric, ClaimAssessor)
    rows = []
    for labelled in read_labelled_claims([json.loads(line) for line in lines], where="dev.jsonl"):
        score = asyncio.run(metric.score_claims(labelled.item, labelled.claims))
        claims = score.details["claims"]
        assert isinstance(claims, list)
        for claim, true in zip(claims, labelled.truths, strict=True):
            assert isinstance(claim, dict)
            rows.append((claim["posterior"], true, labelled.item.question, bool(claim["against"])))
    return _claims(rows)


def feedback_claims(answers: Sequence[MarkedAnswer]) -> Claims:
    """Each sentence of QA-Feedback's answers beside its question's passages; true is what nobody marked."""
    metric = build_metric("factuality-fr2")
    assert isinstance(metric, FactReasoner)
    rows = []
    for answer in answers:
        assessment = asyncio.run(metric.assess(answer.item, answer.sentences))
        against = {link.edge.target for link in assessment.links if link.edge.relation == "contradiction"}
        wrong = dict(zip(answer.sentences, answer.wrong, strict=True))
        rows += [
            (
                assessment.posteriors.marginals[claim.id],
                not wrong[claim.text],
                answer.item.question,
                claim.id in against,
            )
            for claim in assessment.claims
        ]
    return _claims(rows)


def _claims(rows: Sequence[tuple[object, ...]]) -> Claims:
    posteriors, true, questions, against = zip(*rows, strict=True)
    return Claims(np.array(posteriors), np.array(true), questions, np.array(against))


def on_claims(data: str, claims: Claims) -> OnClaims:
    """Every figure of one data set."""
    posteriors, true, questions = claims.posteriors, claims.true, claims.questions
    said = np.array([verdict_of(posterior) for posterior in posteriors])
    sides = posteriors > 0.5
    everything = np.ones(len(true), dtype=np.bool_)

    def share(flags: Flags, verdict: Verdict) -> Measured:
        return measured(lambda rows: float(flags[rows].mean()), questions, said == verdict)

    return OnClaims(
        data=data,
        claims=len(true),
        questions=len(set(questions)),
        true=round(float(true.mean()), DIGITS),
        contradicted=share(~true, Verdict.CONTRADICTED),
        unconfirmed=share(true, Verdict.UNCONFIRMED),
        supported=share(true, Verdict.SUPPORTED),
        auc=measured(lambda rows: auc(posteriors[rows], true[rows]), questions, everything),
        brier=measured(lambda rows: float(((posteriors - true)[rows] ** 2).mean()), questions, everything),
        constant_brier=round(float(true.mean() * (1 - true.mean())), DIGITS),
        agreement=measured(lambda rows: float((sides == true)[rows].mean()), questions, everything),
        kappa=measured(lambda rows: _kappa(sides[rows], true[rows]), questions, everything),
        calibration=tuple(
            Tenth(**{name: round(value, DIGITS) for name, value in asdict(one).items()})
            for one in calibration_curve(posteriors.tolist(), true.tolist())
        ),
    )


def on_missing(answers: Sequence[MarkedAnswer]) -> OnMissing:
    """Comprehensiveness beside the sentences of the passages that people marked as missing."""
    metric = build_metric("comprehensiveness-nli")
    scored: list[tuple[float, bool, str]] = []
    stated: list[tuple[bool, bool, str]] = []
    for answer in answers:
        score = asyncio.run(metric.score(answer.item))
        if score.score is None:
            continue
        scored.append((score.score, bool(answer.missing), answer.item.question))
        gone = " ".join(text for _, text in answer.missing)
        for name in ("missing", "covered"):
            statements = score.details[name]
            assert isinstance(statements, list)
            for statement in statements:
                assert isinstance(statement, dict)
                stated.append((name == "missing", str(statement["text"]) in gone, answer.item.question))
    values, lacking, questions = (np.array(column) for column in zip(*scored, strict=True))
    listed, marked, asked = (np.array(column) for column in zip(*stated, strict=True))
    everything = np.ones(len(values), dtype=np.bool_)

    def share(among: Flags) -> Measured:
        return measured(lambda rows: float(listed[rows].mean()), list(asked), among)

    return OnMissing(
        data=FEEDBACK,
        answers=len(values),
        lacking=round(float(lacking.mean()), DIGITS),
        auc=measured(lambda rows: auc(-values[rows], lacking[rows]), list(questions), everything),
        marked=share(marked),
        others=share(~marked),
        kappa=measured(
            lambda rows: _kappa(listed[rows], marked[rows]), list(asked), np.ones(len(asked), dtype=np.bool_)
        ),
    )


def lacking(data: Path, answers: Sequence[MarkedAnswer]) -> Measured:
    """How well reference coverage tells answers that people found lacking information."""
    lines = (data / "qa_feedback" / "spans.jsonl").read_text(encoding="utf-8").splitlines()
    references = {row["id"]: row["reference"] for row in map(json.loads, lines)}
    metric = build_metric("reference-coverage")
    items = [
        MetricItem(
            id=answer.item.id,
            question=answer.item.question,
            answer=answer.item.answer,
            reference=references[answer.item.id],
        )
        for answer in answers
    ]
    values = np.array([asyncio.run(metric.score(item)).score for item in items], dtype=np.float64)
    labels = np.array([bool(answer.missing) for answer in answers])
    questions = [item.question for item in items]
    everything = np.ones(len(values), dtype=np.bool_)
    return measured(lambda rows: auc(-values[rows], labels[rows]), questions, everything)


def stated(data: Path) -> Measured:
    """How often an answer that lacks marked nuggets scores below the same answer as people corrected it."""
    lines = (data / "qa_feedback" / "spans.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [pair for row in map(json.loads, lines) if (pair := items_of(row)) is not None]
    metric = build_metric("nuggets")
    sides = [[asyncio.run(metric.score(pair[side])).score or 0.0 for pair in pairs] for side in (0, 1)]
    before, after = map(np.array, sides)
    above = (after > before) + 0.5 * (after == before)
    questions = [pair[0].question for pair in pairs]
    return measured(lambda rows: float(above[rows].mean()), questions, np.ones(len(pairs), dtype=np.bool_))


def graded(data: Path) -> Measured:
    """How comprehensiveness agrees with people's three grades, beyond chance."""
    lines = (data / "wikicontradict" / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    items = read_wikicontradict([json.loads(line) for line in lines], where="dev.jsonl")
    metric = build_metric("comprehensiveness-nli")
    kappa = asyncio.run(evaluate_wikicontradict(metric, items, resamples=RESAMPLES)).estimates["kappa"]
    ends = kappa.over_questions
    return Measured(
        value=round(kappa.value, DIGITS),
        lower=round(ends.lower, DIGITS),
        upper=round(ends.upper, DIGITS),
        of=len(items),
    )


def _kappa(one: Flags, other: Flags) -> float:
    chance = one.mean() * other.mean() + (1 - one.mean()) * (1 - other.mean())
    return float(((one == other).mean() - chance) / (1 - chance)) if chance < 1 else 0.0


def figures(data: Path) -> Figures:
    """Measure everything."""
    pairs = wiki_pairs(data)
    labels, questions = np.array([pair.contradicted for pair in pairs]), [pair.question for pair in pairs]
    told = cross_validated(features_of(pairs), labels, questions) >= trained_head().contradicted_from
    answers = list(marked_answers(data))
    feedback = feedback_claims(answers)
    return Figures(
        engine=EMBEDDED_ENGINE,
        contradicted_below=CONTRADICTED_BELOW,
        supported_from=SUPPORTED_FROM,
        held=measured(lambda rows: float(labels[rows].mean()), questions, told),
        found=measured(lambda rows: float(told[rows].mean()), questions, labels),
        against_some=measured(
            lambda rows: float((~feedback.true)[rows].mean()), feedback.questions, feedback.against
        ),
        claims=(on_claims(WIKI, wiki_claims(data)), on_claims(FEEDBACK, feedback)),
        missing=on_missing(answers),
        lacking=lacking(data, answers),
        graded=graded(data),
        stated=stated(data),
    )


if __name__ == "__main__":
    record = figures(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
    RECORD.write_text(json.dumps(record.model_dump(), indent=1) + "\n", encoding="utf-8")
    print(RECORD.read_text(encoding="utf-8"))
