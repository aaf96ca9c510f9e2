"""Chat-completion bodies of requests, without parameters that an endpoint rejects.

Only explicit settings are sent. `top_p` 1 is omitted at temperature 0, because some models reject both
together. A parameter that an endpoint rejects by name is omitted from then on for that model.
"""

import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any, Protocol

from data.models import Reply
from judges.llm.errors import SERVER_STATUS, CallError, CallErrorKind
from judges.llm.replies import reply_of
from judges.llm.requests import REMEMBERED, Message, Request, Sampling

_UNSUPPORTED = re.compile(
    r"unsupported|not (?:be )?support|(?:un|not )recogni|unknown|unexpected|no longer|deprecated|"
    r"not (?:permitted|allowed|available|compatible)|extra (?:inputs|fields)|extra_forbidden|cannot both",
    re.IGNORECASE,
)
_SYSTEM = re.compile(
    r"system['\"`]? (?:role|message|prompt|instruction)|role[^.]{0,60}system|'system'|system_instruction|"
    r"developer (?:instruction|message)|roles must alternate|only user and assistant roles",
    re.IGNORECASE,
)


class Quirk(StrEnum):
    """A feature that an endpoint does not support; the value is the part of a request to leave out."""

    NO_TOP_P = "top_p"
    NO_TEMPERATURE = "temperature"
    NO_SEED = "seed"
    NO_STOP = "stop"
    NO_LOGPROBS = "logprobs"
    NO_RESPONSE_FORMAT = "response_format"
    NO_SYSTEM = "system role"
    COMPLETION_TOKENS = "max_tokens"
    """The limit has the newer name `max_completion_tokens`."""
    NO_LIMIT = "max_completion_tokens"
    """The endpoint accepts neither name of the limit."""


BY_NAME = (Quirk.NO_TOP_P, Quirk.NO_TEMPERATURE, Quirk.NO_SEED, Quirk.NO_STOP)
"""Settings in the order of removal if an error names several that exclude each other."""
_PATTERNS = {quirk: re.compile(rf"(?<![a-z_]){quirk}(?![a-z_])") for quirk in BY_NAME}
NO_QUIRKS: frozenset[Quirk] = frozenset()


