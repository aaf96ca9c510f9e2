"""Requests to LLMs as values with a canonical form and a key.

The key covers everything that can change the reply, so that the cache never serves an old reply for an edited
prompt, another endpoint or other sampling settings. Failures are never cached.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, Protocol

from data.models import Outcome, Reply

ADAPTER_VERSION = "1"
REMEMBERED = 256
ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's tool call: the endpoint's id, the tool's name and the raw arguments."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """A chat message; assistants may call tools, and a tool message refers to its call."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Declaration of a function that a model may call; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Sampling settings of a request; None leaves the endpoint's default."""

    temperature: float | None = 0.0
    top_p: float | None = 1.0
    max_tokens: int | None = 256
    seed: int | None = None
    logprobs: bool = False
    top_logprobs: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFormat:
    """JSON schema of the reply, named after the task."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request to one model at one endpoint.

    `without` lists parts to leave out of the body (see `chat_format.Quirk`). `sample` distinguishes
    repetitions of the same text, such as votes and retries. `free` marks requests without costs; the key
    excludes it, because it does not change the reply.
    """

    endpoint: str
    model: str
    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    response_format: ResponseFormat | None = None
    tools: tuple[Tool, ...] = ()
    without: tuple[str, ...] = ()
    sample: int = 0
    free: bool = False

    @property
    def asks_for_thinking(self) -> bool:
        """True if the prompt asks for reasoning in the text, which some gateways remove from the reply."""
        return any("<thinking>" in message.content for message in self.messages)

    @property
    def canonical(self) -> str:
        """The request as canonical JSON: sorted keys, no spaces, UTF-8."""
        return _head(self.endpoint, self.messages[:-1]) + self._tail

    @property
    def _tail(self) -> str:
        last = "".join([_message(item) for item in self.messages[-1:]])
        form = self.response_format
        shape = "null" if form is None else ENCODER.encode({"name": form.name, "schema": form.schema})
        # Requests without tools and `without` keep the keys from before these existed.
        tools = f',"tools":{ENCODER.encode([asdict(tool) for tool in self.tools])}' if self.tools else ""
        without = f',"without":{ENCODER.encode(self.without)}' if self.without else ""
        return (
            f'{last}],"model":{ENCODER.encode(self.model)},"response_format":{shape},'
            f'"sample":{self.sample},"sampling":{_sampling(self.sampling)}{tools}{without}}}'
        )

    @cached_property
    def key(self) -> str:
        """Hexadecimal sha256 of the canonical form."""
        digest = _head_digest(self.endpoint, self.messages[:-1]).copy()
        digest.update(self._tail.encode())
        return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailure:
    """The result of a request without a usable reply.

    Attributes:
        outcome: `failed`, `refused`, `skipped`, or `unreadable` for malformed replies to a task.
        detail: Reason, in a sentence.
        calls: Number of calls, including retries.
        input_tokens: Reported input of these calls.
        output_tokens: Reported output of these calls.
        cost_usd: Cost of these calls; None without a known price.
        rejected: Whether the endpoint rejected the request itself (HTTP 400 and similar).
    """

    outcome: Outcome
    detail: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    rejected: bool = False


# Rubrics and examples recur in every request of a judge, so the messages before the last one are hashed once.
@lru_cache(maxsize=REMEMBERED)
def _head_digest(endpoint: str, earlier: tuple[Message, ...]) -> hashlib._Hash:
    """Return the hash up to the last message; callers must copy it before updating."""
    return hashlib.sha256(_head(endpoint, earlier).encode())


def _head(endpoint: str, earlier: tuple[Message, ...]) -> str:
    messages = "".join([f"{_message(item)}," for item in earlier])
    adapter, place = ENCODER.encode(ADAPTER_VERSION), ENCODER.encode(endpoint)
    return f'{{"adapter":{adapter},"endpoint":{place},"messages":[{messages}'


def _message(message: Message) -> str:
    plain = f"{ENCODER.encode(message.role)},{ENCODER.encode(message.content)}"
    if not message.tool_calls and not message.tool_call_id:
        return f"[{plain}]"
    calls = ENCODER.encode([astuple(call) for call in message.tool_calls])
    return f"[{plain},{calls},{ENCODER.encode(message.tool_call_id)}]"


@lru_cache(maxsize=REMEMBERED)
def _sampling(sampling: Sampling) -> str:
    return ENCODER.encode(asdict(sampling))


class LlmClient(Protocol):
    """Client that answers requests: the scheduler, a cache or a test double."""

    async def ask(self, request: Request) -> Reply | CallFailure:
        """Return the reply, or the reason for a failure; transient errors are retried."""
        ...


MAX_KEYS = 500


class ReplyCache(Protocol):
    """Replies by request key."""

    async def get_many(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """Return the cached replies by key."""
        ...

    async def put(self, request: Request, reply: Reply) -> None:
        """Store a reply, replacing an earlier one; it must be committed within a second."""
        ...


class CacheReader:
    """Combines concurrent look-ups into one query."""

    def __init__(self, cache: ReplyCache) -> None:
        self._cache = cache
        self._waiting: dict[str, asyncio.Future[Reply | None]] = {}
        self._task: asyncio.Task[None] | None = None

    async def get(self, key: str) -> Reply | None:
        """Return the cached reply for a key, if any."""
        future = self._waiting.get(key)
        if future is None or future.cancelled():
            future = self._waiting[key] = asyncio.get_running_loop().create_future()
        if self._task is None:
            self._task = asyncio.create_task(self._read())
        return await future

    async def _read(self) -> None:
        try:
            while self._waiting:
                futures = dict(list(self._waiting.items())[:MAX_KEYS])
                for key in futures:
                    del self._waiting[key]
                await self._settle(futures)
        finally:
            self._task = None

    async def _settle(self, futures: Mapping[str, asyncio.Future[Reply | None]]) -> None:
        # `gather` returns the exception, which belongs to the waiting callers.
        [replies] = await asyncio.gather(self._cache.get_many(list(futures)), return_exceptions=True)
        for key, future in futures.items():
            # The caller may have been cancelled.
            if future.done():
                continue
            if isinstance(replies, BaseException):
                future.set_exception(replies)
            else:
                future.set_result(replies.get(key))
