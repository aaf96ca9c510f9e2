"""Claims: the atomic statements of an answer, found the way comprehensiveness finds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from data.records import MetricItem
from judges.llm.tasks import TaskRunner
from judges.metrics.comprehensiveness.claims import SAYING_SOMETHING, Missing, Steps
from judges.metrics.comprehensiveness.embedded import LexicalSteps
from judges.metrics.comprehensiveness.llm_steps import LlmSteps

ClaimSteps = Callable[[MetricItem], Steps]


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an answer; ids are a1, a2, … in the order of the answer."""

    id: str
    text: str


def steps_of(runner: TaskRunner | None) -> ClaimSteps:
    """What finds the claims of an item: an LLM's two askings (Atomizer, Reviser), or its sentences."""
    return LexicalSteps if runner is None else lambda item: LlmSteps(runner, item)


async def claims_of(item: MetricItem, steps: ClaimSteps) -> tuple[Claim, ...] | Missing:
    """Return the claims of an answer, none repeated; what is about the answer itself is no claim.

    Raises:
        JudgeError: Asking as a whole cannot go on.

    Source: FactReasoner, section 3.3.
    """
    claims = await steps(item).claims(item.answer, "")
    if isinstance(claims, Missing):
        return claims
    return numbered([claim.text for claim in claims if claim.kind in SAYING_SOMETHING])


def numbered(texts: Sequence[str]) -> tuple[Claim, ...]:
    """Number claims in their order, none repeated."""
    distinct = filter(None, dict.fromkeys(" ".join(text.split()) for text in texts))
    return tuple(Claim(f"a{number}", text) for number, text in enumerate(distinct, start=1))
