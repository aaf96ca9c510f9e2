"""Cascades in a judge spec: what being sure means, and what their threshold was set on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from data.records import JudgeKind, OrderPolicy

CASCADE_KEYS = ("confidence", "threshold", "guarantee")
"""The keys of a spec that a cascade alone has; they are in no other judge's hash."""
MEMBERS = 2
GRADED_REPLIES = ("grades", "logprobs")

Portion = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, strict=True)]


class Member(Protocol):
    """What is read of a judge here: `judges.spec.JudgeSpec`, which imports this."""

    @property
    def name(self) -> str:
        """Name of the judge spec."""
        ...

    @property
    def kind(self) -> JudgeKind:
        """Its family."""
        ...

    @property
    def reply(self) -> str:
        """Its reply format."""
        ...

    @property
    def order(self) -> OrderPolicy:
        """Which answer it is shown first."""
        ...

    @property
    def votes(self) -> int:
        """Replies in each order."""
        ...

    @property
    def members(self) -> Sequence[Member]:
        """Its own members."""
        ...


class CascadeConfidence(StrEnum):
    """What says how sure the cheap member of a cascade is, from 0 to 1.

    `MARGIN`: how far its margin is from a tie. `ORDERS`: the same over both orders, which must agree.
    `VOTES`: the part of its votes for the winner, less the part for the next.
    """

    MARGIN = "margin"
    ORDERS = "orders"
    VOTES = "votes"


class Guarantee(BaseModel):
    """What a cascade's threshold was set on, and what follows; a record, which decides nothing.

    Attributes:
        against: Whom the cheap member is to agree with: `people`, or the expensive member's name.
        level: Agreement that was asked for, among what the cheap member decides.
        certainty: How sure it is to be reached, the choice of the threshold included.
        pairs: Pairs that the threshold was set on.
        kept: Those of them that the cheap member decides.
        agreement: Agreement on these.
        lower: Its lower bound.
        escalated: Part of the battles that the expensive member is expected to be asked about.
        source: Where the pairs are from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    against: str
    level: Portion
    certainty: Portion
    pairs: Count
    kept: Count
    agreement: Portion
    lower: Portion
    escalated: Portion
    source: str = ""

    def __str__(self) -> str:
        return (
            f"at least {self.level:.0%} agreement with {self.against} where it decides, with "
            f"{self.certainty:.0%} confidence ({self.agreement:.1%} on {self.kept:,} of {self.pairs:,} "
            f"pairs{f' of {self.source}' if self.source else ''})"
        )


def cascade_problems(
    members: Sequence[Member], confidence: CascadeConfidence | None, threshold: float | None
) -> Iterator[str]:
    """What keeps a cascade from being used, a line each."""
    if threshold is None:
        yield "'threshold' is missing: `arena judges cascade` sets it so that it keeps a promise"
    if confidence is None:
        yield f"'confidence' is missing: it is one of {', '.join(CascadeConfidence)}"
    if len(members) != MEMBERS:
        yield f"a cascade has two 'members', the cheap one first ({len(members)} given)"
        return
    names = [member.name for member in members]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two members are named {name!r}"
    for member in members:
        if member.kind is JudgeKind.CASCADE:
            yield f"member {member.name} is a cascade itself"
    problem = "" if confidence is None else confidence_problem(members[0], confidence)
    if problem:
        yield problem


def confidence_problem(cheap: Member, confidence: CascadeConfidence) -> str:
    """Why a judge's confidence cannot be this one; empty where it can."""
    alone = cheap.members or (cheap,)
    match confidence:
        case CascadeConfidence.MARGIN:
            known = all(judge.kind is JudgeKind.LEXICAL or judge.reply in GRADED_REPLIES for judge in alone)
            needed = f"replies in {' or '.join(GRADED_REPLIES)}, or the lexical judge"
        case CascadeConfidence.ORDERS:
            known = all(judge.order is OrderPolicy.BOTH for judge in alone)
            needed = "order = 'both'"
        case CascadeConfidence.VOTES:
            known = bool(cheap.members) or cheap.votes > 1
            needed = "'votes' above 1, or a panel"
    return "" if known else f"confidence {confidence.value!r} needs of {cheap.name}: {needed}"


def usual_confidence(cheap: Member) -> CascadeConfidence | None:
    """The first kind of confidence that a judge has; None where it has none."""
    return next((kind for kind in CascadeConfidence if not confidence_problem(cheap, kind)), None)


def cascade_toml(
    members: Sequence[str], confidence: CascadeConfidence, threshold: float, guarantee: Guarantee
) -> str:
    """The text of a cascade's spec.

    Args:
        members: Names of the cheap judge and of the expensive one, or their files as seen from the spec's.
        confidence: What says how sure the cheap one is.
        threshold: The least confidence with which it decides.
        guarantee: What that was set on.
    """
    cheap, expensive = members
    recorded = "".join(f"{key} = {_quoted(value)}\n" for key, value in guarantee.model_dump().items())
    return f"""kind = "cascade"
description = {_quoted(f"{cheap} where it is sure, else {expensive}")}
members = {_quoted(list(members))}
confidence = {_quoted(confidence.value)}
threshold = {threshold!r}

# What the threshold was set on: a record.
[guarantee]
{recorded}"""


def _quoted(value: object) -> str:
    """A value of a TOML file; its strings and lists are written as those of JSON."""
    return json.dumps(value, ensure_ascii=False)
