"""The embedded judge's reasons, as its judgments keep them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from data.text import counted, percent

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
    """One answer's part of a rationale; `says` is all of it where the answer says nothing.

    `sentences` are those of the ground truth.
    """

    says: str = ""
    padding: float = 0.0
    sentences: int = 0
    facts: tuple[Facts, ...] = ()

    def of(self, sign: str) -> tuple[Fact, ...]:
        """Return the facts of one sign."""
        return tuple(fact for facts in self.facts if facts.sign == sign for fact in facts.facts)

    def count(self, sign: str) -> int:
        """Return how many facts of one sign there are, listed or not."""
        return sum(facts.count for facts in self.facts if facts.sign == sign)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """The embedded judge's reasons: ground truth, the term that decided (empty in a tie), each side."""

    ground_truth: str
    decided_by: str
    a: Side
    b: Side


def read_reasons(rationale: str) -> Reasons | None:
    """Return the reasons in a rationale; None where it is prose or of another shape."""
    try:
        reasons = json.loads(rationale)
        return Reasons(
            ground_truth=str(reasons["yardstick"]),
            decided_by=str(reasons.get("decided_by", "")),
            a=_side(reasons["a"]),
            b=_side(reasons["b"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _side(side: Mapping[str, Any] | str) -> Side:
    if isinstance(side, str):
        return Side(says=side)
    counts = side["counts"]
    return Side(
        padding=float(side["padding"]),
        sentences=int(counts.get("sentences", counts["covered"] + counts["missed"])),
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


def explained(reasons: Reasons, system_a: str, system_b: str, *, in_full: bool = True) -> str:
    """Explain a verdict in words: the term that decided, then how each answer did.

    `in_full` quotes the facts that an answer misses and contradicts.
    """
    sides = "; ".join(
        f"{system} {_told(side, reasons.ground_truth, in_full=in_full)}"
        for system, side in ((system_a, reasons.a), (system_b, reasons.b))
    )
    decided_by = reasons.decided_by
    if decided_by == "facts covered" and reasons.a.count(COVERS) == reasons.b.count(COVERS):
        decided_by = "how fully facts are covered"
    return f"Decided by {decided_by}: {sides}" if decided_by else sides


def _told(side: Side, ground_truth: str, *, in_full: bool) -> str:
    if side.says:
        return f"gives {side.says}"
    parts = [
        f"covers {side.count(COVERS):,} of {counted(side.sentences, 'sentence')} of the {ground_truth}",
        f"padding {percent(side.padding, decimals=0)}",
    ]
    for verb, sign in (("contradicts", CONTRADICTS), ("misses", MISSES)):
        facts = side.of(sign)
        quoted = ", ".join(f"{fact.text!r}{f' ({fact.instead!r})' if fact.instead else ''}" for fact in facts)
        more = side.count(sign) - len(facts)
        if in_full and facts:
            parts.append(f"{verb} {quoted}{f' and {more:,} more' if more else ''}")
        elif sign == CONTRADICTS and facts:
            parts.append(f"{verb} {side.count(sign):,}")
    return ", ".join(parts)
