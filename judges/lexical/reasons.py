"""The reasons for a verdict as JSON text: what each part of two texts gave either answer."""

from __future__ import annotations

import json
import math
from heapq import nlargest
from typing import Any, TypeAlias

from judges.lexical.ground_truth import LexicalGroundTruth
from judges.lexical.scoring import AnswerAnalysis
from judges.lexical.settings import LexicalSettings

MOST_FACTS = 6
LONGEST_FACT = 140
DIGITS = 4
_Row: TypeAlias = tuple[float, float, str, int]
"""What something gave either answer, what it is, and where it stands in its text."""


def compose(
    truth: LexicalGroundTruth,
    a: AnswerAnalysis,
    b: AnswerAnalysis,
    margin: float,
    settings: LexicalSettings,
) -> str:
    """Return the reasons as JSON text.

    Returns:
        `{"yardstick", "a": side, "b": side, "parts": […]}`. A side is `{"score", "coverage", "padding",
        "counts", "covered", "missed", "beyond", "contradicted"}`: facts are `{"text", "passage"}`, the one
        that changed most first; `beyond` are sentences of the answer that the ground truth does not have, and
        `contradicted` are `{"text", "passage", "answer", "kind"}` with the answer's wording. Lists are cut
        at six, `counts` are not. A part is `{"kind", "text", "passage", "a", "b"}`: what it gave either
        answer in units of the margin, which is the sum of b − a over the parts, exact to four decimals.
    """
    record = {
        "yardstick": truth.kind.value,
        "a": _side(truth, a, b, settings.covered_from),
        "b": _side(truth, b, a, settings.covered_from),
        "parts": _parts(truth, a, b, margin, settings),
    }
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def _parts(
    truth: LexicalGroundTruth,
    a: AnswerAnalysis,
    b: AnswerAnalysis,
    margin: float,
    settings: LexicalSettings,
) -> list[dict[str, Any]]:
    """The parts of both scores that changed most, and one for the rest, so that their sum is the margin."""
    unit = margin / (b.score - a.score) if margin else 1 / settings.scale
    rows: list[_Row] = [
        (unit * ours, unit * theirs, "sentence", at)
        for at, (ours, theirs) in enumerate(zip(a.credits, b.credits, strict=True))
    ]
    rows += [(unit * cost, 0.0, "a", at) for at, cost in enumerate(a.costs)]
    rows += [(0.0, unit * cost, "b", at) for at, cost in enumerate(b.costs)]
    ours, theirs = dict(a.adjustments), dict(b.adjustments)
    rows += [
        (unit * ours.get(kind, 0.0), unit * theirs.get(kind, 0.0), kind.value, -1)
        for kind in dict.fromkeys((*ours, *theirs))
    ]
    most = nlargest(2 * MOST_FACTS, rows, key=lambda row: abs(row[1] - row[0]))
    shown = [part for row in most if (part := _part(row, truth, a, b))["b"] - part["a"]]
    rest = round(math.fsum(row[0] for row in rows) - math.fsum(part["a"] for part in shown), DIGITS)
    missing = round(margin - math.fsum(part["b"] - part["a"] for part in shown) + rest, DIGITS)
    return [*shown, {"kind": "rest", "a": rest, "b": missing}] if rest or missing else shown


def _part(row: _Row, truth: LexicalGroundTruth, a: AnswerAnalysis, b: AnswerAnalysis) -> dict[str, Any]:
    """A row as JSON: a sentence of the ground truth, one of an answer beyond it, or another thing."""
    ours, theirs, kind, at = row
    values = {"a": round(ours, DIGITS), "b": round(theirs, DIGITS)}
    if kind == "sentence":
        return {"kind": kind, **_fact(truth, at), **values}
    if at >= 0:
        return {"kind": "beyond", "text": _cut((a if kind == "a" else b).sentences[at]), **values}
    return {"kind": kind, **values}


def _side(
    truth: LexicalGroundTruth, own: AnswerAnalysis, other: AnswerAnalysis, covered_from: float
) -> dict[str, object]:
    """One answer's facts; those that tell the two answers apart come first."""
    apart = [abs(ours - theirs) for ours, theirs in zip(own.credits, other.credits, strict=True)]
    order = sorted(range(len(apart)), key=lambda at: (-round(apart[at], 9), at))
    covered = [at for at in order if own.shares[at] >= covered_from]
    missed = [at for at in order if own.shares[at] < covered_from]
    beyond = sorted((at for at, cost in enumerate(own.costs) if cost < 0), key=own.costs.__getitem__)
    return {
        "score": round(own.score, DIGITS),
        "coverage": round(own.coverage, DIGITS),
        "padding": round(own.padding, DIGITS),
        "counts": {
            "covered": len(covered),
            "missed": len(missed),
            "beyond": len(beyond),
            "contradicted": len(own.contradictions),
        },
        "covered": [_fact(truth, at) for at in covered[:MOST_FACTS]],
        "missed": [_fact(truth, at) for at in missed[:MOST_FACTS]],
        "beyond": [{"text": _cut(own.sentences[at])} for at in beyond[:MOST_FACTS]],
        "contradicted": [
            {
                "text": _cut(each.against.text),
                "passage": each.against.source,
                "answer": _cut(each.statement.text),
                "kind": each.kind.value,
            }
            for each in own.contradictions[:MOST_FACTS]
        ],
    }


def _fact(truth: LexicalGroundTruth, at: int) -> dict[str, str]:
    point = truth.points[at]
    return {"text": _cut(point.sentence.text), "passage": point.source}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_FACT else f"{text[: LONGEST_FACT - 1].rstrip()}…"
