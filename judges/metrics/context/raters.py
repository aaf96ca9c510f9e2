"""Raters of how well a text answers a sub-question: an LLM, or the embedded rater.

The settings of sampling are the paper's (appendix A.1).
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
from judges.text import contradictions
from judges.text.sentences import split_clauses, split_sentences
from judges.text.statements import read_statements

WRITING = 0.7
SCALE = tuple(range(LOWEST, HIGHEST + 1))
Written = Annotated[str, Field(min_length=1)]


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True)


class SubQuestionsReply(_Reply):
    """Sub-questions, each to be understood by itself."""

    sub_questions: tuple[Written, ...] = Field(min_length=1)


class RatingReply(_Reply):
    """Rating of a passage for a sub-question."""

    rating: int = Field(ge=LOWEST, le=HIGHEST)


class PassagesReply(_Reply):
    """Passages that stand by themselves."""

    passages: tuple[Written, ...] = Field(min_length=1)


class RequestReply(_Reply):
    """An open-ended request."""

    request: Written


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
    """Sub-questions that coverage counts, and their source."""

    texts: tuple[str, ...]
    origin: Origin


async def find_sub_questions(item: MetricItem, runner: TaskRunner | None, *, most: int) -> SubQuestions:
    """Return an item's sub-questions.

    Where it has none, an LLM writes them from the reference; without an LLM the statements of the reference
    stand in for them, each asking whether a text says it too.

    Source: CRUX, section 3.2 ("diverse sub-questions").
    """
    listed = tuple(dict.fromkeys(text.strip() for text in item.sub_questions if text.strip()))
    if listed:
        return SubQuestions(listed, Origin.GIVEN)
    reference = (item.reference or "").strip()
    if declines(reference, item.question):
        reason = "There are no sub-questions, and no reference to write them from."
        raise UnscoredError(Outcome.UNREADABLE, reason)
    if runner is None:
        clauses = (clause for sentence in split_sentences(reference) for clause in split_clauses(sentence))
        statements = tuple(dict.fromkeys(clause for clause in clauses if read_statements(clause)))
        if not statements:
            raise UnscoredError(Outcome.UNREADABLE, "The reference says nothing that could be asked for.")
        return SubQuestions(statements, Origin.STATEMENTS)
    inputs: dict[str, Input] = {"question": item.question, "text": reference, "most": most}
    reply = await runner.run(SUB_QUESTIONS, inputs)
    if isinstance(reply, CallFailure):
        raise UnscoredError(reply.outcome, f"No sub-questions could be written: {reply.detail}")
    return SubQuestions(tuple(dict.fromkeys(reply.sub_questions))[:most], Origin.WRITTEN)


NOTHING_MET = 0.05
MET_IN_FULL = 0.55
UNTRUE_FROM = 0.5
PASSAGE_CACHE_SIZE = 1 << 10
WORST_FIRST = (Outcome.FAILED, Outcome.SKIPPED, Outcome.REFUSED, Outcome.UNREADABLE)
Rows = list[list[float]]


class LlmRater:
    """Asks about every pair of a text and a sub-question by itself.

    Rows have a rating of 0–5 a sub-question, one row a passage. With `weighted` a rating is the expected one
    over token probabilities where there are any.

    Source: CRUX, section 3.1 and appendix A.1. Its code takes a reply of another form as 0; here the
    ratings are missing.
    """

    def __init__(self, runner: TaskRunner, *, weighted: bool = False) -> None:
        self._runner = runner
        self._task = WEIGHTED_RATING if weighted else RATING

    async def passages(self, passages: Sequence[Passage], sub_questions: Sequence[str]) -> Rows:
        """Rate passages, all pairs at once; the scheduler sets the pace."""
        pairs = [(passage, question) for passage in passages for question in sub_questions]
        replies = await asyncio.gather(*(self._ask(*pair) for pair in pairs))
        _require_all(reply for reply in replies if isinstance(reply, CallFailure))
        ratings = [_rating(reply) for reply in replies if not isinstance(reply, CallFailure)]
        width = len(sub_questions)
        return [ratings[row * width : (row + 1) * width] for row in range(len(passages))]

    async def answer(self, answer: str, sub_questions: Sequence[str]) -> list[float]:
        """Rate an answer as the one passage that it is."""
        rows = await self.passages((Passage("", answer),), sub_questions)
        return rows[0]

    async def _ask(self, passage: Passage, sub_question: str) -> TaskReply[RatingReply] | CallFailure:
        text = Passage("", passage.text, passage.title)
        return await self._runner.run_fully(self._task, {"sub_question": sub_question, "passage": text})


class EmbeddedRater:
    """Rates by how far a text has the words that answer a sub-question in the reference and the passages.

    Statements of an answer that contradict the passages or the reference answer nothing.
    """

    def __init__(self, item: MetricItem) -> None:
        texts = tuple(passage.text for passage in item.passages)
        self._ground = _ground(item.question, item.reference or "", texts)

    async def passages(self, passages: Sequence[Passage], sub_questions: Sequence[str]) -> Rows:
        """Rate passages."""
        texts = (f"{passage.title}\n\n{passage.text}" for passage in passages)
        return [list(_rated(self._ground, text, tuple(sub_questions))) for text in texts]

    async def answer(self, answer: str, sub_questions: Sequence[str]) -> list[float]:
        """Rate an answer."""
        finder = self._ground.finder
        windows = contradictions.windows_over(
            [
                statement
                for statement in read_statements(answer)
                if all(contradiction.strength < UNTRUE_FROM for contradiction in finder.find(statement))
            ]
        )
        return self._ground.rated(windows, sub_questions)


class _Ground:
    """A question with its reference and passages, read once for all answers."""

    def __init__(self, question: str, reference: str, texts: Sequence[str]) -> None:
        statements = [statement for text in (reference, *texts) for statement in read_statements(text)]
        self._weights = contradictions.TermWeights.fit(
            [statement.terms for statement in statements], question
        )
        self._reader = contradictions.NeedReader([[reference], texts], self._weights)
        self.finder = contradictions.ContradictionFinder(statements, self._weights)

    def rated(self, windows: tuple[contradictions.Bag, ...], sub_questions: Sequence[str]) -> list[float]:
        return [_scaled(self._reader.share(each, windows)) for each in sub_questions]


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def _ground(question: str, reference: str, texts: tuple[str, ...]) -> _Ground:
    return _Ground(question, reference, texts)


@lru_cache(maxsize=PASSAGE_CACHE_SIZE)
def _rated(ground: _Ground, text: str, sub_questions: tuple[str, ...]) -> tuple[float, ...]:
    return tuple(ground.rated(contradictions.windows_of(text), sub_questions))


class KnownRater:
    """Takes ratings that are known, by sub-question and `text_key` of a passage, and has only others made."""

    def __init__(self, rater: "Rater", known: Mapping[str, Mapping[str, float]]) -> None:
        self._rater = rater
        self._known = known

    def rated(self, passage: Passage, sub_questions: Sequence[str]) -> list[float] | None:
        """Return the known ratings of a passage; None where one of them is not known."""
        key = text_key(passage.text)
        found = [self._known.get(question, {}).get(key) for question in sub_questions]
        ratings = [rating for rating in found if rating is not None]
        return ratings if len(ratings) == len(found) else None

    async def passages(self, passages: Sequence[Passage], sub_questions: Sequence[str]) -> Rows:
        """Rate passages."""
        known = [self.rated(passage, sub_questions) for passage in passages]
        others = [passage for passage, row in zip(passages, known, strict=True) if row is None]
        rows = await self._rater.passages(others, sub_questions) if others else []
        anew = iter(rows)
        return [next(anew) if row is None else row for row in known]

    async def answer(self, answer: str, sub_questions: Sequence[str]) -> list[float]:
        """Rate an answer."""
        return await self._rater.answer(answer, sub_questions)


Rater = LlmRater | EmbeddedRater | KnownRater


def text_key(text: str) -> str:
    """Return a text by its words: what two passages share that count once."""
    return " ".join(text.split())


def _scaled(share: float) -> float:
    return HIGHEST * min(1.0, max(0.0, (share - NOTHING_MET) / (MET_IN_FULL - NOTHING_MET)))


def _rating(reply: TaskReply[RatingReply]) -> float:
    return float(reply.value.rating) if reply.weighted is None else min(float(HIGHEST), reply.weighted)


def _require_all(unanswered: Iterable[CallFailure]) -> None:
    """Raise an `UnscoredError` for missing ratings; the outcome is one that a new request may change."""
    several = tuple(unanswered)
    if not several:
        return
    counts = Counter(failure.outcome for failure in several)
    worst = next(outcome for outcome in WORST_FIRST if counts[outcome])
    first = next(failure for failure in several if failure.outcome is worst)
    raise UnscoredError(worst, f"{len(several)} ratings could not be had, the first: {first.detail}")
