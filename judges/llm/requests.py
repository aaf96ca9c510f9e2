"""What is asked of an LLM, as a value with a canonical form and a key.

The key covers everything that can change the reply, so a cache that is keyed by it never serves an
old verdict for an edited prompt, another endpoint or other sampling settings.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, Protocol

from data.records import Outcome, Reply

ADAPTER_VERSION = "1"
REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


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

    `sample` tells repeated askings of the same text apart (self-consistency votes, re-asks).
    """

    endpoint: str
    model: str
    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    response_format: ResponseFormat | None = None
    sample: int = 0

    @cached_property
    def canonical(self) -> str:
        """The request as canonical JSON: sorted keys, no spaces, UTF-8."""
        form = self.response_format
        # Rubrics and examples recur in every request of a judge, so their encoding is remembered.
        fields = {
            "adapter": _text(ADAPTER_VERSION),
            "endpoint": _text(self.endpoint),
            "messages": f"[{','.join([_message(item.role, item.content) for item in self.messages])}]",
            "model": _text(self.model),
            "response_format": "null"
            if form is None
            else _encoded({"name": form.name, "schema": form.schema}),
            "sample": str(self.sample),
            "sampling": _encoded(
                {
                    "temperature": self.sampling.temperature,
                    "top_p": self.sampling.top_p,
                    "max_tokens": self.sampling.max_tokens,
                    "seed": self.sampling.seed,
                    "logprobs": self.sampling.logprobs,
                    "top_logprobs": self.sampling.top_logprobs,
                    "stop": list(self.sampling.stop),
                }
            ),
        }
        members = ",".join([f'"{name}":{value}' for name, value in fields.items()])
        return f"{{{members}}}"

    @cached_property
    def key(self) -> str:
        """The sha256 of the canonical form, in hex."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """A request that brought no usable reply, and why.

    Attributes:
        outcome: `failed`, `refused`, `skipped`, or `unreadable` where a task's reply stayed malformed.
        detail: What happened, in a sentence.
        calls: Calls made, retries and re-asks included.
        input_tokens: What the endpoint reported for these calls.
        output_tokens: Likewise.
        cost_usd: What they cost; None where no price is known.
    """

    outcome: Outcome
    detail: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


def _encoded(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@lru_cache(maxsize=REMEMBERED)
def _text(text: str) -> str:
    return _encoded(text)


@lru_cache(maxsize=REMEMBERED)
def _message(role: str, content: str) -> str:
    return _encoded([role, content])


class Asker(Protocol):
    """Whatever can answer a request: the scheduler over a transport, a cache, a scripted fake."""

    async def ask(self, request: Request) -> Reply | Unanswered:
        """Ask once (retries of transient errors included) and return the reply or why there is none.

        Raises:
            JudgeError: Judging as a whole cannot go on.
        """
        ...
