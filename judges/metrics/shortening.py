"""Texts as metrics read them: long passages cut to sentences that bear on the matter, and answers' tricks.

Source of the first: FactReasoner, section 4 (contexts of at most 4,000 characters; here whole sentences are
kept). An answer's form: metrics that look for words find all of them in a copy of the passages or in a sorted
list of their words. So the embedded versions leave out sentences that assert nothing (questions, what is
denied as a whole, what only repeats the question), and multiply the score by how far the answer has the word
order of prose and is not copied, as the embedded judge does. LLM versions read sense: no guard.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from data.declines import declines
from data.models import EMBEDDED_ENGINE, ENGINE, Json, MetricItem, Passage, Score
from judges.lexical.guards import Evidence
from judges.lexical.reading import TextReading, asserts, read_text
from judges.lexical.settings import LexicalSettings
from judges.metrics.registry import Cut, Metric, build_metric, metric_info, read_options
from judges.pairwise.cleaning import clean
from judges.text.sentences import read_sentences, split_sentences
from judges.text.tokens import terms, words

CUT = "cut"
LONGEST_PASSAGE = 700
CUT_NOTE = "Passages were too long: of each the LLM read the sentences that bear on the matter most."


class ShorteningSettings(BaseModel):
    """Limit on the length of a passage: `longest_passage` words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    longest_passage: Annotated[int, Field(ge=20)] = LONGEST_PASSAGE


def shortened(passage: Passage, wanted: Collection[str], words: int) -> Passage:
    """Shorten a passage to so many words: its sentences with most of the wanted terms, in order.

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
    """Return the passages that were cut, if any: words before and after by their ids."""
    return {CUT: {name: {"words": words, "kept": kept} for name, (words, kept) in cut.items()}} if cut else {}


class ShorteningMetric:
    """A metric by an LLM that reads of long passages what bears most on the question, and says so."""

    def __init__(
        self, metric: Metric, words: int, *, of_answer: bool = False, known: Collection[str] = ()
    ) -> None:
        self.name = metric.name
        self._metric = metric
        self._words = words
        self._of_answer = of_answer
        self._known = frozenset(known)

    async def score(self, item: MetricItem) -> Score:
        """Score one answer; `details["cut"]` names passages that were cut."""
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
    """Build a metric by an LLM that reads no more of a passage than it may."""
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


WORTH = "worth"
SETTINGS = LexicalSettings(copied=0.4, least_copied=80)
"""An answer may copy two fifths of the passages, and 80 terms at any rate: quoting is not a trick."""
TAKES_BACK = re.compile(
    r"(?:it (?:is|was|would be) (?:wrong|untrue|incorrect|a mistake) to (?:say|claim|think|believe) that"
    r"|(?:nobody|no one) (?:should|can|could|would|may) (?:say|claim|think|believe) that)\s",
    re.IGNORECASE,
)
"""Openings that take a whole sentence back, beside those that the embedded judge knows. "There is no evidence
that" is none: it states a finding."""
LEAST_READ = 8
"""Terms of an answer whose order tells anything."""
QUESTION_CACHE_SIZE = 32


