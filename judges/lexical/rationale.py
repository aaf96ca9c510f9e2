"""The embedded judge's reasons, short enough to be stored with every judgment."""

from __future__ import annotations

import json

from judges.lexical.analysis import AnswerAnalysis
from judges.lexical.settings import LexicalSettings
from judges.text.yardstick import YardstickText

MOST_FACTS = 6
LONGEST_FACT = 140


def compose(
    yardstick: YardstickText, kind: str, a: AnswerAnalysis, b: AnswerAnalysis, settings: LexicalSettings
) -> str:
    """Return the reasons as JSON text.

    Returns:
        `{"yardstick", "a": side, "b": side}`, a side being `{"score", "coverage", "covered", "missed",
        "contradicted", "padding", "counts"}`. Facts are `{"text", "passage"}`, the most telling
        first; contradicted ones are `{"text", "passage", "answer", "kind"}` with the answer's wording.
        Lists are cut at six, `counts` are not.
    """
    sides = {
        "a": _side(yardstick, a, b, settings.covered_from),
        "b": _side(yardstick, b, a, settings.covered_from),
    }
    return json.dumps({"yardstick": kind, **sides}, ensure_ascii=False, separators=(",", ":"))


def compose_empty(a_says_nothing: bool, b_says_nothing: bool) -> str:
    """Return the reasons where an answer says nothing, as JSON text."""
    said = {True: "no answer", False: "an answer"}
    return json.dumps({"yardstick": "none", "a": said[a_says_nothing], "b": said[b_says_nothing]})


def _side(
    yardstick: YardstickText, own: AnswerAnalysis, other: AnswerAnalysis, covered_from: float
) -> dict[str, object]:
    """One answer's facts; those that tell the two answers apart come first."""
    contradicted = {found.against.text for found in own.contradictions}
    matter = yardstick.masses * yardstick.relevance
    apart = matter * abs(own.shares - other.shares)
    order = sorted(range(len(matter)), key=lambda at: (-round(float(apart[at]), 9), at))
    covered = [at for at in order if own.shares[at] >= covered_from]
    missed = [at for at in order if own.shares[at] < covered_from]
    missed = [at for at in missed if yardstick.statements[at].text not in contradicted]
    return {
        "score": round(own.score, 4),
        "coverage": round(own.coverage, 4),
        "padding": round(own.padding, 4),
        "counts": {"covered": len(covered), "missed": len(missed), "contradicted": len(own.contradictions)},
        "covered": [_fact(yardstick, at) for at in covered[:MOST_FACTS]],
        "missed": [_fact(yardstick, at) for at in missed[:MOST_FACTS]],
        "contradicted": [
            {
                "text": _cut(found.against.text),
                "passage": found.against.source,
                "answer": _cut(found.statement.text),
                "kind": found.kind.value,
            }
            for found in own.contradictions[:MOST_FACTS]
        ],
    }


def _fact(yardstick: YardstickText, at: int) -> dict[str, str]:
    statement = yardstick.statements[at]
    return {"text": _cut(statement.text), "passage": statement.source}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_FACT else f"{text[: LONGEST_FACT - 1].rstrip()}…"
