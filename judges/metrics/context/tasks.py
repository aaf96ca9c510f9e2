"""What CRUX asks of an LLM. The settings of sampling are the paper's (appendix A.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from data.models import MetricItem, Outcome
from judges.llm.requests import CallFailure
from judges.llm.tasks import ScoreField, Task, TaskRunner
from judges.llm.templates import Input
from judges.metrics.comprehensiveness.claims import Missing
from judges.metrics.context.ratings import HIGHEST, LOWEST
from judges.metrics.stubs import numbered_questions
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
    """How well a passage answers a sub-question."""

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
    """Where sub-questions come from."""

    GIVEN = "given"
    WRITTEN = "written from the reference"
    STATEMENTS = "statements of the reference"


@dataclass(frozen=True, slots=True)
class SubQuestions:
    """What coverage counts, and where it comes from."""

    texts: tuple[str, ...]
    origin: Origin


async def find_sub_questions(
    item: MetricItem, runner: TaskRunner | None, *, most: int
) -> SubQuestions | Missing:
    """Return an item's sub-questions.

    Where it has none, an LLM writes them from the reference; without an LLM the statements of the reference
    stand in for them, each asking whether a text says it too.

    Raises:
        JudgeError: Asking as a whole cannot go on.

    Source: CRUX, section 3.2 ("diverse sub-questions").
    """
    listed = tuple(dict.fromkeys(text.strip() for text in item.sub_questions if text.strip()))
    if listed:
        return SubQuestions(listed, Origin.GIVEN)
    reference = (item.reference or "").strip()
    if not reference:
        return Missing(Outcome.UNREADABLE, "There are no sub-questions, and no reference to write them from.")
    if runner is None:
        clauses = (clause for sentence in split_sentences(reference) for clause in split_clauses(sentence))
        statements = tuple(dict.fromkeys(clause for clause in clauses if read_statements(clause)))
        if not statements:
            return Missing(Outcome.UNREADABLE, "The reference says nothing that could be asked for.")
        return SubQuestions(statements, Origin.STATEMENTS)
    inputs: dict[str, Input] = {"question": item.question, "text": reference, "most": most}
    reply = await runner.run(SUB_QUESTIONS, inputs)
    if isinstance(reply, CallFailure):
        return Missing(reply.outcome, f"No sub-questions could be written: {reply.detail}")
    return SubQuestions(tuple(dict.fromkeys(reply.sub_questions))[:most], Origin.WRITTEN)
