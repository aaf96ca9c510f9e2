"""LLM tasks of metrics: a named prompt, inputs between tags, and a JSON reply.

The schema of a pydantic model is sent as `response_format` and in the prompt, for endpoints without
structured output. A malformed reply is retried once; after that the task has no result.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from data.errors import SpecError
from data.models import Outcome, Reply
from judges.llm.replies import split_reasoning, weighted_score
from judges.llm.requests import CallFailure, LlmClient, Message, Request, ResponseFormat, Sampling
from judges.llm.templates import Input, Template, load_template
from judges.llm.tools import LocalTool, calls_of, converse

T = TypeVar("T", bound=BaseModel)

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
TOP_LOGPROBS = 20
MAX_REPLY = 2_000
FORM = "Reply with one JSON object and nothing else. It follows this JSON Schema:\n{schema}"
AGAIN = "That reply cannot be used: {problem}. Reply once more, with the JSON object alone."
MAX_PASSES = 20
NESTING_COST = 5_000
"""Maximum characters to search for nested braces beyond the parser's recursion limit."""


@dataclass(frozen=True, kw_only=True)
class ScoreField:
    """An integer field of the reply, to be weighted by token probabilities."""

    field: str
    values: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Task(Generic[T]):
    """One kind of request to an LLM.

    Attributes:
        name: Name of the schema in `response_format`: letters, digits, `_` and `-`.
        reply: Model of the reply.
        prompt: Name of the prompt file; by default the task's name.
        max_tokens: Maximum number of output tokens.
        temperature: 0 unless replies should vary.
        score: Field to weight by token probabilities, if any.
        logprobs: Whether to request token probabilities without a score field.
        tools: Tools that the model may call.
        stub: Returns a likely reply to inputs, for planning runs.
    """

    name: str
    reply: type[T]
    prompt: str = ""
    max_tokens: int = 1_024
    temperature: float = 0.0
    score: ScoreField | None = None
    logprobs: bool = False
    tools: tuple[LocalTool[Any], ...] = ()
    stub: Callable[[Mapping[str, Input]], Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            message = f"Invalid task name {self.name!r}."
            raise SpecError(message, advice="Use 1 to 64 letters, digits, '_' or '-'.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReply(Generic[T]):
    """Result of a task.

    Attributes:
        value: Validated reply.
        weighted: Expected value of the score field; None without token probabilities.
        reply: Reply of the LLM.
        calls: Number of replies, including malformed ones and replies with tool calls.
    """

    value: T
    weighted: float | None
    reply: Reply
    calls: int


class TaskRunner:
    """Runs tasks on one model at one endpoint."""

    def __init__(
        self,
        client: LlmClient,
        *,
        endpoint: str,
        model: str,
        prompts: Path | None = None,
        without: tuple[str, ...] = (),
        free: bool = False,
    ) -> None:
        self.endpoint = endpoint
        self.model = model
        self._client = client
        self._prompts = prompts
        self._without, self._free = without, free
        self._templates: dict[str, Template] = {}
        self._forms: dict[tuple[str, type[BaseModel]], ResponseFormat] = {}

    async def run(self, task: Task[T], inputs: Mapping[str, Input]) -> T | CallFailure:
        """Run a task and return its validated reply, or the reason for a failure."""
        result = await self.run_fully(task, inputs)
        return result if isinstance(result, CallFailure) else result.value

    async def run_fully(self, task: Task[T], inputs: Mapping[str, Input]) -> TaskReply[T] | CallFailure:
        """Run a task and return its result with the LLM's reply."""
        first = await converse(self._client, self.request(task, inputs), task.tools)
        if isinstance(first, CallFailure):
            return first
        value = read_reply(task, first.replies[-1])
        if not isinstance(value, str):
            return self._task_reply(task, value, first.replies)
        again = await converse(self._client, _reask(first.request, first.replies[-1], value), task.tools)
        if isinstance(again, CallFailure):
            return replace(again, calls=again.calls + len(first.replies))
        replies = (*first.replies, *again.replies)
        second = read_reply(task, replies[-1])
        if isinstance(second, str):
            return _unreadable(task, second, replies)
        return self._task_reply(task, second, replies)

    def request(self, task: Task[T], inputs: Mapping[str, Input]) -> Request:
        """Return a task's request, for estimates and tests."""
        template, form = self._template(task), self._form(task)
        schema = json.dumps(form.schema, separators=(",", ":"), ensure_ascii=False)
        system = f"{template.system}\n\n{FORM.format(schema=schema)}".strip()
        with_logprobs = task.logprobs or task.score is not None
        sampling = Sampling(
            temperature=task.temperature,
            max_tokens=task.max_tokens,
            logprobs=with_logprobs,
            top_logprobs=TOP_LOGPROBS if with_logprobs else None,
        )
        return Request(
            endpoint=self.endpoint,
            model=self.model,
            messages=(Message("system", system), Message("user", template.fill(inputs))),
            sampling=sampling,
            response_format=form,
            tools=tuple(tool.declared() for tool in task.tools),
            without=self._without,
            free=self._free,
        )

    def _template(self, task: Task[T]) -> Template:
        name = task.prompt or task.name
        if name not in self._templates:
            self._templates[name] = load_template(name, folder=self._prompts)
        return self._templates[name]

    def _form(self, task: Task[T]) -> ResponseFormat:
        kind = (task.name, task.reply)
        if kind not in self._forms:
            self._forms[kind] = ResponseFormat(name=task.name, schema=strict_schema(task.reply))
        return self._forms[kind]

    def _task_reply(self, task: Task[T], value: T, replies: Sequence[Reply]) -> TaskReply[T]:
        score, reply = task.score, replies[-1]
        return TaskReply(
            value=value,
            weighted=None if score is None else weighted_score(reply, score.field, score.values),
            reply=reply,
            calls=len(replies),
        )


def read_reply(task: Task[T], reply: Reply) -> T | str:
    """Return the last JSON object of a reply that matches the task's model, or the problem."""
    problem = (
        "it was cut off at its token limit" if reply.finish_reason == "length" else "it has no JSON object"
    )
    if task.tools and calls_of(reply):
        return "it calls a tool once more instead of answering"
    _, text = split_reasoning(reply.text, same_name=False)
    for value in reversed(list(_objects(text))):
        try:
            return task.reply.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the object"
            problem = f"{where}: {first['msg']}"
    return problem


def _objects(text: str) -> Iterator[object]:
    """Yield every outermost JSON object in a text, with a budget for the retries after unclosed braces."""
    decoder, place = json.JSONDecoder(), text.find("{")
    budget = MAX_PASSES * max(NESTING_COST, len(text))
    while place >= 0 and budget > 0:
        try:
            value, after = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            budget -= error.pos - place
            after = place + 1
        except (ValueError, RecursionError):
            budget -= NESTING_COST
            after = place + 1
        else:
            yield value
        place = text.find("{", after)


def _reask(request: Request, reply: Reply, problem: str) -> Request:
    follow_up = (Message("assistant", reply.text[:MAX_REPLY]), Message("user", AGAIN.format(problem=problem)))
    return replace(request, messages=(*request.messages, *follow_up))


def _unreadable(task: Task[T], problem: str, replies: Sequence[Reply]) -> CallFailure:
    costs = [reply.cost_usd for reply in replies if reply.cost_usd is not None and not reply.cached]
    return CallFailure(
        outcome=Outcome.UNREADABLE,
        detail=f"The reply to the task {task.name} stayed malformed: {problem}.",
        calls=len(replies),
        input_tokens=sum(reply.input_tokens for reply in replies),
        output_tokens=sum(reply.output_tokens for reply in replies),
        cost_usd=sum(costs) if costs else None,
    )


def strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's JSON schema for strict structured output: all fields required, no others allowed."""
    strict = _strict(model.model_json_schema())
    if not isinstance(strict, dict):
        message = f"{model.__name__} has no JSON object as its schema."
        raise SpecError(message, advice="Use a pydantic model with fields.")
    return strict


def _strict(schema: object) -> object:
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    mappings = {"properties", "$defs"}
    strict: dict[str, object] = {
        name: {key: _strict(inner) for key, inner in value.items()} if name in mappings else _strict(value)
        for name, value in schema.items()
        if name in mappings or name not in {"title", "default"}
    }
    if "properties" in schema:
        strict |= {"additionalProperties": False, "required": list(schema["properties"])}
    return strict