class Transport(Protocol):
    """Sends single requests to endpoints."""

    @property
    def unlimited(self) -> bool:
        """True if the number of concurrent requests is unlimited (batches)."""
        ...

    async def send(self, request: Request) -> Reply:
        """Send a request once and return the reply, without its cost."""
        ...

    def stop(self) -> None:
        """Raise StoppedError in calls that may take hours; let other calls finish."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


def body_of(request: Request, quirks: frozenset[Quirk] = NO_QUIRKS) -> dict[str, Any]:
    """Return the JSON body of a chat-completion call."""
    quirks = _all_quirks(request, quirks)
    sampling = effective_sampling(request.sampling)
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [_message_of(message) for message in _messages(request, quirks)],
    }
    limit = "max_completion_tokens" if Quirk.COMPLETION_TOKENS in quirks else "max_tokens"
    optional = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        limit: None if Quirk.NO_LIMIT in quirks else sampling.max_tokens,
        "seed": sampling.seed,
        "logprobs": sampling.logprobs or None,
        "top_logprobs": sampling.top_logprobs if sampling.logprobs else None,
        "stop": list(sampling.stop) or None,
    }
    refused = {str(quirk) for quirk in quirks} - {limit} if quirks else set()
    if Quirk.NO_LOGPROBS in quirks:
        refused.add("top_logprobs")
    body.update(
        (name, value) for name, value in optional.items() if value is not None and name not in refused
    )
    if request.response_format is not None and Quirk.NO_RESPONSE_FORMAT not in quirks:
        form = request.response_format
        schema = {"name": form.name, "schema": dict(form.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.tools:
        body["tools"] = [{"type": "function", "function": asdict(tool)} for tool in request.tools]
    return body


@lru_cache(maxsize=REMEMBERED)
def effective_sampling(sampling: Sampling) -> Sampling:
    """Return the settings to send, without `top_p` 1 at temperature 0."""
    return replace(sampling, top_p=None) if sampling.temperature == 0 and sampling.top_p == 1 else sampling


def as_sent(sampling: Sampling, refused: str) -> dict[str, object]:
    """Return the effective settings for a judgment's record; null means the endpoint's default."""
    names, plain = refused.split(", ") if refused else [], effective_sampling(sampling)
    fields = ("temperature", "top_p", "max_tokens", "seed")
    record = {name: None if name in names else getattr(plain, name) for name in fields}
    return {**record, "left_out": names} if names else record


def left_out(request: Request, quirks: frozenset[Quirk]) -> tuple[str, ...]:
    """Return the names of settings that quirks or `without` leave out."""
    quirks = _all_quirks(request, quirks)
    if not quirks:
        return ()
    sampling = effective_sampling(request.sampling)
    used = {
        Quirk.NO_TEMPERATURE: sampling.temperature is not None,
        Quirk.NO_TOP_P: sampling.top_p is not None,
        Quirk.NO_SEED: sampling.seed is not None,
        Quirk.NO_STOP: bool(sampling.stop),
        Quirk.NO_LOGPROBS: sampling.logprobs,
        Quirk.NO_RESPONSE_FORMAT: request.response_format is not None,
        Quirk.NO_SYSTEM: any(message.role == "system" for message in request.messages),
        Quirk.NO_LIMIT: sampling.max_tokens is not None,
    }
    names = [str(quirk) for quirk, applies in used.items() if applies and quirk in quirks]
    return tuple("max_tokens" if name == Quirk.NO_LIMIT else name for name in names)


def _all_quirks(request: Request, quirks: frozenset[Quirk]) -> frozenset[Quirk]:
    return quirks.union(map(Quirk, request.without)) if request.without else quirks


def _messages(request: Request, quirks: frozenset[Quirk]) -> tuple[Message, ...]:
    """Return the messages; without a system role, its text is prepended to the next user message."""
    if Quirk.NO_SYSTEM not in quirks:
        return request.messages
    messages: list[Message] = []
    opening = ""
    for message in request.messages:
        if message.role == "system":
            opening = f"{opening}{message.content}\n\n"
        elif opening and message.role == "user":
            messages.append(replace(message, content=f"{opening}{message.content}"))
            opening = ""
        else:
            messages.append(message)
    return (*messages, *((Message("user", opening.strip()),) if opening else ()))


def _message_of(message: Message) -> dict[str, Any]:
    body: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        body["content"] = message.content or None
        body["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        body["tool_call_id"] = message.tool_call_id
    return body


def quirk_of(fault: CallError, body: Mapping[str, Any]) -> Quirk | None:
    """Return the feature to leave out after an endpoint rejected a body, if any."""
    if fault.moderation or fault.context_length:
        return None
    detail = f"{fault.message or fault.detail} {fault.param}".lower()
    unsupported = bool(_UNSUPPORTED.search(detail))
    if fault.kind is not CallErrorKind.REJECTED:
        # Some gateways answer 500 to unknown settings, and some servers to chat templates without a system
        # role.
        unsupported = unsupported or "roles must alternate" in detail
        return _named_in(detail, body) if unsupported and (fault.status or 0) >= SERVER_STATUS else None
    quirk = _limit_named_in(detail, body, unsupported=unsupported) or _named_in(detail, body)
    if quirk is not None:
        return quirk
    if "tools" in body and names_tools(detail):
        return None  # The prompt mentions the tool, so the caller must use another prompt.
    return Quirk.NO_RESPONSE_FORMAT if "response_format" in body else None


def _limit_named_in(detail: str, body: Mapping[str, Any], *, unsupported: bool) -> Quirk | None:
    """Try the other name of the token limit, then no limit; ignore complaints about its value."""
    if "max_completion_tokens" in detail and "max_tokens" in body:
        return Quirk.COMPLETION_TOKENS
    if not unsupported:
        return None
    if "max_tokens" in detail and "max_tokens" in body:
        return Quirk.COMPLETION_TOKENS
    is_named = "max_completion_tokens" in detail and "max_completion_tokens" in body
    return Quirk.NO_LIMIT if is_named else None


def _named_in(detail: str, body: Mapping[str, Any]) -> Quirk | None:
    for quirk, pattern in _PATTERNS.items():
        if quirk in body and pattern.search(detail):
            return quirk
    if "logprobs" in detail and "logprobs" in body:
        return Quirk.NO_LOGPROBS
    if "response_format" in detail and "response_format" in body:
        return Quirk.NO_RESPONSE_FORMAT
    has_system = any(message["role"] == "system" for message in body["messages"])
    return Quirk.NO_SYSTEM if has_system and _SYSTEM.search(detail) else None


class QuirkMemory:
    """Memory of features that each endpoint and model rejected."""

    def __init__(self) -> None:
        self._quirks: dict[tuple[str, str], frozenset[Quirk]] = {}

    def of(self, request: Request) -> frozenset[Quirk]:
        """Return the known quirks of a request's endpoint and model."""
        return self._quirks.get((request.endpoint, request.model), NO_QUIRKS)

    async def send(self, request: Request, post: Callable[[dict[str, Any]], Awaitable[object]]) -> Reply:
        """Post a request's body and read the reply, retrying without rejected features.

        Rejected features are remembered once a body without them succeeds.
        """
        quirks = self.of(request)
        while True:
            body = body_of(request, quirks)
            started = time.perf_counter()
            try:
                payload = await post(body)
                reply = reply_of(
                    request, payload, time.perf_counter() - started, left_out=left_out(request, quirks)
                )
            except CallError as fault:
                quirk = quirk_of(fault, body)
                if quirk is None or quirk in quirks:
                    raise
                quirks |= {quirk}
                continue
            if quirks:
                self._quirks[request.endpoint, request.model] = self.of(request) | quirks
            return reply


def names_tools(detail: str) -> bool:
    """Return whether an endpoint's error is about tools."""
    return "tool" in detail.lower() or "function" in detail.lower()
