"""What a set is made of: words, documents, passages and short answers, as papers tabulate them.

Source: RAG-QA Arena, tables 2 and 7 and figure 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from arena.models.sets import SetStatistics
from data.models import Question
from data.store import Store

OVERALL = "overall"
MANY_DOCUMENTS = 10
MOST_COUNTED = 5
"""Sentences of as many documents or more are counted together."""


class StatisticsService:
    """Counts what stored sets are made of."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, name: str) -> tuple[SetStatistics, ...]:
        """The statistics of a set: overall first, then by domain in the set's order.

        Raises:
            NotFoundError: There is no such set.
        """
        summary = self._store.sets.summary(name)
        by_domain: dict[str, list[Question]] = {domain: [] for domain in summary.domains}
        for _, question in self._store.sets.numbered(summary.id):
            by_domain[question.domain].append(question)
        whole = [question for questions in by_domain.values() for question in questions]
        parts = [(domain, questions) for domain, questions in by_domain.items() if questions]
        return tuple(domain_statistics(domain, questions) for domain, questions in [(OVERALL, whole), *parts])


def domain_statistics(domain: str, questions: Sequence[Question]) -> SetStatistics:
    """Count some questions."""
    documents = [len(set(question.gold_doc_ids)) for question in questions if question.gold_doc_ids]
    cited = [len(set(sentence)) for question in questions for sentence in question.citations]
    by_count = Counter(min(count, MOST_COUNTED) for count in cited)
    short = [question.short_answers for question in questions if question.short_answers]
    passages = [question.passages for question in questions if question.passages]
    references = [question.reference for question in questions if question.reference]
    return SetStatistics(
        domain=domain,
        questions=len(questions),
        references=len(references),
        reference_words=_mean_words(references),
        words_a_question=_mean_words([question.reference or "" for question in questions]),
        question_words=_mean_words([question.question for question in questions]),
        documents=_mean(documents),
        several_documents=_mean([count > 1 for count in documents]),
        many_documents=_mean([count >= MANY_DOCUMENTS for count in documents]),
        most_documents=max(documents, default=None),
        sentences=len(cited),
        documents_a_sentence=[by_count[count] / len(cited) for count in range(MOST_COUNTED + 1)]
        if cited
        else [],
        short_answers=_mean(list(map(len, short))),
        short_answer_words=_mean_words(chain.from_iterable(short)),
        passages=_mean(list(map(len, passages))),
        passage_words=_mean_words(passage.text for passage in chain.from_iterable(passages)),
    )


def _mean_words(texts: Iterable[str]) -> float | None:
    return _mean([len(text.split()) for text in texts])


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None
