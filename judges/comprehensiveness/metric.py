"""What the three ways to comprehensiveness share: the yardstick, its summary, and the score at the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from data.records import MetricItem, Outcome, Score, unscored
from judges.comprehensiveness.claims import Missing, yardstick_of
from judges.comprehensiveness.report import NOTHING_RELEVANT, Facts, score_facts
from judges.comprehensiveness.summaries import Summariser

NO_YARDSTICK = "There are neither passages nor a reference to hold the answer against."


class Reader(Protocol):
    """One way to find what an answer covers of its passages."""

    @property
    def engine(self) -> str:
        """Who reads: an LLM's name, or that of the embedded version."""
        ...

    async def read(self, item: MetricItem) -> Facts | Missing:
        """Find the statements of the item's passages and where they stand; an empty answer covers none."""
        ...


class ComprehensivenessMetric:
    """Scores answers by what a reader finds.

    Args:
        name: The metric's name.
        reader: Finds what is covered and what is missing.
        summariser: Cuts passages down first, where that is asked for.
    """

    def __init__(self, name: str, reader: Reader, *, summariser: Summariser | None = None) -> None:
        self._name = name
        self._reader = reader
        self._summariser = summariser

    @property
    def name(self) -> str:
        """The metric's name."""
        return self._name

    async def score(self, item: MetricItem) -> Score:
        """Score one answer; without a yardstick, or where a step brought nothing, it stays unscored."""
        passages = yardstick_of(item)
        if not passages:
            return unscored(item, self._name, Outcome.UNREADABLE, NO_YARDSTICK)
        if self._summariser is not None:
            summaries = await self._summariser(item.question, passages)
            if isinstance(summaries, Missing):
                return unscored(item, self._name, summaries.outcome, summaries.reason)
            if not summaries:
                return unscored(item, self._name, Outcome.UNREADABLE, NOTHING_RELEVANT)
            passages = summaries
        facts = await self._reader.read(replace(item, passages=passages, reference=None))
        if isinstance(facts, Missing):
            return unscored(item, self._name, facts.outcome, facts.reason)
        return score_facts(item, self._name, facts, self._reader.engine)
