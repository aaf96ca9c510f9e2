"""The embedded judge's reasons, as its judgments keep them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

COVERS, MISSES, BEYOND, CONTRADICTS = "✓", "–", "+", "✗"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact: its words, the passages that it is from, and what the answer says instead, if anything."""

    text: str
    passages: tuple[str, ...] = ()
    instead: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts of one kind: those stored, how many there were, and what to call them."""

    title: str
    sign: str
    facts: tuple[Fact, ...]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One answer's part of a rationale; `says` is all of it where the answer says nothing."""

    says: str = ""
    coverage: float | None = None
    padding: float | None = None
    facts: tuple[Facts, ...] = ()

    def of(self, sign: str) -> tuple[Fact, ...]:
        """Return the facts of one sign."""
        return tuple(fact for facts in self.facts if facts.sign == sign for fact in facts.facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """The embedded judge's reasons: what it held the answers against, and how each did."""

    ground_truth: str
    a: Side
    b: Side


def read_reasons(rationale: str) -> Reasons | None:
    """Return the reasons in a rationale; None where it is prose or of another shape."""
    try:
        reasons = json.loads(rationale)
        return Reasons(ground_truth=str(reasons["yardstick"]), a=_side(reasons["a"]), b=_side(reasons["b"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _side(side: Mapping[str, Any] | str) -> Side:
    if isinstance(side, str):
        return Side(says=side)
    counts = side["counts"]
    return Side(
        coverage=float(side["coverage"]),
        padding=float(side["padding"]),
        facts=(
            _facts("Covers", COVERS, side["covered"], counts["covered"]),
            _facts("Misses", MISSES, side["missed"], counts["missed"]),
            _facts("Says beyond it", BEYOND, side.get("beyond", []), counts.get("beyond", 0)),
            _facts("Contradicts", CONTRADICTS, side["contradicted"], counts["contradicted"]),
        ),
    )


def _facts(title: str, sign: str, facts: list[Mapping[str, str]], count: int) -> Facts:
    return Facts(title=title, sign=sign, facts=tuple(map(_fact, facts)), count=int(count))


def _fact(fact: Mapping[str, str]) -> Fact:
    source = str(fact.get("passage", ""))
    return Fact(
        text=str(fact["text"]), passages=(source,) if source else (), instead=str(fact.get("answer", ""))
    )
