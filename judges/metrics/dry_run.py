"""Forecast of a metric's requests: the metric runs on stub replies instead of an LLM.

The steps, prompts and their number are the metric's own; only what the LLM would have said is assumed. A
text is taken to make so many claims a sentence. Identical requests are asked once, as of an LLM.
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
"""Aspects, questions and the like where the prompt sets no number."""
SHORTEST_WORD = 4

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
            return [text for one in value for text in texts(one)]


def ids(value: Input) -> list[str]:
    """Return the ids of an input's parts."""
    return [one.id for one in value if isinstance(one, Tagged)] if isinstance(value, Sequence) else []


def says(text: str, what: str) -> bool:
    """Return whether a text has most words of another."""
    wanted = _words(what)
    return bool(wanted) and len(wanted & _words(text)) / len(wanted) >= ENTAILED_FROM


def numbered_questions(name: str) -> Stub:
    """Return a stub that lists the question as often as asked for, under a field's name."""

    def stub(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
        (question,) = texts(inputs["question"])
        most = inputs.get("most", LIST_OF)
        count = most if isinstance(most, int) else LIST_OF
        return {name: [f"{number}. {question}" for number in range(1, count + 1)]}

    return stub


def first_words(name: str, count: int) -> Stub:
    """Return a stub that sums an input up by its first words."""

    def stub(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
        return {"summary": " ".join(" ".join(texts(inputs[name])).split()[:count])}

    return stub


def _words(text: str) -> set[str]:
    return {word.casefold() for word in WORD.findall(text) if len(word) >= SHORTEST_WORD}


T = TypeVar("T", bound=BaseModel)

CLAIMS_PER_SENTENCE = 2
EXTRACT_CLAIMS = "extract_claims"
"""The task whose stub has the runner's number of claims."""
MEASURED = 100
"""Requests of a task whose tokens are counted; the others are taken to have as many on average."""


@dataclass(slots=True, kw_only=True)
class Asked:
    """Requests to one task.

    Attributes:
        requests: How often, identical requests once.
        measured: Of how many the tokens were counted.
        input_tokens: Of these. `output_tokens` likewise, of the stubs.
        most_output: The most that one reply may have.
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

    by_task: dict[str, Asked] = field(default_factory=dict)

    @property
    def requests(self) -> int:
        """All of them."""
        return sum(asked.requests for asked in self.by_task.values())


class DryRunner(TaskRunner):
    """Runs tasks on their stub replies, and counts."""

    def __init__(self, *, endpoint: str, model: str, claims_per_sentence: int = CLAIMS_PER_SENTENCE) -> None:
        super().__init__(_NobodyAsked(), endpoint=endpoint, model=model)
        self.asked = DryRun()
        self._claims = claims_per_sentence
        self._counter = TokenCounter()
        self._seen: set[object] = set()

    async def run_fully(self, task: Task[T], inputs: Mapping[str, Input]) -> TaskReply[T] | CallFailure:
        """Return the stub of a task's reply."""
        value = task.reply.model_validate(self._stub(task, inputs))
        key = (task.name, task.prompt, *((name, _frozen(inputs[name])) for name in sorted(inputs)))
        if key not in self._seen:
            self._seen.add(key)
            self._count(task, inputs, value)
        reply = Reply(key="", endpoint=self.endpoint, model=self.model, text="")
        return TaskReply(value=value, weighted=None, reply=reply, calls=1)

    def _count(self, task: Task[T], inputs: Mapping[str, Input], value: T) -> None:
        asked = self.asked.by_task.setdefault(task.name, Asked(most_output=task.max_tokens))
        asked.requests += 1
        if asked.measured < MEASURED:
            asked.measured += 1
            asked.input_tokens += self._counter.expected(self.request(task, inputs))
            asked.output_tokens += self._tokens(value.model_dump_json())

    def _tokens(self, text: str) -> int:
        counted = self._counter.text(self.model, text)
        return -(-len(text.encode()) // BYTES_PER_TOKEN) if counted is None else counted

    def _stub(self, task: Task[T], inputs: Mapping[str, Input]) -> Mapping[str, Any]:
        if task.name == EXTRACT_CLAIMS:
            return {"claims": [{"text": claim, "kind": "fact"} for claim in self._claims_of(inputs["text"])]}
        if task.stub is None:
            message = f"What the task {task.name} costs cannot be foreseen: it has no stub of its reply."
            raise SpecError(message, advice="Give the task a `stub`.")
        return task.stub(inputs)

    def _claims_of(self, value: Input) -> list[str]:
        claims = []
        for text in texts(value):
            for sentence in split_sentences(text):
                words = sentence.split()
                size = max(1, -(-len(words) // self._claims))
                claims += [" ".join(words[at : at + size]) for at in range(0, len(words), size)]
        return claims


class _NobodyAsked:
    """A client that must not be reached."""

    async def ask(self, request: Request) -> Reply | CallFailure:
        raise SpecError(f"A dry run asked {request.model}.", advice="Report this.")


def _frozen(value: Input) -> object:
    return tuple(value) if isinstance(value, list) else value
