"""Build a controlled set: from a summary and its documents to a question whose oracle is known.

The documents become passages that stand by themselves, the summary becomes an open-ended request and
sub-questions, and every passage is rated for every sub-question, so that contexts which draw on these
passages need no further rating.

Source: CRUX, section 3.2 and appendix A.1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from data.errors import RecordError
from data.records import MetricItem, Outcome, Passage, Question
from judges.comprehensiveness.claims import Missing
from judges.context.pool import token_count
from judges.context.raters import LlmRater
from judges.context.ratings import Ratings
from judges.context.settings import ContextSettings
from judges.context.sub_questions import find_sub_questions
from judges.context.subsets import Order, required_subset
from judges.context.tasks import PASSAGES, REQUEST
from judges.llm.requests import Unanswered
from judges.llm.tasks import TaskRunner
from judges.text.sentences import split_sentences

LONGEST_DOCUMENT = 1_024
AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a question is built from.

    Attributes:
        id: Becomes the question's id.
        domain: Becomes its domain.
        summary: Written by people from the documents: the oracle's answer.
        documents: What the summary was written from; their ids begin the ids of the passages.

    Raises:
        RecordError: There is no summary, or no document with a text.
    """

    id: str
    domain: str
    summary: str
    documents: tuple[Passage, ...]

    def __post_init__(self) -> None:
        if not self.summary.strip() or not any(document.text.strip() for document in self.documents):
            message = f"The source {self.id} has no summary or no documents."
            raise RecordError(message, advice="Give a summary and the documents that it was written from.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled:
    """A question of a controlled set.

    Attributes:
        question: The request with the summary as reference, the passages, and the sub-questions that the
            passages answer.
        ratings: The passages' ratings for these sub-questions.
        dropped: Sub-questions that no passage answers.
    """

    question: Question
    ratings: Ratings
    dropped: tuple[str, ...]

    def required(self, order: Order = Order.STATIC) -> tuple[str, ...]:
        """The ids of the passages that suffice, P**: the oracle context."""
        return tuple(self.question.passages[place].id for place in required_subset(self.ratings, order))


class ControlledSetBuilder:
    """Builds questions from sources with an LLM.

    Args:
        runner: Runs the tasks `write_passages`, `write_request`, `generate_sub_questions` and
            `rate_answerability`.
        settings: How many sub-questions, and the threshold.
    """

    def __init__(self, runner: TaskRunner, settings: ContextSettings) -> None:
        self._runner = runner
        self._settings = settings

    async def build(self, source: Source) -> Controlled | Missing:
        """Build one question.

        Returns:
            The question, or why there is none: a step brought no reply, or no sub-question can be answered.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        passages = await self._passages(source)
        if isinstance(passages, Missing):
            return passages
        request = await self._runner.run(REQUEST, {"report": source.summary})
        if isinstance(request, Unanswered):
            return Missing(request.outcome, f"No request could be written: {request.detail}")
        item = MetricItem(id=source.id, question=request.request, answer="", reference=source.summary)
        asked = await find_sub_questions(item, self._runner, most=self._settings.sub_questions)
        if isinstance(asked, Missing):
            return asked
        rater = LlmRater(self._runner, weighted=self._settings.weighted)
        rows = await rater.passages(passages, asked.texts)
        if isinstance(rows, Missing):
            return rows
        every = Ratings.of(rows, threshold=self._settings.threshold)
        if not every.answerable:
            reason = "None of the sub-questions can be answered from the documents."
            return Missing(Outcome.UNREADABLE, reason)
        kept = every.answerable
        return Controlled(
            question=Question(
                id=source.id,
                domain=source.domain,
                question=request.request,
                reference=source.summary,
                passages=passages,
                sub_questions=tuple(asked.texts[place] for place in kept),
            ),
            ratings=Ratings(values=every.values[:, list(kept)], threshold=every.threshold),
            dropped=tuple(text for place, text in enumerate(asked.texts) if place not in kept),
        )

    async def _passages(self, source: Source) -> tuple[Passage, ...] | Missing:
        pieces = [(document, piece) for document in source.documents for piece in cut_document(document.text)]
        replies = await asyncio.gather(
            *(self._runner.run(PASSAGES, {"document": piece}) for _, piece in pieces)
        )
        written: list[Passage] = []
        numbers: dict[str, int] = {}
        for (document, _), reply in zip(pieces, replies, strict=True):
            if isinstance(reply, Unanswered):
                return Missing(reply.outcome, f"No passages could be written: {reply.detail}")
            for text in reply.passages:
                numbers[document.id] = numbers.get(document.id, 0) + 1
                written.append(Passage(f"{document.id}-{numbers[document.id]}", text, document.title))
        return tuple(written)


def cut_document(text: str, longest: int = LONGEST_DOCUMENT) -> Iterator[str]:
    """Cut a document between sentences into pieces of at most about `longest` tokens."""
    piece: list[str] = []
    size = 0
    for sentence in split_sentences(text):
        tokens = token_count(sentence)
        if piece and size + tokens > longest:
            yield " ".join(piece)
            piece, size = [], 0
        piece.append(sentence)
        size += tokens
    if piece:
        yield " ".join(piece)


async def build_all(
    builder: ControlledSetBuilder,
    sources: Sequence[Source],
    *,
    at_once: int = AT_ONCE,
    report: Callable[[int, int], None] | None = None,
) -> tuple[tuple[Controlled, ...], dict[str, Missing]]:
    """Build every question; those that could not be built are returned by id with their reasons.

    Args:
        builder: Builds one.
        sources: What to build from.
        at_once: Sources in work at most.
        report: Called with the sources done and those that there are.

    Raises:
        JudgeError: Asking as a whole cannot go on.
    """
    places = asyncio.Semaphore(at_once)
    done = 0

    async def one(source: Source) -> Controlled | Missing:
        nonlocal done
        async with places:
            built = await builder.build(source)
        done += 1
        if report is not None:
            report(done, len(sources))
        return built

    tasks = [asyncio.create_task(one(source)) for source in sources]
    try:
        found = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    named = list(zip(sources, found, strict=True))
    built = tuple(each for each in found if isinstance(each, Controlled))
    return built, {source.id: each for source, each in named if isinstance(each, Missing)}
