"""Which answer is shown first."""

from __future__ import annotations

import hashlib

from data.records import OrderPolicy, Presentation
from judges.base import Contest


def presentations(contest: Contest, policy: OrderPolicy) -> tuple[Presentation, ...]:
    """The presentations that a policy asks for, first one first.

    `paper`: the system is shown first where the question has an even number of words, counted by
    single spaces as RAG-QA Arena counts them, else second. Between two systems, side a is "the
    system"; against the reference, the side that is not the reference is. `random` is a coin seeded
    by the battle id. `both` starts as `paper` does.

    Source: RAG-QA Arena, section 5, and its published code.
    """
    if policy is OrderPolicy.RANDOM:
        first = Presentation.A_FIRST if uniform(contest.battle_id, "order") < 0.5 else Presentation.B_FIRST  # noqa: PLR2004 - a fair coin
        return (first,)
    even = len(contest.question.question.split(" ")) % 2 == 0
    system_is_b = contest.reference_side == "a"
    first = Presentation.B_FIRST if even == system_is_b else Presentation.A_FIRST
    return (first, first.other) if policy is OrderPolicy.BOTH else (first,)


def uniform(*seeds: str) -> float:
    """A number in 0…1 that depends on the seeds alone, the same on every machine."""
    digest = hashlib.sha256("\x1f".join(seeds).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