@dataclass(frozen=True, slots=True)
class AnswerSurface:
    """An answer without the sentences that assert nothing, and what its form is worth.

    Attributes:
        answer: The answer's text; itself where nothing is left out.
        order: How far it has the word order of prose, 0–1.
        copies: What it counts for all that it copies beyond what quoting needs, 0–1.
        asserting: Twice the share of its terms in sentences that assert something, at most 1.
    """

    answer: str
    left_out: int = 0
    asserting: float = 1.0
    order: float = 1.0
    copies: float = 1.0

    @property
    def worth(self) -> float:
        """Factor that the score is multiplied by."""
        return self.order * self.copies * self.asserting

    def weigh(self, score: Score) -> Score:
        """Multiply a score; where that or a left-out sentence matters, `details["worth"]` says how much."""
        if score.score is None or (self.worth == 1 and not self.left_out):
            return score
        about: dict[str, Json] = {
            "order": round(self.order, 4),
            "copies": round(self.copies, 4),
            "asserting": round(self.asserting, 4),
            "left_out": self.left_out,
        }
        return replace(score, score=score.score * self.worth, details={**score.details, WORTH: about})


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def surface_of(item: MetricItem) -> AnswerSurface:
    """Look at the form of one answer beside the question's own texts, without marks and citations."""
    # Else the numbers in brackets are taken for figures, which passages contradict.
    ids = [passage.id for passage in item.contexts or item.passages]
    read = read_sentences(clean(item.answer), ids)
    headings = {sentence.text: f"# {sentence.text}" for sentence in read if sentence.heading}
    whole = "\n\n".join(headings.get(sentence.text, sentence.text) for sentence in read)
    if declines(whole, item.question):
        return AnswerSurface(whole)
    reading = read_text(whole)
    asked = [words(each) for each in (item.question, *item.sub_questions)]
    # What is repeated is neither prose nor a copy once more: it says nothing, and counts once.
    distinct = {sentence.terms: sentence for sentence in reversed(reading.sentences)}
    sentences = tuple(reversed(distinct.values()))
    kept = tuple(
        sentence
        for sentence in sentences
        if asserts(sentence.text)
        and not TAKES_BACK.match(sentence.text.lstrip())
        and words(sentence.text) not in asked
    )
    left_out = len(sentences) - len(kept)
    answer = "\n\n".join(headings.get(one.text, one.text) for one in kept) if left_out else whole
    said = sum(len(sentence.terms) for sentence in kept)
    in_all = sum(len(sentence.terms) for sentence in sentences)
    asserting = min(1.0, 2 * said / in_all) if in_all else 1.0
    reading = replace(reading, sentences=sentences)
    evidence = _evidence(tuple(passage.text for passage in item.passages), item.reference or "")
    if evidence is None or len(reading.terms) < LEAST_READ:
        return AnswerSurface(answer, left_out, asserting)
    order = evidence.order(reading, SETTINGS)
    return AnswerSurface(answer, left_out, asserting, order, _copies(reading, evidence))


def _copies(reading: TextReading, evidence: Evidence) -> float:
    if not evidence.passages:
        return 1.0
    copied = evidence.copied(reading)
    # By what is copied, not by the answer: else unrelated text beside a copy would make it worth more.
    beyond = max(0.0, copied - evidence.allowance(SETTINGS)) / copied if copied else 0.0
    return max(0.0, 1 - SETTINGS.copies * beyond)


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def _evidence(passages: tuple[str, ...], reference: str) -> Evidence | None:
    read = tuple(read_text(text) for text in passages if text.strip())
    texts = (*([read_text(reference)] if reference.strip() else []), *read)
    return Evidence(texts, read) if texts else None


def engine_with(relater: str) -> str:
    """Return the engine of an embedded metric, by its relation model or, without one, words."""
    return f"{EMBEDDED_ENGINE}, {relater}" if relater else EMBEDDED_ENGINE


def named(score: Score, engine: str = EMBEDDED_ENGINE) -> Score:
    """Add `details["engine"]` to an embedded metric's score, which tells versions apart."""
    return replace(score, details={ENGINE: engine, **score.details})


class GuardedMetric:
    """An embedded metric that names its version, and multiplies the score by the worth of an answer's form.

    `relater` is the name of the model that relates texts in place of words; empty for words.
    """

    def __init__(self, metric: Metric, *, of_form: bool = True, relater: str = "") -> None:
        self.name = metric.name
        self._metric = metric
        self._of_form = of_form
        self._engine = engine_with(relater)

    async def score(self, item: MetricItem) -> Score:
        """Score one answer."""
        if not self._of_form:
            return named(await self._metric.score(item), self._engine)
        surface = surface_of(item)
        return surface.weigh(
            named(await self._metric.score(replace(item, answer=surface.answer)), self._engine)
        )
