"""What a judge wrote down, made readable.

The embedded judge leaves its reasons as JSON (facts covered, missed and contradicted by each answer);
LLM judges leave text, which is shown as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_STATEMENTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts of one kind: those kept, how many there were, and what to call them."""

    title: str
    sign: str
    lines: tuple[str, ...]
    count: int

    @property
    def tone(self) -> str:
        """The class that colours the title."""
        return {"✓": "aa-good", "✗": "aa-bad"}.get(self.sign, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One answer's part of a rationale; `says` stands alone where the answer says nothing."""

    says: str = ""
    coverage: float | None = None
    padding: float | None = None
    facts: tuple[Facts, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """The embedded judge's reasons: what it held the answers against, and how each did."""

    yardstick: str
    a: Side
    b: Side


def read_reasons(rationale: str) -> Reasons | None:
    """The reasons in a rationale; None where it is prose or of another shape."""
    try:
        found = json.loads(rationale)
        return Reasons(yardstick=str(found["yardstick"]), a=_side(found["a"]), b=_side(found["b"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _side(found: Mapping[str, Any] | str) -> Side:
    if isinstance(found, str):
        return Side(says=found)
    counts = found["counts"]
    return Side(
        coverage=float(found["coverage"]),
        padding=float(found["padding"]),
        facts=(
            _facts("Covers", "✓", found["covered"], counts["covered"]),
            _facts("Misses", "–", found["missed"], counts["missed"]),
            Facts(
                title="Contradicts",
                sign="✗",
                lines=tuple(
                    f"{_line(fact)}\nThe answer says: {fact['answer']}" for fact in found["contradicted"]
                ),
                count=int(counts["contradicted"]),
            ),
        ),
    )


def _facts(title: str, sign: str, found: list[Mapping[str, str]], count: int) -> Facts:
    return Facts(title=title, sign=sign, lines=tuple(_line(fact) for fact in found), count=int(count))


def _line(fact: Mapping[str, str]) -> str:
    source = fact.get("passage", "")
    return f"{fact['text']}  [{source}]" if source else str(fact["text"])
