"""Requests to LLMs as values with a canonical form and a key.

The key covers everything that can change the reply, so a cache that is keyed by it never serves an
old verdict for an edited prompt, another endpoint or other sampling settings.
Failures are never kept, so a retry always asks.
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
    """A model's call of a tool: the endpoint's id for it, the tool, and its arguments as they came."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; an assistant's may call tools, and a tool's names the call that it answers."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that a model may call: its name, when to call it, its arguments as a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """The settings that shape a reply; None leaves the endpoint's own default."""

    temperature: float | None = 0.0
    top_p: float | None = 1.0
    max_tokens: int | None = 256
    seed: int | None = None
    logprobs: bool = False
    top_logprobs: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFormat:
    """A JSON schema that the reply must follow, named after the task."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One question to one model at one endpoint.

    `without` names what is left out of the body whatever the endpoint takes (as `chat_format.Quirk` does).
    `sample` tells repeated askings of the same text apart (self-consistency votes, re-asks). `free` says that
    nothing is charged; the reply is the same either way, so the key leaves it out.
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
        """True if the prompt wants written reasoning, which some gateways take out of the reply."""
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
        # Both are left out where there are none, so that requests keep their keys.
        tools = f',"tools":{ENCODER.encode([asdict(tool) for tool in self.tools])}' if self.tools else ""
        without = f',"without":{ENCODER.encode(self.without)}' if self.without else ""
        return (
            f'{last}],"model":{ENCODER.encode(self.model)},"response_format":{shape},'
            f'"sample":{self.sample},"sampling":{_sampling(self.sampling)}{tools}{without}}}'
        )

    @cached_property
    def key(self) -> str:
        """The sha256 of the canonical form, in hex."""
        digest = _head_digest(self.endpoint, self.messages[:-1]).copy()
        digest.update(self._tail.encode())
        return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailure:
    """A request without a usable reply, and why.

    Attributes:
        outcome: `failed`, `refused`, `skipped`, or `unreadable` where a task's reply stayed malformed.
        detail: What happened, in a sentence.
        calls: Calls made, retries and re-asks included.
        input_tokens: What the endpoint reported for these calls.
        output_tokens: Likewise.
        cost_usd: What they cost; None where no price is known.
        rejected: Whether the endpoint turned the request down as it was put (HTTP 400 and the like).
    """

    outcome: Outcome
    detail: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    rejected: bool = False


# Rubrics and examples recur in every request of a judge, so what comes before the last message is
# encoded and hashed once.
@lru_cache(maxsize=REMEMBERED)
def _head_digest(endpoint: str, earlier: tuple[Message, ...]) -> hashlib._Hash:
    """Return the hash of a canonical form up to its last message; only ever copied."""
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
    """Whatever can answer a request: the scheduler over a transport, a cache, a scripted fake."""

    async def ask(self, request: Request) -> Reply | CallFailure:
        """Ask once (retries of transient errors included) and return the reply or why there is none."""
        ...


MOST_KEYS = 500


class ReplyCache(Protocol):
    """Replies by request key, kept once and verbatim."""

    async def get_many(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """Return the replies that are there, by key."""
        ...

    async def put(self, request: Request, reply: Reply) -> None:
        """Keep a reply; it must be committed within a second. A later one for the key replaces it."""
        ...


class CacheReader:
    """Turns look-ups that are made at one moment into one look-up of many keys."""

    def __init__(self, cache: ReplyCache) -> None:
        self._cache = cache
        self._waiting: dict[str, asyncio.Future[Reply | None]] = {}
        self._task: asyncio.Task[None] | None = None

    async def get(self, key: str) -> Reply | None:
        """Return the reply for a key, where there is one."""
        future = self._waiting.get(key)
        if future is None or future.cancelled():
            future = self._waiting[key] = asyncio.get_running_loop().create_future()
        if self._task is None:
            self._task = asyncio.create_task(self._read())
        return await future

    async def _read(self) -> None:
        try:
            while self._waiting:
                some = dict(list(self._waiting.items())[:MOST_KEYS])
                for key in some:
                    del self._waiting[key]
                await self._settle(some)
        finally:
            self._task = None

    async def _settle(self, some: Mapping[str, asyncio.Future[Reply | None]]) -> None:
        # Gathered, since whatever goes wrong belongs to those who wait.
        [replies] = await asyncio.gather(self._cache.get_many(list(some)), return_exceptions=True)
        for key, future in some.items():
            # Whoever waited may have been cancelled.
            if future.done():
                continue
            if isinstance(replies, BaseException):
                future.set_exception(replies)
            else:
                future.set_result(replies.get(key))
