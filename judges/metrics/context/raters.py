"""Raters of answers to sub-questions in texts: an LLM, or the embedded rater.

Sampling settings follow the paper (appendix A.1).
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from data.declines import declines
from data.models import MetricItem, Outcome, Passage
from judges.llm.requests import CallFailure
from judges.llm.tasks import ScoreField, Task, TaskReply, TaskRunner
from judges.llm.templates import Input
from judges.metrics.comprehensiveness.graph import UnscoredError
from judges.metrics.context.ratings import HIGHEST, LOWEST
from judges.metrics.dry_run import numbered_questions
from judges.metrics.relations.model import QUESTION_CACHE_SIZE
from judges.metrics.relations.windows import Bag, NeedReader, windows_of, windows_over
from judges.text.contradictions import ContradictionFinder, TermWeights
from judges.text.sentences import split_clauses, split_sentences
from judges.text.statements import read_statements

WRITING = 0.7
SCALE = tuple(range(LOWEST, HIGHEST + 1))
NonEmpty = Annotated[str, Field(min_length=1)]


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True)


class SubQuestionsReply(_Reply):
    """Sub-questions, each to be understood by itself."""

    sub_questions: tuple[NonEmpty, ...] = Field(min_length=1)


class RatingReply(_Reply):
    """Rating of a passage for a sub-question."""

    rating: int = Field(ge=LOWEST, le=HIGHEST)


class PassagesReply(_Reply):
    """Passages that stand by themselves."""

    passages: tuple[NonEmpty, ...] = Field(min_length=1)


class RequestReply(_Reply):
    """An open-ended request."""

    request: NonEmpty


SUB_QUESTIONS = Task(
    name="generate_sub_questions",
    reply=SubQuestionsReply,
    max_tokens=2_048,
    temperature=WRITING,
    stub=numbered_questions("sub_questions"),
)
RATING = Task(name="rate_answerability", reply=RatingReply, max_tokens=64, stub=lambda _: {"rating": 3})
WEIGHTED_RATING = replace(RATING, score=ScoreField(field="rating", values=SCALE))
PASSAGES = Task(name="write_passages", reply=PassagesReply, max_tokens=2_048, temperature=WRITING)
REQUEST = Task(name="write_request", reply=RequestReply, max_tokens=256, temperature=WRITING)


class Origin(StrEnum):
    """Source of sub-questions."""

    GIVEN = "given"
    WRITTEN = "written from the reference"
    STATEMENTS = "statements of the reference"


@dataclass(frozen=True, slots=True)
class SubQuestions:
    """Sub-questions and their source."""

    texts: tuple[str, ...]
    origin: Origin


async def find_sub_questions(item: MetricItem, runner: TaskRunner | None, *, maximum: int) -> SubQuestions:
    """Return an item's sub-questions, or let an LLM write them from the reference.

    Without an LLM the statements of the reference serve as sub-questions: does the text say this?

    Source: CRUX, section 3.2 ("diverse sub-questions").
    """
    own = tuple(dict.fromkeys(text.strip() for text in item.sub_questions if text.strip()))
    if own:
        return SubQuestions(own, Origin.GIVEN)
    reference = (item.reference or "").strip()
    if declines(reference, item.question):
        reason = "There are no sub-questions, and no reference to write them from."
        raise UnscoredError(Outcome.UNREADABLE, reason)
    if runner is None:
        clauses = (clause for sentence in split_sentences(reference) for clause in split_clauses(sentence))
        statements = tuple(dict.fromkeys(clause for clause in clauses if read_statements(clause)))
        if not statements:
            raise UnscoredError(Outcome.UNREADABLE, "The reference contains no statements.")
        return SubQuestions(statements, Origin.STATEMENTS)
    inputs: dict[str, Input] = {"question": item.question, "text": reference, "most": maximum}
    reply = await runner.run(SUB_QUESTIONS, inputs)
    if isinstance(reply, CallFailure):
        raise UnscoredError(reply.outcome, f"Writing sub-questions failed: {reply.detail}")
    return SubQuestions(tuple(dict.fromkeys(reply.sub_questions))[:maximum], Origin.WRITTEN)


MIN_SHARE = 0.05
FULL_SHARE = 0.55
UNTRUE_FROM = 0.5
PASSAGE_CACHE_SIZE = 1 << 10
WORST_FIRST = (Outcome.FAILED, Outcome.SKIPPED, Outcome.REFUSED, Outcome.UNREADABLE)
Rows = list[list[float]]


class LlmRater:
    """Asks about every pair of a text and a sub-question separately.

    Results have one row per passage with a rating of 0–5 per sub-question. With `weighted`, ratings are
    expected values over token probabilities, if available.

    Source: CRUX, section 3.1 and appendix A.1. Its code rates malformed replies 0; here such ratings are
    missing.
    """

    def __init__(self, runner: TaskRunner, *, weighted: bool = False) -> None:
        self._runner = runner
        self._task = WEIGHTED_RATING if weighted else RATING

    async def passages(self, passages: Sequence[Passage], sub_questions: Sequence[str]) -> Rows:
        """Rate passages, all pairs concurrently."""
        pairs = [(passage, question) for passage in passages for question in sub_questions]
        replies = await asyncio.gather(*(self._ask(*pair) for pair in pairs))
        _require_all(reply for reply in replies if isinstance(reply, CallFailure))
        ratings = [_rating(reply) for reply in replies if not isinstance(reply, CallFailure)]
        width = len(sub_questions)
        return [ratings[row * width : (row + 1) * width] for row in range(len(passages))]

    async def answer(self, answer: str, sub_questions: Sequence[str]) -> list[float]:
        """Rate an answer like a passage."""
        rows = await self.passages((Passage("", answer),), sub_questions)
        return rows[0]

    async def _ask(self, passage: Passage, sub_question: str) -> TaskReply[RatingReply] | CallFailure:
        text = Passage("", passage.text, passage.title)
        return await self._runner.run_fully(self._task, {"sub_question": sub_question, "passage": text})


class EmbeddedRater:
    """Rates by the words that answer a sub-question in the reference and the passages.

    Statements of an answer that contradict the passages or the reference do not count.
    """

    def __init__(self, item: MetricItem) -> None:
        texts = tuple(passage.text for passage in item.passages)
        self._ground = _ground(item.question, item.reference or "", texts)

    async def passages(self, passages: Sequence[Passage], sub_questions: Sequence[str]) -> Rows:
        """Rate passages."""
        texts = (f"{passage.title}\n\n{passage.text}" for passage in passages)
        return [list(_rate(self._ground, text, tuple(sub_questions))) for text in texts]

    async def answer(self, answer: str, sub_questions: Sequence[str]) -> list[float]:
        """Rate an answer."""
        finder = self._ground.finder
        windows = windows_over(
            [
                statement
                for statement in read_statements(answer)
                if all(contradiction.strength < UNTRUE_FROM for contradiction in finder.find(statement))
            ]
        )
        return self._ground.rate(windows, sub_questions)


class _Ground:
    """A question with its parsed reference and passages, shared by all answers."""

    def __init__(self, question: str, reference: str, texts: Sequence[str]) -> None:
        statements = [statement for text in (reference, *texts) for statement in read_statements(text)]
        self._weights = TermWeights.fit([statement.terms for statement in statements], question)
        self._reader = NeedReader([[reference], texts], self._weights)
        self.finder = ContradictionFinder(statements, self._weights)

    def rate(self, windows: tuple[Bag, ...], sub_questions: Sequence[str]) -> list[float]:
        return [_scale(self._reader.share(question, windows)) for question in sub_questions]


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def _ground(question: str, reference: str, texts: tuple[str, ...]) -> _Ground:
    return _Ground(question, reference, texts)


@lru_cache(maxsize=PASSAGE_CACHE_SIZE)
def _rate(ground: _Ground, text: str, sub_questions: tuple[str, ...]) -> tuple[float, ...]:
    return tuple(ground.rate(windows_of(text), sub_questions))


class KnownRater:
    """Reuses known ratings by sub-question and `text_key` of a passage, and requests the others."""

    def __init__(self, rater: "Rater", known: Mapping[str, Mapping[str, float]]) -> None:
        self._rater = rater
        self._known = known

    def known_ratings(self, passage: Passage, sub_questions: Sequence[str]) -> list[float] | None:
        """Return the known ratings of a passage, if they are complete."""
        key = text_key(passage.text)
        row = [self._known.get(question, {}).get(key) for question in sub_questions]
        ratings = [rating for rating in row if rating is not None]
        return ratings if len(ratings) == len(row) else None

    async def passages(self, passages: Sequence[Passage], sub_questions: Sequence[str]) -> Rows:
        """Rate passages."""
        known = [self.known_ratings(passage, sub_questions) for passage in passages]
        missing = [passage for passage, row in zip(passages, known, strict=True) if row is None]
        rows = iter(await self._rater.passages(missing, sub_questions) if missing else [])
        return [next(rows) if row is None else row for row in known]

    async def answer(self, answer: str, sub_questions: Sequence[str]) -> list[float]:
        """Rate an answer."""
        return await self._rater.answer(answer, sub_questions)


Rater = LlmRater | EmbeddedRater | KnownRater


def text_key(text: str) -> str:
    """Return a text with normalised whitespace, the key of distinct passages."""
    return " ".join(text.split())


def _scale(share: float) -> float:
    return HIGHEST * min(1.0, max(0.0, (share - MIN_SHARE) / (FULL_SHARE - MIN_SHARE)))


def _rating(reply: TaskReply[RatingReply]) -> float:
    return float(reply.value.rating) if reply.weighted is None else min(float(HIGHEST), reply.weighted)


def _require_all(results: Iterable[CallFailure]) -> None:
    """Raise `UnscoredError` for missing ratings, preferring outcomes that a retry may change."""
    failures = tuple(results)
    if not failures:
        return
    counts = Counter(failure.outcome for failure in failures)
    worst = next(outcome for outcome in WORST_FIRST if counts[outcome])
    first = next(failure for failure in failures if failure.outcome is worst)
    raise UnscoredError(worst, f"{len(failures)} ratings are missing. First reason: {first.detail}")
