"""Judgments of people on which passage is relevant to which aspect of which question (qrels)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from data.corpora.chunking import document_of
from data.errors import FileFormatError

Label = str | int
FIELDS = 4


@dataclass(frozen=True, slots=True)
class AspectJudgments:
    """Which aspects each passage covers, by question.

    The public code of ICAT looks passages up without their question, so that a passage judged for one
    question counts for another; here the question is the first key.
    """

    by_question: Mapping[str, Mapping[str, frozenset[Label]]]

    @classmethod
    def of(cls, given: Mapping[str, Mapping[str, Iterable[Label]]]) -> AspectJudgments:
        """Read question → passage → aspects."""
        return cls(
            MappingProxyType(
                {
                    question: MappingProxyType({name: frozenset(labels) for name, labels in passages.items()})
                    for question, passages in given.items()
                }
            )
        )

    def known(self, question: str) -> bool:
        """Whether anything was judged for a question."""
        return bool(self.by_question.get(question))

    def covered(self, question: str, passage: str, aspects: Sequence[str]) -> tuple[int, ...]:
        """The places of the aspects that a passage, or the document of a chunk, was judged relevant to."""
        passages = self.by_question.get(question, {})
        labels = passages.get(passage, passages.get(document_of(passage), frozenset()))
        return tuple(place for place, aspect in enumerate(aspects) if aspect in labels or place + 1 in labels)

    def unknown_aspects(self, question: str, aspects: Sequence[str]) -> tuple[str, ...]:
        """The labels of a question's judgments that are none of its aspects."""
        numbers = range(1, len(aspects) + 1)
        labels = set[Label]().union(*self.by_question.get(question, {}).values())
        return tuple(sorted(str(label) for label in labels if label not in aspects and label not in numbers))


def read_qrels(lines: Iterable[str], *, where: str) -> AspectJudgments:
    """Read judgments in TREC's diversity format: question, aspect number, passage, relevance.

    Relevance above 0 is relevant.

    Raises:
        FileFormatError: A line has another form.
    """
    found: dict[str, dict[str, set[Label]]] = {}
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        try:
            question, aspect, passage, relevance = fields
            relevant, place = int(relevance) > 0, int(aspect)
        except ValueError as error:
            message = f"Line {number} of {where} is no judgment: {line.strip()[:80]!r}."
            advice = f"Give {FIELDS} fields: question, aspect number from 1, passage, relevance."
            raise FileFormatError(message, advice=advice, line=number) from error
        labels = found.setdefault(question, {}).setdefault(passage, set())
        if relevant:
            labels.add(place)
    return AspectJudgments.of(found)
