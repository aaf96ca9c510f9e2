from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Handler = Callable[["Ask"], object]
Rule = Callable[["Ask", str, str], str]


class Fault(StrEnum):
    """Faults of the endpoint."""

    RATE_LIMIT = "rate_limit"
    RATE_LIMIT_AFTER = "rate_limit_after"
    QUOTA = "quota"
    SERVER_ERROR = "server_error"
    HANG = "hang"
    DROP = "drop"
    MALFORMED = "malformed"
    BAD_REQUEST = "bad_request"
    UNAUTHORISED = "unauthorised"
    NOT_FOUND = "not_found"
    REFUSAL = "refusal"
    FILTERED = "filtered"
    TRUNCATED = "truncated"
    WRONG_FORMAT = "wrong_format"

    @property
    def of_content(self) -> bool:
        """True if repeating the request would change nothing."""
        return self in {Fault.REFUSAL, Fault.FILTERED, Fault.TRUNCATED, Fault.WRONG_FORMAT}


STATUS_FAULTS: Mapping[Fault | str | None, tuple[int, str]] = {
    Fault.RATE_LIMIT: (429, "rate_limit_exceeded"),
    Fault.RATE_LIMIT_AFTER: (429, "rate_limit_exceeded"),
    Fault.QUOTA: (429, "insufficient_quota"),
    Fault.SERVER_ERROR: (500, "server_error"),
    Fault.BAD_REQUEST: (400, "invalid_request_error"),
    Fault.UNAUTHORISED: (401, "invalid_api_key"),
    Fault.NOT_FOUND: (404, "model_not_found"),
}


@dataclass(slots=True)
class Script:
    """Behaviour of the endpoint.

    Attributes:
        latency: Seconds before every reply.
        faults: Share of calls (0-1) that meet each fault.
        first: Faults or reply texts for the next calls, in order, before random ones.
        retry_after: The header's value with `rate_limit_after`, in seconds.
        response_format: False makes every request with a response format a 400.
        logprobs: False makes every request for log-probabilities a 400.
        tools: False makes every request with tools a 400.
        rule: Name of the pairwise rule (see `RULES`).
        batch_polls: Number of polls that return "in_progress" before a batch ends.
        batch_end: Final state of batches.
        batch_output: False ends batches without an output file.
    """

    latency: float = 0.0
    faults: dict[Fault, float] = field(default_factory=dict)
    first: list[str] = field(default_factory=list)
    retry_after: float = 0.1
    response_format: bool = True
    logprobs: bool = True
    tools: bool = True
    rule: str = "longer"
    batch_polls: int = 1
    batch_end: str = "completed"
    batch_output: bool = True

    def __post_init__(self) -> None:
        self.faults = {Fault(name): share for name, share in self.faults.items()}


class Ask:
    """Request, as handlers and rules see it."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.body = body
        self.messages: list[dict[str, str]] = list(body.get("messages", []))

    @property
    def text(self) -> str:
        """Last user message."""
        users = [message["content"] for message in self.messages if message.get("role") == "user"]
        return users[-1] if users else ""

    @property
    def opening(self) -> str:
        """First message, which tasks of a kind share."""
        return self.messages[0].get("content", "") if self.messages else ""

    @property
    def digest(self) -> str:
        """Hash of the messages."""
        return hashlib.sha256(json.dumps(self.messages, sort_keys=True).encode()).hexdigest()

    @property
    def key(self) -> str:
        """Hash of the whole body."""
        return hashlib.sha256(json.dumps(self.body, sort_keys=True).encode()).hexdigest()

    @property
    def offered(self) -> list[str]:
        """Names of the available tools."""
        return [tool["function"]["name"] for tool in self.body.get("tools", [])]

    @property
    def results(self) -> list[str]:
        """Results of the called tools, in order."""
        return [message["content"] for message in self.messages if message.get("role") == "tool"]

    def tagged(self, tag: str) -> list[str]:
        """Return the contents of every `<tag …>…</tag>` in the last user message."""
        matches = re.findall(
            rf"<{tag}(?:\s[^>]*)?>\n?(.*?)\n?</{tag}(?:\s[^>]*)?>", self.text, flags=re.DOTALL
        )
        return [str(item) for item in matches]

    def identified(self, tag: str) -> dict[str, str]:
        """Return the contents of every `<tag id="…">…</tag>` in the last user message, by id."""
        pattern = rf'<{tag}\s[^>]*?id="([^"]*)"[^>]*>\n?(.*?)\n?</{tag}(?:\s[^>]*)?>'
        return dict(re.findall(pattern, self.text, flags=re.DOTALL))


@dataclass(frozen=True, slots=True)
class ToolUse:
    """Tool calls that a handler returns instead of a reply, each a name and its arguments.

    Text arguments are sent unchanged, whether or not they are JSON.
    """

    calls: tuple[tuple[str, object], ...]

    def as_json(self, ask: Ask) -> list[dict[str, Any]]:
        """Return the calls in OpenAI's format, with ids that differ between turns."""
        named = [
            {"name": name, "arguments": value if isinstance(value, str) else json.dumps(value)}
            for name, value in self.calls
        ]
        identified = f"call_{ask.digest[:12]}"
        return [
            {"id": f"{identified}_{at}", "type": "function", "function": call}
            for at, call in enumerate(named)
        ]


