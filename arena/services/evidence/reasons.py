"""Reasons of the embedded judge in stored judgments."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from data.text import counted, percent

COVERS, MISSES, BEYOND, CONTRADICTS = "✓", "–", "+", "✗"
CACHED_SIDES = 1 << 10


class Fact(NamedTuple):
    """Fact with its passages, and the contradicting words of the answer, if any."""

    text: str
    passages: tuple[str, ...] = ()
    instead: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts of one kind: title, stored facts and total count."""

    title: str
    sign: str
    facts: tuple[Fact, ...]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Part of a rationale on one answer; `says` describes an empty answer."""

    says: str = ""
    padding: float = 0.0
    sentences: int = 0
    facts: tuple[Facts, ...] = ()

    def of(self, sign: str) -> tuple[Fact, ...]:
        """Return the facts of one sign."""
        return tuple(fact for facts in self.facts if facts.sign == sign for fact in facts.facts)

    def count(self, sign: str) -> int:
        """Count the facts of one sign, listed or not."""
        return sum(facts.count for facts in self.facts if facts.sign == sign)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """Reasons of the embedded judge; `decided_by` is empty for a tie."""

    ground_truth: str
    decided_by: str
    a: Side
    b: Side


def read_reasons(rationale: str) -> Reasons | None:
    """Parse the reasons in a rationale; None if it is prose."""
    # The side of an answer is the same in each of its battles.
    start, _, rest = rationale.partition(',"a":')
    a, _, rest = rest.partition(',"b":')
    b, _, rest = rest.partition(',"parts":[')
    try:
        reasons = json.loads(f"{start}}}" if rest else rationale)
        sides = (a, b) if rest else map(json.dumps, (reasons["a"], reasons["b"]))
        side_a, side_b = map(_side, sides)
        return Reasons(
            ground_truth=str(reasons["yardstick"]),
            decided_by=str(reasons.get("decided_by", "")),
            a=side_a,
            b=side_b,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


@lru_cache(maxsize=CACHED_SIDES)
def _side(text: str) -> Side:
    side: Mapping[str, Any] | str = json.loads(text)
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
    """Explain a verdict in words; `in_full` quotes missed and contradicted facts."""
    sides = "; ".join(
        f"{system} {_side_sentence(side, reasons.ground_truth, in_full=in_full)}"
        for system, side in ((system_a, reasons.a), (system_b, reasons.b))
    )
    decided_by = reasons.decided_by
    if decided_by == "facts covered" and reasons.a.count(COVERS) == reasons.b.count(COVERS):
        decided_by = "how fully facts are covered"
    return f"Decided by {decided_by}: {sides}" if decided_by else sides


@lru_cache(maxsize=CACHED_SIDES)
def _side_sentence(side: Side, ground_truth: str, *, in_full: bool) -> str:
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
