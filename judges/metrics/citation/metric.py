"""Citation support: sentences supported by their citations, and citations that support their sentences."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict

from data.declines import declines
from data.models import Json, MetricItem, Outcome, Passage, Score, unscored
from judges.llm.requests import CallFailure
from judges.llm.tasks import Task, TaskRunner
from judges.llm.templates import Input, Tagged, passage_text
from judges.metrics.citation import CITATION_SUPPORT
from judges.metrics.factuality.embedded import LexicalRelations
from judges.metrics.registry import Metric, refuse_options
from judges.metrics.relations.model import Entailment, Pair, Related
from judges.metrics.shortening import GuardedMetric
from judges.pairwise.cleaning import clean
from judges.text.sentences import Sentence as ReadSentence
from judges.text.sentences import read_sentences, split_clauses, stating

NO_SENTENCES = "The answer states nothing that needs a citation."
NO_CITATIONS = "The answer cites nothing, so its citation support is 0."
NO_PASSAGES = "There are neither contexts nor passages to cite."


class Support(StrEnum):
    """Support of a sentence by a passage (the three grades of TREC's RAG track)."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


WEIGHTS: Mapping[Support, float] = MappingProxyType(
    {Support.FULL: 1.0, Support.PARTIAL: 0.5, Support.NONE: 0.0}
)
"""Source: Thakur et al. (2025), "Support Evaluation for the TREC 2024 RAG Track", section 3."""


class SupportReply(BaseModel):
    """The reply to `rate_support`."""

    model_config = ConfigDict(frozen=True)

    support: Support


RATE_SUPPORT = Task(
    name="rate_support", reply=SupportReply, max_tokens=64, stub=lambda _: {"support": "full"}
)


class LlmSupportReader:
    """Grades each pair of a passage (the premise) and a sentence that cites it separately."""

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner

    async def grade(self, pairs: Sequence[Pair], *, question: str) -> Sequence[Support | CallFailure]:
        """Ask about all pairs concurrently."""
        return await asyncio.gather(*(self._ask(pair, question) for pair in pairs))

    async def _ask(self, pair: Pair, question: str) -> Support | CallFailure:
        inputs: dict[str, Input] = {
            "question": question,
            "sentence": Tagged("sentence", pair.hypothesis),
            "passage": Tagged("passage", pair.premise),
        }
        reply = await self._runner.run(RATE_SUPPORT, inputs)
        return reply if isinstance(reply, CallFailure) else reply.support


class LexicalSupportReader:
    """Grades as full if the passage entails the sentence, and as partial if it entails a clause."""

    def __init__(self) -> None:
        self._relations = LexicalRelations()

    async def grade(self, pairs: Sequence[Pair], *, question: str) -> Sequence[Support | CallFailure]:
        """Relate whole sentences and clauses to each passage."""
        grades: list[Support | CallFailure] = []
        for pair in pairs:
            clauses = split_clauses(pair.hypothesis)
            parts = clauses if len(clauses) > 1 else ()
            queries = [pair, *(Pair(pair.premise, clause) for clause in parts)]
            whole, *partial = await self._relations.relate(queries, question=question)
            if isinstance(whole, CallFailure):
                grades.append(whole)
            elif whole.stance is Entailment.ENTAILMENT:
                grades.append(Support.FULL)
            elif any(
                (isinstance(part, Related) and part.stance is Entailment.ENTAILMENT) for part in partial
            ):
                grades.append(Support.PARTIAL)
            else:
                grades.append(Support.NONE)
        return grades


@dataclass(frozen=True, slots=True)
class Citation:
    """A sentence's citation.

    Attributes:
        number: Number of the passage, from 1; as written if the passage does not exist.
        passage: Id of the passage; None if it does not exist.
        support: None if undecided; `none` if the passage does not exist.
    """

    number: int
    passage: str | None
    support: Support | None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its citations."""

    text: str
    citations: tuple[Citation, ...]

    @property
    def weight(self) -> float | None:
        """Support by its best citation, 0–1; 0 without citations, None if undecided."""
        grades = [citation.support for citation in self.citations]
        known = [WEIGHTS[grade] for grade in grades if grade is not None]
        return None if grades and not known else max(known, default=0.0)


class CitationSupport:
    """Scores an answer by the harmonic mean of citation precision and recall."""

    name = CITATION_SUPPORT

    def __init__(self, reader: LlmSupportReader | LexicalSupportReader) -> None:
        self._reader = reader

    async def score(self, item: MetricItem) -> Score:
        """Score one answer; citations refer to its contexts, or else to the set's passages.

        Precision is the mean weight of its citations (full support 1, partial ½), recall the mean over its
        sentences of the weight of the best citation. An uncited sentence counts 0; uncited headings,
        questions and lead-ins are ignored. Without citations precision is null and the score 0.

        Returns:
            The score with `details`: `precision`, `recall`, `sentences` (`text`, `weight`, `citations`:
            `number`, `passage`, `support`), `uncited` and `unsupported` (texts of sentences), `cites`
            (`contexts` or `passages`), `counts` (`sentences`, `cited`, `citations`, grades, `undecided`,
            `unknown`: numbers without a passage), and a `note` if it has no citations.

        Source: Gao et al. (2023), ALCE, section 4; weights as in TREC's RAG track.
        """
        answer = clean(item.answer)
        passages, cites = _citable(item)
        ids = [passage.id for passage in passages]
        statements = () if declines(answer, item.question) else _needing_support(read_sentences(answer, ids))
        if not statements:
            return unscored(item, CITATION_SUPPORT, Outcome.UNREADABLE, NO_SENTENCES)
        if not passages:
            return unscored(item, CITATION_SUPPORT, Outcome.UNREADABLE, NO_PASSAGES)
        pairs = {
            (sentence.text, number): Pair(passage_text(passages[number - 1]), sentence.text)
            for sentence in statements
            for number in sentence.numbers
            if 1 <= number <= len(passages) and passage_text(passages[number - 1]).strip()
        }
        grades = await self._reader.grade(list(pairs.values()), question=item.question)
        for grade in grades:
            if isinstance(grade, CallFailure) and grade.outcome in {Outcome.FAILED, Outcome.SKIPPED}:
                return unscored(item, CITATION_SUPPORT, grade.outcome, grade.detail)
        sentences = _sentences(statements, passages, dict(zip(pairs, grades, strict=True)))
        return _scored(item, sentences, cites)


def _needing_support(sentences: Sequence[ReadSentence]) -> tuple[ReadSentence, ...]:
    """Remove headings, questions and lead-ins without citations."""
    statements = set(stating(sentences))
    return tuple(sentence for sentence in sentences if sentence.numbers or sentence in statements)


def _citable(item: MetricItem) -> tuple[tuple[Passage, ...], str]:
    """Return the citable texts; contexts without text get the text of the passage with their id."""
    if not item.contexts:
        return item.passages, "passages"
    known = {passage.id: passage for passage in item.passages}
    contexts = (
        context if context.text.strip() else known.get(context.id, context) for context in item.contexts
    )
    return tuple(contexts), "contexts"


def _sentences(
    statements: Sequence[ReadSentence],
    passages: Sequence[Passage],
    grades: Mapping[tuple[str, int], Support | CallFailure],
) -> list[Sentence]:
    sentences = []
    for sentence in statements:
        citations = []
        for number in sentence.numbers:
            if (sentence.text, number) not in grades:
                # Unknown passages and passages without text support nothing.
                name = passages[number - 1].id if 1 <= number <= len(passages) else None
                citations.append(Citation(number, name, Support.NONE))
                continue
            grade = grades[sentence.text, number]
            support = None if isinstance(grade, CallFailure) else grade
            citations.append(Citation(number, passages[number - 1].id, support))
        sentences.append(Sentence(sentence.text, tuple(citations)))
    return sentences


def _scored(item: MetricItem, sentences: Sequence[Sentence], cites: str) -> Score:
    citations = [citation for sentence in sentences for citation in sentence.citations]
    grades = [citation.support for citation in citations if citation.support is not None]
    weights = [sentence.weight for sentence in sentences]
    known = [weight for weight in weights if weight is not None]
    if not known:
        return unscored(item, CITATION_SUPPORT, Outcome.UNREADABLE, "No reply on a citation could be read.")
    precision = fmean(WEIGHTS[grade] for grade in grades) if grades else None
    recall = fmean(known)
    both = (precision or 0.0) + recall
    counts = Counter(grades)
    return Score(
        id=item.id,
        metric=CITATION_SUPPORT,
        outcome=Outcome.JUDGED,
        score=2 * (precision or 0.0) * recall / both if both else 0.0,
        details={
            "precision": precision,
            "recall": recall,
            "cites": cites,
            "sentences": [_sentence_json(sentence) for sentence in sentences],
            "uncited": [sentence.text for sentence in sentences if not sentence.citations],
            "unsupported": [
                sentence.text for sentence in sentences if sentence.citations and sentence.weight == 0
            ],
            "counts": {
                "sentences": len(sentences),
                "cited": sum(bool(sentence.citations) for sentence in sentences),
                "uncited": sum(not sentence.citations for sentence in sentences),
                "unsupported": sum(bool(row.citations) and row.weight == 0 for row in sentences),
                "citations": len(citations),
                **{grade.value: counts[grade] for grade in Support},
                "undecided": sum(citation.support is None for citation in citations),
                "unknown": sum(citation.passage is None for citation in citations),
            },
            **({} if citations else {"note": NO_CITATIONS}),
        },
    )


def _sentence_json(sentence: Sentence) -> Json:
    return {
        "text": sentence.text,
        "weight": sentence.weight,
        "citations": [
            {
                "number": citation.number,
                "passage": citation.passage,
                "support": None if citation.support is None else citation.support.value,
            }
            for citation in sentence.citations
        ],
    }


def build(name: str, *, runner: TaskRunner | None, options: Mapping[str, Json]) -> Metric:
    """Build `citation-support`; without a runner, the embedded version."""
    refuse_options(name, options)
    if runner is None:
        return GuardedMetric(CitationSupport(LexicalSupportReader()), of_form=False)
    return CitationSupport(LlmSupportReader(runner))
