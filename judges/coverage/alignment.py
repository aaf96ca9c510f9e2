"""Which aspects each grounded claim covers: by judgments on its support, by an LLM, or by words.

Source: ICAT, sections 3.3 and 4.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from data.records import MetricItem
from judges.coverage.grounding import Grounded
from judges.coverage.judgments import AspectJudgments
from judges.coverage.tasks import ALIGNMENT
from judges.llm.requests import Unanswered
from judges.llm.tasks import TaskRunner
from judges.llm.templates import Tagged
from judges.text.needs import NeedReader, windows_of
from judges.text.statements import read_statements
from judges.text.weights import TermWeights

ALIGNED_FROM = 0.25


@dataclass(frozen=True, slots=True)
class Alignment:
    """The places of the claims that cover each aspect.

    Attributes:
        claims: For each aspect that is covered, its claims.
        ignored: How many ids of the LLM's reply were none of an aspect or a claim.
    """

    claims: Mapping[int, tuple[int, ...]]
    ignored: int = 0


class Aligner(Protocol):
    """Aligns grounded claims with aspects."""

    async def align(
        self, item: MetricItem, claims: Sequence[Grounded], aspects: Sequence[str]
    ) -> Alignment | Unanswered:
        """Align at least one grounded claim with at least one aspect.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        ...


class JudgedAligner:
    """Gives a claim the aspects that people judged its first supporting passage relevant to (variant M)."""

    def __init__(self, judgments: AspectJudgments) -> None:
        self._judgments = judgments

    async def align(
        self, item: MetricItem, claims: Sequence[Grounded], aspects: Sequence[str]
    ) -> Alignment | Unanswered:
        """Look the supports up under the item's question."""
        found: dict[int, list[int]] = {}
        for number, claim in enumerate(claims):
            if claim.support is not None:
                for place in self._judgments.covered(item.id, claim.support.id, aspects):
                    found.setdefault(place, []).append(number)
        return _alignment(found)


class LlmAligner:
    """Asks an LLM once for all grounded claims and aspects (variants S and A)."""

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner

    async def align(
        self, item: MetricItem, claims: Sequence[Grounded], aspects: Sequence[str]
    ) -> Alignment | Unanswered:
        """Ask; ids that are none of what was shown are left out and counted."""
        by_aspect = {f"t{place}": place for place in range(1, len(aspects) + 1)}
        by_claim = {claim.claim.id: number for number, claim in enumerate(claims)}
        reply = await self._runner.run(
            ALIGNMENT,
            {
                "question": item.question,
                "aspects": [
                    Tagged("aspect", text, f"t{place}") for place, text in enumerate(aspects, start=1)
                ],
                "claims": [Tagged("claim", each.claim.text, each.claim.id) for each in claims],
            },
        )
        if isinstance(reply, Unanswered):
            return reply
        found: dict[int, list[int]] = {}
        ignored = 0
        for each in reply.covered:
            named = [by_claim[name] for name in each.claims if name in by_claim]
            ignored += len(each.claims) - len(named) + (each.aspect not in by_aspect)
            if each.aspect in by_aspect and named:
                found.setdefault(by_aspect[each.aspect] - 1, []).extend(named)
        return _alignment(found, ignored)


class EmbeddedAligner:
    """Aligns by words: those of the aspect and of what the passages and the reference say nearest to it."""

    async def align(
        self, item: MetricItem, claims: Sequence[Grounded], aspects: Sequence[str]
    ) -> Alignment | Unanswered:
        """Compare every claim with every aspect."""
        texts = [passage.text for passage in item.passages]
        known = [item.reference or "", *texts]
        statements = [statement.text for text in known for statement in read_statements(text)]
        reader = NeedReader([known[:1], texts], TermWeights.fit(statements, item.question))
        windows = [windows_of(claim.claim.text) for claim in claims]
        found: dict[int, list[int]] = {}
        for place, aspect in enumerate(aspects):
            need = reader.read(aspect)
            held = [
                number
                for number, window in enumerate(windows)
                if reader.meet(need, window).share >= ALIGNED_FROM
            ]
            if held:
                found[place] = held
        return _alignment(found)


def _alignment(found: Mapping[int, Sequence[int]], ignored: int = 0) -> Alignment:
    held = {place: tuple(sorted(set(numbers))) for place, numbers in sorted(found.items())}
    return Alignment(MappingProxyType(held), ignored)
