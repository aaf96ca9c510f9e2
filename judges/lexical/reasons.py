"""The reasons for a verdict as JSON text: what each part of two texts gave either answer."""

from __future__ import annotations

import json
from dataclasses import dataclass

from judges.lexical.analysis import AnswerAnalysis
from judges.lexical.settings import LexicalSettings
from judges.lexical.yardstick import LexicalYardstick

MOST_FACTS = 6
LONGEST_FACT = 140
DIGITS = 4


@dataclass(frozen=True, slots=True)
class _Part:
    """Something that gave either answer so much of the margin."""

    kind: str
    text: str
    passage: str
    a: float
    b: float

    @property
    def change(self) -> float:
        return self.b - self.a

    def as_json(self) -> dict[str, object]:
        named = {"text": _cut(self.text)} if self.text else {}
        source = {"passage": self.passage} if self.passage else {}
        return {"kind": self.kind, **named, **source, "a": self.a, "b": self.b}


def compose(
    yardstick: LexicalYardstick,
    a: AnswerAnalysis,
    b: AnswerAnalysis,
    margin: float,
    settings: LexicalSettings,
) -> str:
    """Return the reasons as JSON text.

    Returns:
        `{"yardstick", "a": side, "b": side, "parts": […]}`. A side is `{"score", "coverage", "padding",
        "counts", "covered", "missed", "beyond", "contradicted"}`: facts are `{"text", "passage"}`, the one
        that changed most first; `beyond` are sentences of the answer that the yardstick does not have, and
        `contradicted` are `{"text", "passage", "answer", "kind"}` with the answer's wording. Lists are cut
        at six, `counts` are not. A part is `{"kind", "text", "passage", "a", "b"}`: what it gave either
        answer in units of the margin, which is the sum of b − a over the parts, exact to four decimals.
    """
    parts = _shown(_parts(yardstick, a, b, margin, settings), margin)
    record = {
        "yardstick": yardstick.kind.value,
        "a": _side(yardstick, a, b, settings.covered_from),
        "b": _side(yardstick, b, a, settings.covered_from),
        "parts": [part.as_json() for part in parts],
    }
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def _parts(
    yardstick: LexicalYardstick,
    a: AnswerAnalysis,
    b: AnswerAnalysis,
    margin: float,
    settings: LexicalSettings,
) -> list[_Part]:
    """Every part of both scores, in units of the margin, the one that changed most first."""
    difference = b.score - a.score
    unit = margin / difference if margin else 1 / settings.scale
    parts = [
        _part("sentence", point.sentence.text, point.source, unit * ours, unit * theirs)
        for point, ours, theirs in zip(yardstick.points, a.credits, b.credits, strict=True)
    ]
    for side, analysis in (("a", a), ("b", b)):
        own = [
            ("beyond", text, "", cost) for text, cost in zip(analysis.sentences, analysis.costs, strict=True)
        ]
        own += [(kind.value, "", "", amount) for kind, amount in analysis.adjustments]
        parts += [
            _part(kind, text, source, *((unit * amount, 0.0) if side == "a" else (0.0, unit * amount)))
            for kind, text, source, amount in own
        ]
    return sorted(parts, key=lambda part: -abs(part.change))


def _part(kind: str, text: str, passage: str, a: float, b: float) -> _Part:
    return _Part(kind, text, passage, round(a, DIGITS), round(b, DIGITS))


def _shown(parts: list[_Part], margin: float) -> list[_Part]:
    """The parts that changed most, and one that holds the rest, so that their sum is the margin."""
    shown = [part for part in parts[: 2 * MOST_FACTS] if part.change]
    rest = parts[len(shown) :]
    ours = round(sum(part.a for part in rest), DIGITS)
    missing = round(margin - sum(part.change for part in shown) + ours, DIGITS)
    return [*shown, _Part("rest", "", "", ours, missing)] if ours or missing else shown


def _side(
    yardstick: LexicalYardstick, own: AnswerAnalysis, other: AnswerAnalysis, covered_from: float
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
        "covered": [_fact(yardstick, at) for at in covered[:MOST_FACTS]],
        "missed": [_fact(yardstick, at) for at in missed[:MOST_FACTS]],
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


def _fact(yardstick: LexicalYardstick, at: int) -> dict[str, str]:
    point = yardstick.points[at]
    return {"text": _cut(point.sentence.text), "passage": point.source}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_FACT else f"{text[: LONGEST_FACT - 1].rstrip()}…"
