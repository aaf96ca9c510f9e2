"""What CRUX asks of an LLM. The settings of sampling are the paper's (appendix A.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from judges.context.ratings import HIGHEST, LOWEST
from judges.llm.tasks import ScoreField, Task

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
    name="generate_sub_questions", reply=SubQuestionsReply, max_tokens=2_048, temperature=WRITING
)
RATING = Task(name="rate_answerability", reply=RatingReply, max_tokens=64)
WEIGHTED_RATING = replace(RATING, score=ScoreField(field="rating", values=SCALE))
PASSAGES = Task(name="write_passages", reply=PassagesReply, max_tokens=2_048, temperature=WRITING)
REQUEST = Task(name="write_request", reply=RequestReply, max_tokens=256, temperature=WRITING)