ANSWER_PATTERNS = (
    r"<answer[ _-]?{n}\b[^>]*>(.*?)</answer[ _-]?{n}\b[^>]*>",
    r"<answer[^>]*=\"?{n}\"?[^>]*>(.*?)</answer>",
    r"Answer {n}:?\s*(.*?)(?=\n\s*Answer \d|\n\n|\Z)",
)


def answers_of(ask: Ask) -> tuple[str, str] | None:
    """Return the two answers of a pairwise prompt in order, if any."""
    for pattern in ANSWER_PATTERNS:
        pair = [re.findall(pattern.format(n=n), ask.text, flags=re.DOTALL) for n in (1, 2)]
        if pair[0] and pair[1]:
            return pair[0][-1].strip(), pair[1][-1].strip()
    return None


def longer(_ask: Ask, first: str, second: str) -> str:
    """Prefer more words; within 5 % of each other, be unsure."""
    a, b = len(first.split()), len(second.split())
    if abs(a - b) * 20 <= max(a, b):
        return "0"
    return "1" if a > b else "2"


def hashed(_ask: Ask, first: str, second: str) -> str:
    """Prefer the greater of two hashed strengths in any order; one in eight battles is a tie."""
    a, b = (int(hashlib.sha256(text.encode()).hexdigest()[:2], 16) // 32 for text in (first, second))
    return "0" if a == b else "1" if a > b else "2"


def always_first(_ask: Ask, _first: str, _second: str) -> str:
    """Prefer the first answer: every swap is a flip."""
    return "1"


RULES: dict[str, Rule] = {"longer": longer, "hash": hashed, "first": always_first}


def instance_of(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> object:
    """Return the smallest value that a JSON schema allows."""
    root = schema if root is None else root
    if "$ref" in schema:
        return instance_of(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root)
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    for union in ("anyOf", "oneOf", "allOf"):
        if union in schema:
            return instance_of(schema[union][0], root)
    if schema.get("type") == "object":
        return {name: instance_of(inner, root) for name, inner in schema.get("properties", {}).items()}
    simple: dict[str, object] = {"array": [], "string": "scripted", "boolean": True, "null": None}
    return simple.get(schema.get("type", ""), schema.get("minimum", 1))


def chance(*parts: object) -> float:
    """Return a number in [0, 1) that depends only on the parts."""
    material = "\x1f".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(material, digest_size=8).digest()) / 2**64


def logprobs_of(text: str) -> list[dict[str, Any]]:
    """Return tokens with log-probabilities; a single digit gets its neighbours as alternatives."""
    content = []
    for token in re.findall(r"\d|[^\W\d]+|\s+|[^\w\s]", text):
        shares = {token: 1.0}
        if token.isdigit():
            shares = {token: 0.8, str((int(token) + 1) % 10): 0.15, str((int(token) - 1) % 10): 0.05}
        top = [{"token": item, "logprob": math.log(share)} for item, share in shares.items()]
        content.append({**top[0], "top_logprobs": top})
    return content
