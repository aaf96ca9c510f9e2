"""Shortening of long passages, and guards of embedded metrics against tricks.

Shortening follows FactReasoner, section 4, but keeps whole sentences. The guards are needed because metrics
that compare words give full marks to a copy of the passages or a list of their words. Therefore the embedded
versions ignore sentences that assert nothing (questions, "it is false that …", repetitions of the question),
and multiply the score by factors for word order and copying, like the embedded judge. LLM versions need no
guard.
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
from judges.lexical.reading import TextReading, asserts, read_terms
from judges.lexical.settings import LexicalSettings
from judges.metrics.registry import Cut, Metric, build_metric, metric_info, read_options
from judges.pairwise.cleaning import clean
from judges.text.sentences import read_sentences, split_sentences
from judges.text.tokens import terms, words

CUT = "cut"
MAX_PASSAGE_WORDS = 700
CUT_NOTE = "Some passages were too long: the LLM read only their most relevant sentences."


class ShorteningSettings(BaseModel):
    """Maximum number of words of a passage: `longest_passage`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    longest_passage: Annotated[int, Field(ge=20)] = MAX_PASSAGE_WORDS


def shorten(passage: Passage, query: Collection[str], words: int) -> Passage:
    """Shorten a passage to a number of words by selecting the sentences with most terms of the query.

    If even the best sentence is longer than the limit, only its first words stay.
    """
    if len(passage.text.split()) <= words:
        return passage
    sentences = split_sentences(passage.text)
    query_terms = frozenset(query)
    ranked = sorted(
        range(len(sentences)), key=lambda at: (-len(query_terms.intersection(terms(sentences[at]))), at)
    )
    selected: list[int] = []
    left = words
    for at in ranked:
        length = len(sentences[at].split())
        if length <= left:
            selected.append(at)
            left -= length
    text = " ".join(sentences[at] for at in sorted(selected))
    # Texts without letters have no sentences.
    text = text or " ".join((sentences[ranked[0]] if ranked else passage.text).split()[:words])
    return Passage(passage.id, text, passage.title)


def cut_details(cut: Mapping[str, tuple[int, int]]) -> dict[str, Json]:
    """Return the shortened passages by id, if any, with their words before and after."""
    return {CUT: {name: {"words": words, "kept": rest} for name, (words, rest) in cut.items()}} if cut else {}


class ShorteningMetric:
    """An LLM's metric on shortened passages, which are listed in the details."""

    def __init__(
        self, metric: Metric, words: int, *, of_answer: bool = False, known: Collection[str] = ()
    ) -> None:
        self.name = metric.name
        self._metric = metric
        self._words = words
        self._of_answer = of_answer
        self._known = frozenset(known)

    async def score(self, item: MetricItem) -> Score:
        """Score one answer; `details["cut"]` lists shortened passages."""
        queries = [item.question, *item.aspects, *item.sub_questions, *([item.answer] * self._of_answer)]
        cut: dict[str, tuple[int, int]] = {}
        short = replace(
            item,
            passages=self._shorten(item.passages, queries, cut),
            contexts=self._shorten(item.contexts, queries, cut),
        )
        score = await self._metric.score(short if cut else item)
        return replace(score, details={**score.details, **cut_details(cut)}) if cut else score

    def _shorten(
        self, passages: tuple[Passage, ...], queries: list[str], cut: dict[str, tuple[int, int]]
    ) -> tuple[Passage, ...]:
        long = [len(passage.text.split()) > self._words for passage in passages]
        if not any(long):
            return passages
        query = frozenset(terms(" ".join(queries)))
        rows = []
        for passage, too_long in zip(passages, long, strict=True):
            row = passage
            if too_long and " ".join(passage.text.split()) not in self._known:
                row = shorten(passage, query, self._words)
                cut[passage.id] = (len(passage.text.split()), len(row.text.split()))
            rows.append(row)
        return tuple(rows)


def build_reading(name: str, *, runner: object, options: Mapping[str, Json]) -> Metric:
    """Build an LLM's metric that shortens long passages."""
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
"""An answer may copy two fifths of the passages, or 80 terms if that is more: quoting is not a trick."""
TAKES_BACK = re.compile(
    r"(?:it (?:is|was|would be) (?:wrong|untrue|incorrect|a mistake) to (?:say|claim|think|believe) that"
    r"|(?:nobody|no one) (?:should|can|could|would|may) (?:say|claim|think|believe) that)\s",
    re.IGNORECASE,
)
"""Openings that deny a sentence, like the embedded judge's; "there is no evidence that" states a finding."""
MIN_TERMS = 8
"""The word order of shorter answers, in terms, is not checked."""
QUESTION_CACHE_SIZE = 32


