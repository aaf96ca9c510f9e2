"""Completeness and citation accuracy of references and answers, without an LLM.

Source: Han et al. (2024), RAG-QA Arena, section 7.1 and table 6. There linguists decided; here words do, so
these are estimates that find what to look at, and no audit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from arena.services.annotation.writing import holds
from data.records import Passage
from judges.text.citations import CitedSentence, cited_sentences
from judges.text.entailment import Entailment, classify, entailment_weights
from judges.text.statements import merge_statements, read_statement, read_statements


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was found of one text.

    Attributes:
        short_answers: How many the question has.
        left_out: Those that no sentence of the text holds.
        sentences: Sentences of the text.
        uncited: Those that cite nothing.
        citations: Pairs of a sentence and a passage that it cites.
        wrong: Of these, whose passage does not say what the sentence says, or does not exist.
    """

    short_answers: int
    left_out: tuple[str, ...]
    sentences: int
    uncited: tuple[str, ...]
    citations: int
    wrong: tuple[tuple[str, int], ...]

    @property
    def completeness(self) -> float | None:
        """Share of the short answers that are in the text, 0–1; None without short answers."""
        return 1 - len(self.left_out) / self.short_answers if self.short_answers else None

    @property
    def accuracy(self) -> float | None:
        """Share of the citations that are right, 0–1; None without citations."""
        return 1 - len(self.wrong) / self.citations if self.citations else None


def measure(
    question: str,
    short_answers: Sequence[str],
    sentences: Sequence[CitedSentence],
    passages: Sequence[Passage],
) -> Measured:
    """Measure a text.

    Args:
        question: What was asked.
        short_answers: What a complete text holds.
        sentences: The text; its numbers count the passages from 1.
        passages: What it may cite.
    """
    texts = [sentence.text for sentence in sentences]
    cited = [(sentence.text, number) for sentence in sentences for number in sentence.numbers]
    supports = _Support(question, texts, passages)
    return Measured(
        short_answers=len(short_answers),
        left_out=tuple(short for short in short_answers if not any(holds(text, short) for text in texts)),
        sentences=len(sentences),
        uncited=tuple(sentence.text for sentence in sentences if not sentence.numbers),
        citations=len(cited),
        wrong=tuple((text, number) for text, number in cited if not supports(text, number)),
    )


def measure_answer(
    question: str, short_answers: Sequence[str], text: str, passages: Sequence[Passage]
) -> Measured:
    """Measure a text with citations in brackets; errors as of `measure`."""
    return measure(
        question, short_answers, cited_sentences(text, [passage.id for passage in passages]), passages
    )


class _Support:
    """Tells whether a passage says what a sentence says."""

    def __init__(self, question: str, sentences: Sequence[str], passages: Sequence[Passage]) -> None:
        self._passages = passages
        statements = [line.text for passage in passages for line in read_statements(_text(passage))]
        self._weights = entailment_weights([*statements, *sentences], question)

    def __call__(self, sentence: str, number: int) -> bool:
        if not 1 <= number <= len(self._passages):
            return False
        premise = read_statements(_text(self._passages[number - 1]))
        if not premise:
            return False
        hypothesis = read_statement(sentence)
        return any(
            classify(said, hypothesis, self._weights) is Entailment.ENTAILMENT
            for said in (*premise, merge_statements(premise))
        )


def _text(passage: Passage) -> str:
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def summary(measured: Iterable[tuple[str, Measured]]) -> dict[str, Any]:
    """Shares over texts, 0–1, each over the texts where it exists; None where there is none.

    Args:
        measured: Ids of questions with what was found.
    """
    rows = dict(measured)
    with_short = {key: one for key, one in rows.items() if one.completeness is not None}
    with_citations = {key: one for key, one in rows.items() if one.accuracy is not None}
    sentences = sum(one.sentences for one in rows.values())
    uncited = sum(len(one.uncited) for one in rows.values())
    return {
        "texts": len(rows),
        "with_short_answers": len(with_short),
        "completeness": _mean(one.completeness for one in with_short.values()),
        "complete_texts": _mean(float(not one.left_out) for one in with_short.values()),
        "with_citations": len(with_citations),
        "citations": sum(one.citations for one in rows.values()),
        "citation_accuracy": _mean(one.accuracy for one in with_citations.values()),
        "accurate_texts": _mean(float(not one.wrong) for one in with_citations.values()),
        "sentences": sentences,
        "cited_sentences": 1 - uncited / sentences if sentences else None,
        "incomplete": [key for key, one in with_short.items() if one.left_out],
        "wrongly_cited": [key for key, one in with_citations.items() if one.wrong],
    }


def _mean(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return fmean(numbers) if numbers else None


def from_documents(
    reference: str, citations: Sequence[Sequence[str]], passages: Sequence[Passage]
) -> tuple[CitedSentence, ...] | None:
    """The sentences of a stored reference with the numbers of the passages that they cite.

    Returns:
        None where its sentences do not line up with its citations. A document without a passage is number 0,
        which is no passage.
    """
    sentences = cited_sentences(reference)
    if len(sentences) != len(citations):
        return None
    numbers: Mapping[str, int] = {passage.id: at for at, passage in enumerate(passages, start=1)}
    return tuple(
        CitedSentence(sentence.text, tuple(numbers.get(document, 0) for document in documents))
        for sentence, documents in zip(sentences, citations, strict=True)
    )
