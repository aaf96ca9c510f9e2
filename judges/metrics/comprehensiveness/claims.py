"""Claims, and the steps that turn texts into a fact graph, whoever carries them out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from data.models import MetricItem, Outcome, Passage
from judges.metrics.comprehensiveness.graph import Relation

REFERENCE_ID = "reference"


class ClaimKind(StrEnum):
    """The form of a content unit (section 3.1, listing 3)."""

    FACT = "fact"
    CLAIM = "claim"
    INSTRUCTION = "instruction"
    DATA_FORMAT = "data format"
    META_STATEMENT = "meta statement"
    QUESTION = "question"
    OTHER = "other"


SAYING_SOMETHING = frozenset({ClaimKind.FACT, ClaimKind.CLAIM, ClaimKind.INSTRUCTION, ClaimKind.DATA_FORMAT})
"""The kinds that can be covered or missed; the others are about the text itself."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One atomic statement of a text, and the passage it is from (empty for the answer)."""

    text: str
    source: str = ""
    kind: ClaimKind = ClaimKind.CLAIM


@dataclass(frozen=True, slots=True)
class Missing:
    """A step that gave nothing: why, and with which outcome."""

    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Wordings:
    """The different wordings of an answer's claims and of the passages', to be related to each other."""

    of_answer: tuple[str, ...]
    of_passages: tuple[str, ...]

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Every pair of two different wordings, in both orders, but pairs of the answer's own."""
        own = frozenset(self.of_passages)
        every = dict.fromkeys((*self.of_answer, *self.of_passages))
        for first in every:
            for second in every if first in own else self.of_passages:
                if first != second:
                    yield first, second


Relations = Mapping[tuple[str, str], Relation]


class Steps(Protocol):
    """The steps of the NLI-based metric for one item."""

    async def claims(self, text: str, source: str) -> tuple[Claim, ...] | Missing:
        """Extract the claims of one text and make them self-contained."""
        ...

    async def relevance(self, claims: Sequence[Claim]) -> tuple[float, ...] | Missing:
        """Rate how much each claim matters to the question, 1–5."""
        ...

    async def relations(
        self, wordings: Wordings, wanted: Callable[[str, str], bool] | None = None
    ) -> Relations | Missing:
        """Tell what the first of each pair says of the second; pairs that are not `wanted` are neutral."""
        ...


def ground_truth_of(item: MetricItem) -> tuple[Passage, ...]:
    """The passages of an item, else its reference as one passage, else nothing."""
    passages = tuple(passage for passage in item.passages if passage.text.strip())
    if passages:
        return passages
    reference = (item.reference or "").strip()
    return (Passage(REFERENCE_ID, reference),) if reference else ()