@dataclass(frozen=True, slots=True)
class AnswerSurface:
    """An answer without the sentences that assert nothing, and factors for its form.

    Attributes:
        answer: Text without these sentences.
        left_out: Number of removed sentences.
        order: Factor for word order, 0–1.
        copies: Factor for copying beyond quoting, 0–1.
        asserting: Twice the share of its terms in sentences that assert something, at most 1.
    """

    answer: str
    left_out: int = 0
    asserting: float = 1.0
    order: float = 1.0
    copies: float = 1.0

    @property
    def worth(self) -> float:
        """Factor of the score."""
        return self.order * self.copies * self.asserting

    def weigh(self, score: Score) -> Score:
        """Scale a score by its factors; record them in `details["worth"]` unless nothing changes."""
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
    """Analyse the form of an answer compared with the question's texts."""
    # The ids remove citations, whose numbers would count as figures that passages contradict.
    ids = [passage.id for passage in item.contexts or item.passages]
    lines = read_sentences(clean(item.answer), ids)
    headings = {line.text: f"# {line.text}" for line in lines if line.heading}
    whole = "\n\n".join(headings.get(line.text, line.text) for line in lines)
    if declines(whole, item.question):
        return AnswerSurface(whole)
    rows = read_terms(whole).sentences
    questions = (item.question, *item.sub_questions)
    bags = set(map(terms, questions))
    # Repeated sentences count once.
    distinct = {sentence.terms: sentence for sentence in reversed(rows)}
    sentences = tuple(reversed(distinct.values()))
    statements = tuple(
        sentence
        for sentence in sentences
        if asserts(sentence.text)
        and not TAKES_BACK.match(sentence.text.lstrip())
        and not (sentence.terms in bags and words(sentence.text) in map(words, questions))
    )
    left_out = len(sentences) - len(statements)
    answer = "\n\n".join(headings.get(row.text, row.text) for row in statements) if left_out else whole
    stating = sum(len(sentence.terms) for sentence in statements)
    total = sum(len(sentence.terms) for sentence in sentences)
    asserting = min(1.0, 2 * stating / total) if total else 1.0
    reading = TextReading(sentences)
    evidence = _evidence(tuple(passage.text for passage in item.passages), item.reference or "")
    if evidence is None or len(reading.terms) < MIN_TERMS:
        return AnswerSurface(answer, left_out, asserting)
    order = evidence.order(reading, SETTINGS)
    return AnswerSurface(answer, left_out, asserting, order, _copies(reading, evidence))


def _copies(reading: TextReading, evidence: Evidence) -> float:
    if not evidence.passages:
        return 1.0
    copied = evidence.copied(reading)
    # Relative to the copied terms, because unrelated text next to a copy must not raise the factor.
    excess = max(0.0, copied - evidence.allowance(SETTINGS)) / copied if copied else 0.0
    return max(0.0, 1 - SETTINGS.copies * excess)


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def _evidence(passages: tuple[str, ...], reference: str) -> Evidence | None:
    readings = tuple(read_terms(text) for text in passages if text.strip())
    texts = (*([read_terms(reference)] if reference.strip() else []), *readings)
    return Evidence(texts, readings) if texts else None


def engine_with(relater: str) -> str:
    """Return the engine of an embedded metric, with its relation model if it has one."""
    return f"{EMBEDDED_ENGINE}, {relater}" if relater else EMBEDDED_ENGINE


def with_engine(score: Score, engine: str = EMBEDDED_ENGINE) -> Score:
    """Add the version, `details["engine"]`, to an embedded metric's score."""
    return replace(score, details={ENGINE: engine, **score.details})


class GuardedMetric:
    """An embedded metric with its version in the details and factors for the answer's form.

    `relater` is the name of an NLI model; empty for comparing words.
    """

    def __init__(self, metric: Metric, *, of_form: bool = True, relater: str = "") -> None:
        self.name = metric.name
        self._metric = metric
        self._of_form = of_form
        self._engine = engine_with(relater)

    async def score(self, item: MetricItem) -> Score:
        """Score one answer."""
        if not self._of_form:
            return with_engine(await self._metric.score(item), self._engine)
        surface = surface_of(item)
        return surface.weigh(
            with_engine(await self._metric.score(replace(item, answer=surface.answer)), self._engine)
        )
