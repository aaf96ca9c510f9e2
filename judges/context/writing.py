"""The writer of the reference bounds: an LLM that answers with or without a context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from data.records import Passage
from judges.llm.requests import Unanswered
from judges.llm.tasks import Task, TaskRunner
from judges.llm.templates import Input

MOST_TOKENS = 2_048


class AnswerReply(BaseModel):
    """An answer."""

    model_config = ConfigDict(frozen=True)

    answer: Annotated[str, Field(min_length=1)]


UNAIDED = Task(name="write_unaided", reply=AnswerReply, max_tokens=MOST_TOKENS)
FROM_CONTEXT = Task(name="write_from_context", reply=AnswerReply, max_tokens=MOST_TOKENS)


class LlmWriter:
    """Writes the answers of the bounds.

    Args:
        runner: Runs the tasks on the LLM whose bounds are wanted.

    Source: CRUX, section 4.2 (the generator of the reference runs).
    """

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner

    async def write(self, question: str, passages: Sequence[Passage]) -> str | Unanswered:
        """Answer a question.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        if passages:
            shown = [Passage("", each.text, each.title) for each in passages]
            inputs: dict[str, Input] = {"question": question, "passages": shown}
            found = await self._runner.run(FROM_CONTEXT, inputs)
        else:
            found = await self._runner.run(UNAIDED, {"question": question})
        return found if isinstance(found, Unanswered) else found.answer
