"""Forecast a metric's requests by running it on stub replies instead of an LLM.

Steps and prompts are the metric's own; only replies are assumed, with a fixed number of claims per sentence.
Identical requests count once.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from data.errors import SpecError
from data.models import Passage, Reply
from judges.llm.requests import CallFailure, Request
from judges.llm.tasks import Task, TaskReply, TaskRunner
from judges.llm.templates import Input, Tagged
from judges.llm.token_counting import BYTES_PER_TOKEN, TokenCounter
from judges.text.sentences import split_sentences

ENTAILED_FROM = 0.6
WORD = re.compile(r"\w+")
LIST_OF = 5
"""Default length of lists such as aspects or questions."""
MIN_WORD = 4

Stub = Callable[[Mapping[str, Input]], Mapping[str, Any]]


def texts(value: Input) -> list[str]:
    """Return the texts of an input."""
    match value:
        case int():
            return []
        case str():
            return [value]
        case Tagged() | Passage():
            return [value.text]
        case _:
            return [text for item in value for text in texts(item)]


def ids(value: Input) -> list[str]:
    """Return the ids of an input's parts."""
    return [item.id for item in value if isinstance(item, Tagged)] if isinstance(value, Sequence) else []


def says(text: str, statement: str) -> bool:
    """Return whether a text contains most words of a statement."""
    query = _words(statement)
    return bool(query) and len(query & _words(text)) / len(query) >= ENTAILED_FROM


def numbered_questions(name: str) -> Stub:
    """Return a stub that repeats the question the requested number of times in a field."""

    def stub(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
        (question,) = texts(inputs["question"])
        maximum = inputs.get("most", LIST_OF)
        count = maximum if isinstance(maximum, int) else LIST_OF
        return {name: [f"{number}. {question}" for number in range(1, count + 1)]}

    return stub


def first_words(name: str, count: int) -> Stub:
    """Return a stub that summarises an input by its first words."""

    def stub(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
        return {"summary": " ".join(" ".join(texts(inputs[name])).split()[:count])}

    return stub


def _words(text: str) -> set[str]:
    return {word.casefold() for word in WORD.findall(text) if len(word) >= MIN_WORD}


T = TypeVar("T", bound=BaseModel)

CLAIMS_PER_SENTENCE = 2
EXTRACT_CLAIMS = "extract_claims"
"""Task whose stub depends on the runner's claims per sentence."""
MEASURED = 100
"""Number of requests per task whose tokens are counted; the others are extrapolated."""


@dataclass(slots=True, kw_only=True)
class TaskRequests:
    """Requests of one task.

    Attributes:
        requests: Number of distinct requests.
        measured: Number of requests with counted tokens.
        input_tokens: Input tokens of the measured requests.
        output_tokens: Output tokens of their stubs.
        most_output: Maximum output tokens of a reply.
    """

    requests: int = 0
    measured: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    most_output: int = 0

    @property
    def tokens(self) -> tuple[float, float]:
        """Input and output tokens of all requests."""
        scale = self.requests / self.measured if self.measured else 0.0
        return self.input_tokens * scale, self.output_tokens * scale


@dataclass(slots=True)
class DryRun:
    """Requests so far, by task."""

    by_task: dict[str, TaskRequests] = field(default_factory=dict)

    @property
    def requests(self) -> int:
        """Total number of requests."""
        return sum(task.requests for task in self.by_task.values())


class DryRunner(TaskRunner):
    """Runs tasks on their stub replies and counts requests."""

    def __init__(self, *, endpoint: str, model: str, claims_per_sentence: int = CLAIMS_PER_SENTENCE) -> None:
        super().__init__(_NoClient(), endpoint=endpoint, model=model)
        self.dry_run = DryRun()
        self._claims = claims_per_sentence
        self._counter = TokenCounter()
        self._seen: set[object] = set()

    async def run_fully(self, task: Task[T], inputs: Mapping[str, Input]) -> TaskReply[T] | CallFailure:
        """Return a task's stub reply."""
        value = task.reply.model_validate(self._stub(task, inputs))
        key = (task.name, task.prompt, *((name, _frozen(inputs[name])) for name in sorted(inputs)))
        if key not in self._seen:
            self._seen.add(key)
            self._count(task, inputs, value)
        reply = Reply(key="", endpoint=self.endpoint, model=self.model, text="")
        return TaskReply(value=value, weighted=None, reply=reply, calls=1)

    def _count(self, task: Task[T], inputs: Mapping[str, Input], value: T) -> None:
        row = self.dry_run.by_task.setdefault(task.name, TaskRequests(most_output=task.max_tokens))
        row.requests += 1
        if row.measured < MEASURED:
            row.measured += 1
            row.input_tokens += self._counter.expected(self.request(task, inputs))
            row.output_tokens += self._tokens(value.model_dump_json())

    def _tokens(self, text: str) -> int:
        counted = self._counter.text(self.model, text)
        return -(-len(text.encode()) // BYTES_PER_TOKEN) if counted is None else counted

    def _stub(self, task: Task[T], inputs: Mapping[str, Input]) -> Mapping[str, Any]:
        if task.name == EXTRACT_CLAIMS:
            return {"claims": [{"text": claim, "kind": "fact"} for claim in self._claims_of(inputs["text"])]}
        if task.stub is None:
            message = f"Cannot forecast the cost of the task {task.name}: it has no stub."
            raise SpecError(message, advice="Add a `stub` to the task.")
        return task.stub(inputs)

    def _claims_of(self, value: Input) -> list[str]:
        claims = []
        for text in texts(value):
            for sentence in split_sentences(text):
                words = sentence.split()
                size = max(1, -(-len(words) // self._claims))
                claims += [" ".join(words[at : at + size]) for at in range(0, len(words), size)]
        return claims


class _NoClient:
    async def ask(self, request: Request) -> Reply | CallFailure:
        raise SpecError(f"A dry run called {request.model}.", advice="Report this bug.")


def _frozen(value: Input) -> object:
    return tuple(value) if isinstance(value, list) else value
