"""How two answers to one question stand to each other, with a tool for quantities in any unit.

The tool (Pint) is called natively where the endpoint calls tools. Where it turns such a request down
(HTTP 400, a batch), the call goes through a field of the reply and its result into a second request.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, Field, model_validator

from data.records import Outcome
from judges.comprehensiveness.claims import Missing
from judges.comprehensiveness.units import compare_quantities
from judges.llm.requests import Unanswered
from judges.llm.tasks import Task, TaskRunner
from judges.llm.templates import Input, Tagged
from judges.llm.tools import LocalTool

NOT_CALLED = "(not called)"


class AnswerRelation(StrEnum):
    """How two answers to one question stand to each other."""

    EQUIVALENT = "equivalent"
    FIRST_IMPLIES_SECOND = "first implies second"
    SECOND_IMPLIES_FIRST = "second implies first"
    CONTRADICTORY = "contradictory"
    NEUTRAL = "neutral"


class QuantityCall(BaseModel):
    """A call of the tool that compares two quantities whatever their units."""

    first: str = Field(description="A number with its unit, as in the first answer.")
    second: str = Field(description="A number with its unit, as in the second answer.")


class RelatedAnswers(BaseModel):
    """The reply to `compare_answers` on an endpoint that calls tools."""

    reasoning: str
    relation: AnswerRelation


class ComparedAnswers(BaseModel):
    """The reply to `compare_answers` elsewhere: a tool call, or a reason and the relation."""

    compare_quantities: QuantityCall | None = Field(
        default=None, description="Call the tool first where both answers are quantities; else null."
    )
    reasoning: str = ""
    relation: AnswerRelation | None = Field(default=None, description="Null only with a tool call.")

    @model_validator(mode="after")
    def _decided(self) -> Self:
        if self.relation is None and self.compare_quantities is None:
            message = "there is neither a relation nor a tool call"
            raise ValueError(message)
        return self


def _compare(call: QuantityCall) -> str:
    return compare_quantities(call.first, call.second).text


QUANTITIES = LocalTool(
    name="compare_quantities",
    description="Compares two physical quantities exactly, whatever their units: equal, smaller or larger.",
    arguments=QuantityCall,
    run=_compare,
)
COMPARE_ANSWERS = Task(name="compare_answers", reply=ComparedAnswers, max_tokens=512)
COMPARE_WITH_TOOL = Task(
    name="compare_answers",
    reply=RelatedAnswers,
    prompt="compare_answers_with_tool",
    max_tokens=512,
    tools=(QUANTITIES,),
)


class AnswerComparer:
    """Compares answers, and remembers whether the endpoint calls tools.

    Args:
        runner: Asks an LLM.
    """

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner
        self._tools: bool | None = None
        self._finding_out = asyncio.Lock()

    async def __call__(self, question: str, first: str, second: str) -> AnswerRelation | Missing:
        """Compare two answers; equal wordings are equivalent unasked."""
        if first.casefold() == second.casefold():
            return AnswerRelation.EQUIVALENT
        inputs: dict[str, Input] = {
            "question": question,
            "first": Tagged("first_answer", first),
            "second": Tagged("second_answer", second),
        }
        if self._tools is None:
            # One request finds out for all: a crowd of rejected ones would look like a dead endpoint.
            async with self._finding_out:
                found = await self._natively(inputs)
        else:
            found = await self._natively(inputs)
        return await self._by_field(inputs) if found is None else found

    async def _natively(self, inputs: dict[str, Input]) -> AnswerRelation | Missing | None:
        """Ask with the tool; None where the endpoint does not call tools."""
        if self._tools is False:
            return None
        reply = await self._runner.run(COMPARE_WITH_TOOL, inputs)
        if isinstance(reply, Unanswered):
            if reply.rejected and self._tools is None:
                self._tools = False
                return None
            return Missing(reply.outcome, reply.detail)
        self._tools = True
        return reply.relation

    async def _by_field(self, inputs: dict[str, Input]) -> AnswerRelation | Missing:
        """Ask without tools; the LLM may call the tool once by a field of its reply."""
        uncalled = inputs | {"tool_result": Tagged("tool_result", NOT_CALLED)}
        reply = await self._runner.run(COMPARE_ANSWERS, uncalled)
        if isinstance(reply, ComparedAnswers) and reply.relation is None and reply.compare_quantities:
            called = inputs | {"tool_result": Tagged("tool_result", _compare(reply.compare_quantities))}
            reply = await self._runner.run(COMPARE_ANSWERS, called)
        if isinstance(reply, Unanswered):
            return Missing(reply.outcome, reply.detail)
        if reply.relation is None:
            return Missing(Outcome.UNREADABLE, "The reply to the task compare_answers calls the tool twice.")
        return reply.relation
