"""Modes of a scripted provider: behaviour of an endpoint and expected results of a judge."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tests.scripted_replies import RULES, Ask, answers_of, instance_of, logprobs_of

READ, WRITTEN = 1_000, 50
"""Tokens that a correct reply reports."""


class End(StrEnum):
    """End of a battle judged at an endpoint in a mode."""

    JUDGED = "judged"
    UNREADABLE = "unreadable"
    REFUSED = "refused"
    FAILED = "failed"
    GIVEN_UP = "endpoint given up"


@dataclass(frozen=True)
class Call:
    """Received call: its body, its headers, and its number within its mode, from 1."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    number: int

    @property
    def verdict(self) -> str:
        """A good judge's reply: the longer answer wins in either order; JSON for tasks."""
        form = (self.body.get("response_format") or {}).get("json_schema")
        if form:
            return json.dumps(instance_of(form["schema"]))
        ask = Ask(self.body)
        pair = answers_of(ask)
        rating = RULES["longer"](ask, *pair) if pair else "0"
        return f"<thinking>The longer one says more.</thinking><rating>{rating}</rating>"


@dataclass(frozen=True)
class Answer:
    """Response of the server: a status, a body (a JSON value or bytes), headers; or a dropped connection."""

    body: object = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    dropped: bool = False

    @property
    def raw(self) -> bytes:
        """Body as bytes."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Mode:
    """Behaviour of an endpoint.

    Attributes:
        name: Model name that selects the mode.
        about: Description of the endpoint for the table.
        answer: The endpoint.
        end: Expected end of a battle.
        says: Expected text in the battle's detail or the error.
        left_out: Settings that the last request must not contain.
        calls: Calls per battle; None if it depends on the transport or the order.
        lost: True if the maximum cost of the call may count as lost.
        settings: Further settings of the judge.
    """

    name: str
    about: str
    answer: Callable[[Call], Answer]
    end: End = End.JUDGED
    says: str = ""
    left_out: str = ""
    calls: int | None = 1
    lost: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


def completion(
    call: Call,
    text: object = None,
    *,
    finish: object = "stop",
    usage: object = (READ, WRITTEN),
    choice: Mapping[str, Any] | None = None,
    message: Mapping[str, Any] | None = None,
    top: Mapping[str, Any] | None = None,
) -> Answer:
    """Return a chat completion, by default with a good verdict and honest usage.

    Args:
        call: The call to answer.
        text: The content; None is a good verdict.
        finish: The finish reason.
        usage: Input and output tokens, or the usage as sent; Ellipsis omits the key.
        choice: Further keys of the choice.
        message: Further keys of the message.
        top: Further keys of the body.
    """
    content = call.verdict if text is None else text
    if isinstance(usage, tuple):
        usage = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    body: dict[str, Any] = {
        "id": f"chatcmpl-{call.number}",
        "object": "chat.completion",
        "model": call.body.get("model"),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **(message or {})},
                "finish_reason": finish,
                **(choice or {}),
            }
        ],
        **({} if usage is ... else {"usage": usage}),
        **(top or {}),
    }
    if call.body.get("logprobs") and isinstance(content, str) and "logprobs" not in (choice or {}):
        body["choices"][0]["logprobs"] = {"content": logprobs_of(content)}
    return Answer(body)


def refusal(status: int, message: str, *, headers: Mapping[str, str] | None = None, **rest: object) -> Answer:
    """Return an error in OpenAI's format."""
    return Answer({"error": {"message": message, **rest}}, status, headers or {})
