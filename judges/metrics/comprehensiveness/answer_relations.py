"""How two answers to one question stand to each other, with a tool for quantities in any unit.

The tool (Pint) is called natively where the endpoint calls tools. Where it turns such a request down
(HTTP 400, a batch), the call goes through a field of the reply and its result into a second request.
"""

from __future__ import annotations

import asyncio
import math
import re
from contextlib import nullcontext
from enum import StrEnum
from functools import lru_cache
from typing import Any, Self

from pydantic import BaseModel, Field, model_validator

from data.models import Outcome
from judges.llm.requests import CallFailure
from judges.llm.tasks import Task, TaskRunner
from judges.llm.templates import Input, Tagged
from judges.llm.tools import LocalTool
from judges.metrics.comprehensiveness.claims import Missing

TOLERANCE = 0.02
QUANTITY = re.compile(r"^\D*?(?P<number>-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)\s*(?P<unit>[^\d(;]*)")
BOUND_WORDS = re.compile(
    r"\b(?:about|around|approximately|approx|roughly|nearly|almost|some|circa|ca)\b\.?", re.IGNORECASE
)
UNUSABLE = re.compile(r"[^A-Za-z°µμ%/*^ 0-9-]")
PER_CENT = "%"


def compare_quantities(first: str, second: str) -> str:
    """Compare two quantities after converting their units (Pint), in a sentence for an LLM.

    Rounding within 2 % is equal; what cannot be read or has another dimension is incomparable.
    """
    a, b = _read(first), _read(second)
    if a is None or b is None or a.dimensionality != b.dimensionality:
        return f"{first!r} and {second!r} cannot be compared."
    left, right = (float(quantity.to_base_units().magnitude) for quantity in (a, b))
    word = "smaller than" if left < right else "larger than"
    if math.isclose(left, right, rel_tol=TOLERANCE):
        word = "equal to"
    return f"{first} is {word} {second} ({left:g} and {right:g} in the same unit)."


@lru_cache(maxsize=1)
def _registry() -> Any:  # noqa: ANN401 - Pint's types are not exported
    import pint  # noqa: PLC0415 - takes a while to load and only some answers need it

    return pint.UnitRegistry(autoconvert_offset_to_baseunit=True)


@lru_cache(maxsize=1 << 12)
def _read(text: str) -> Any | None:  # noqa: ANN401 - as above
    import pint  # noqa: PLC0415 - as above

    match = QUANTITY.match(BOUND_WORDS.sub(" ", text).replace("\u2212", "-"))
    if match is None:
        return None
    unit = UNUSABLE.sub("", match["unit"]).strip().replace("°C", "degC").replace("°F", "degF")
    number = float(match["number"].replace(",", ""))
    try:
        return _registry().Quantity(number, unit.replace(PER_CENT, "percent") or "dimensionless")
    except (pint.errors.PintError, AttributeError, ValueError, TypeError, AssertionError):
        return None


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
            raise ValueError("there is neither a relation nor a tool call")
        return self


def _compare(call: QuantityCall) -> str:
    return compare_quantities(call.first, call.second)


QUANTITIES = LocalTool(
    name="compare_quantities",
    description="Compares two physical quantities exactly, whatever their units: equal, smaller or larger.",
    arguments=QuantityCall,
    run=_compare,
)
COMPARE_ANSWERS = Task(
    name="compare_answers",
    reply=ComparedAnswers,
    max_tokens=512,
    stub=lambda _: {"reasoning": "word " * 20, "relation": "neutral"},
)
COMPARE_WITH_TOOL = Task(
    name="compare_answers",
    reply=RelatedAnswers,
    prompt="compare_answers_with_tool",
    max_tokens=512,
    tools=(QUANTITIES,),
    stub=COMPARE_ANSWERS.stub,
)


class AnswerComparer:
    """Compares answers by an LLM, and remembers whether the endpoint calls tools."""

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
        # One request finds out for all: many rejected ones would look like a failing endpoint.
        async with self._finding_out if self._tools is None else nullcontext():
            relation = await self._natively(inputs)
        return await self._by_field(inputs) if relation is None else relation

    async def _natively(self, inputs: dict[str, Input]) -> AnswerRelation | Missing | None:
        """Ask with the tool; None where the endpoint does not call tools."""
        if self._tools is False:
            return None
        reply = await self._runner.run(COMPARE_WITH_TOOL, inputs)
        if isinstance(reply, CallFailure):
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
        if isinstance(reply, CallFailure):
            return Missing(reply.outcome, reply.detail)
        if reply.relation is None:
            return Missing(Outcome.UNREADABLE, "The reply to the task compare_answers calls the tool twice.")
        return reply.relation
