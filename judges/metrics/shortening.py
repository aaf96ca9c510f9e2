"""Passages that are too long for an LLM: of each the sentences that bear on the matter most.

Source: FactReasoner, section 4 (contexts of at most 4,000 characters; here whole sentences are kept).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from data.models import Json, MetricItem, Passage, Score
from judges.metrics.options import read_options
from judges.metrics.registry import Cut, Metric, build_metric, metric_info
from judges.text.sentences import split_sentences
from judges.text.tokens import terms

CUT = "cut"
LONGEST_PASSAGE = 700
CUT_NOTE = "Passages were too long: of each the LLM read the sentences that bear on the matter most."


class ShorteningSettings(BaseModel):
    """How long a passage may be: `longest_passage` words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    longest_passage: Annotated[int, Field(ge=20)] = LONGEST_PASSAGE


def shortened(passage: Passage, wanted: Collection[str], words: int) -> Passage:
    """A passage of at most so many words: of its sentences those with most of the wanted terms, in order.

    One within the limit stays as it is; of one whose best sentence is longer than the limit, that sentence's
    first words stay.
    """
    if len(passage.text.split()) <= words:
        return passage
    sentences = split_sentences(passage.text)
    sought = frozenset(wanted)
    ranked = sorted(
        range(len(sentences)), key=lambda at: (-len(sought.intersection(terms(sentences[at]))), at)
    )
    kept: list[int] = []
    left = words
    for at in ranked:
        length = len(sentences[at].split())
        if length <= left:
            kept.append(at)
            left -= length
    text = " ".join(sentences[at] for at in sorted(kept))
    # A text without a letter has no sentence.
    text = text or " ".join((sentences[ranked[0]] if ranked else passage.text).split()[:words])
    return Passage(passage.id, text, passage.title)


def cut_details(cut: Mapping[str, tuple[int, int]]) -> dict[str, Json]:
    """Which passages were cut, where any were: words before and after by their ids."""
    return {CUT: {name: {"words": words, "kept": kept} for name, (words, kept) in cut.items()}} if cut else {}


class ShorteningMetric:
    """A metric by an LLM that reads of long passages what bears most on the question, and says so.

    Args:
        metric: Scores.
        words: How long a passage may be.
        of_answer: Whether what the answer says counts too.
        known: Texts, by their words, that are not read again and so stay whole.
    """

    def __init__(
        self, metric: Metric, words: int, *, of_answer: bool = False, known: Collection[str] = ()
    ) -> None:
        self._metric = metric
        self._words = words
        self._of_answer = of_answer
        self._known = frozenset(known)

    @property
    def name(self) -> str:
        """The metric's name."""
        return self._metric.name

    async def score(self, item: MetricItem) -> Score:
        """Score one answer; `details["cut"]` names passages that were cut.

        Raises:
            JudgeError: Scoring as a whole cannot go on.
        """
        matter = [item.question, *item.aspects, *item.sub_questions, *([item.answer] * self._of_answer)]
        cut: dict[str, tuple[int, int]] = {}
        short = replace(
            item,
            passages=self._shortened(item.passages, matter, cut),
            contexts=self._shortened(item.contexts, matter, cut),
        )
        score = await self._metric.score(short if cut else item)
        return replace(score, details={**score.details, **cut_details(cut)}) if cut else score

    def _shortened(
        self, passages: tuple[Passage, ...], matter: list[str], cut: dict[str, tuple[int, int]]
    ) -> tuple[Passage, ...]:
        long = [len(passage.text.split()) > self._words for passage in passages]
        if not any(long):
            return passages
        wanted = frozenset(terms(" ".join(matter)))
        rows = []
        for passage, too_long in zip(passages, long, strict=True):
            row = passage
            if too_long and " ".join(passage.text.split()) not in self._known:
                row = shortened(passage, wanted, self._words)
                cut[passage.id] = (len(passage.text.split()), len(row.text.split()))
            rows.append(row)
        return tuple(rows)


def build_reading(name: str, *, runner: object, options: Mapping[str, Json]) -> Metric:
    """Build a metric by an LLM that reads no more of a passage than it may.

    Raises:
        NotFoundError: No metric bears the name.
        SpecError: An option is unknown or out of bounds.
    """
    cut = metric_info(name).cut
    if cut is None:
        return build_metric(name, runner=runner, options=options)
    limits = {option: options[option] for option in ShorteningSettings.model_fields if option in options}
    settings = read_options(ShorteningSettings, name, limits)
    own = {option: value for option, value in options.items() if option not in limits}
    rated = own.get("ratings")
    rows = rated.values() if isinstance(rated, Mapping) else ()
    known = {text for row in rows if isinstance(row, Mapping) for text in row}
    metric = build_metric(name, runner=runner, options=own)
    return ShorteningMetric(metric, settings.longest_passage, of_answer=cut is Cut.ANSWER, known=known)
