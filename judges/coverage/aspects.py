"""The aspects that a good answer addresses: given, or found for the question."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from data.records import MetricItem
from judges.coverage.tasks import ASPECTS
from judges.llm.requests import Unanswered
from judges.llm.tasks import TaskRunner
from judges.text.yardstick import YardstickText

NOVELTY = 0.5


class AspectSource(Protocol):
    """Finds the aspects of a question."""

    @property
    def origin(self) -> str:
        """Where they come from, for people."""
        ...

    async def find(self, item: MetricItem) -> tuple[str, ...] | Unanswered:
        """Return the aspects, none repeated; or why there are none."""
        ...


class GivenAspects:
    """Takes the aspects that the question set gives (variants M and S)."""

    origin = "given"

    async def find(self, item: MetricItem) -> tuple[str, ...] | Unanswered:
        """Return the given aspects."""
        return distinct(item.aspects)


class LlmAspects:
    """Has an LLM write the aspects from the question alone (variant A).

    The given aspects are never shown: in ICAT's public code they reach the alignment prompt of A.
    """

    origin = "written by an LLM"

    def __init__(self, runner: TaskRunner, *, most: int) -> None:
        self._runner = runner
        self._most = most

    async def find(self, item: MetricItem) -> tuple[str, ...] | Unanswered:
        """Ask once."""
        reply = await self._runner.run(ASPECTS, {"question": item.question, "most": self._most})
        return reply if isinstance(reply, Unanswered) else distinct(reply.aspects)[: self._most]


class LeadingStatements:
    """Takes the statements of the passages that tell most on the question and differ from each other.

    The embedded stand-in for generated aspects: each statement is chosen for its weight and its passage's
    relevance, less what the chosen ones say already.
    """

    origin = "leading statements of the passages"

    def __init__(self, *, most: int) -> None:
        self._most = most

    async def find(self, item: MetricItem) -> tuple[str, ...] | Unanswered:
        """Choose statements."""
        yardstick = YardstickText.read(item.passages, item.question)
        if not yardstick.statements:
            return ()
        gains = np.sqrt(yardstick.masses) * yardstick.relevance
        chosen: list[int] = []
        said = np.zeros(len(gains))
        while len(chosen) < min(self._most, len(gains)):
            offered = gains * np.clip(1 - said / NOVELTY, 0, 1)
            best = int(np.argmax(offered))
            if not offered[best]:
                break
            chosen.append(best)
            said = yardstick.coverage([yardstick.statements[place] for place in chosen])
        return distinct(tuple(yardstick.statements[place].text for place in chosen))


def distinct(aspects: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out empty and repeated aspects."""
    return tuple(dict.fromkeys(" ".join(aspect.split()) for aspect in aspects if aspect.strip()))
