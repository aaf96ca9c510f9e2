"""Requests as chat-completion bodies, and bodies as replies: one reading for every transport."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import Any, Protocol

from data.records import Reply
from judges.llm.errors import CallError, CallErrorKind
from judges.llm.requests import Message, Request
from judges.llm.tools import text_with_calls

LONGEST_NAME = 200


class Quirk(StrEnum):
    """What an endpoint turned out not to support."""

    NO_RESPONSE_FORMAT = "no_response_format"
    NO_LOGPROBS = "no_logprobs"
    COMPLETION_TOKENS = "completion_tokens"


class Transport(Protocol):
    """Carries one request to its endpoint, once."""

    @property
    def unlimited(self) -> bool:
        """Whether any number of requests may wait at once (batches)."""
        ...

    async def send(self, request: Request) -> Reply:
        """Call once and return the reply, without its cost.

        Raises:
            CallError: No reply.
        """
        ...

    def stop(self) -> None:
        """Release calls that may take hours (they raise StoppedError); others finish."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


def body_of(request: Request, quirks: frozenset[Quirk] = frozenset()) -> dict[str, Any]:
    """The JSON body of a chat-completion call."""
    sampling = request.sampling
    limit = "max_completion_tokens" if Quirk.COMPLETION_TOKENS in quirks else "max_tokens"
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [_message_of(message) for message in request.messages],
    }
    optional = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        limit: sampling.max_tokens,
        "seed": sampling.seed,
        "logprobs": sampling.logprobs or None,
        "top_logprobs": sampling.top_logprobs if sampling.logprobs else None,
        "stop": list(sampling.stop) or None,
    }
    if Quirk.NO_LOGPROBS in quirks:
        del optional["logprobs"], optional["top_logprobs"]
    body.update((name, value) for name, value in optional.items() if value is not None)
    if request.response_format is not None and Quirk.NO_RESPONSE_FORMAT not in quirks:
        form = request.response_format
        schema = {"name": form.name, "schema": dict(form.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.tools:
        body["tools"] = [{"type": "function", "function": asdict(tool)} for tool in request.tools]
    return body


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
    """What to leave out after an endpoint rejected a body, if that may be why."""
    if fault.kind is not CallErrorKind.REJECTED:
        return None
    detail = fault.detail.lower()
    if "max_completion_tokens" in detail and "max_tokens" in body:
        return Quirk.COMPLETION_TOKENS
    if "logprobs" in detail and "logprobs" in body:
        return Quirk.NO_LOGPROBS
    if "tools" in body and names_tools(detail):
        return None  # Whoever asks must put it otherwise: the prompt speaks of the tool.
    if "response_format" in body and "context length" not in detail:
        return Quirk.NO_RESPONSE_FORMAT
    return None


def names_tools(detail: str) -> bool:
    """Whether an endpoint's complaint is about tools."""
    return "tool" in detail.lower() or "function" in detail.lower()


def reply_of(request: Request, payload: object, latency: float) -> Reply:
    """Read a chat completion; of one that calls tools the text is the message (`judges.llm.tools`).

    Raises:
        CallError: The payload is no chat completion (transient), or the model or a filter refused.
    """
    choice, message = _first_choice(payload)
    usage = _usage_of(payload)
    finish = str(choice.get("finish_reason") or "")
    refusal = _refusal_of(message)
    if refusal:
        raise CallError(CallErrorKind.REFUSED, f"The model refused: {refusal}", usage=usage)
    if finish == "content_filter":
        raise CallError(CallErrorKind.REFUSED, "A content filter stopped the reply.", usage=usage)
    return Reply(
        key=request.key,
        endpoint=request.endpoint,
        model=request.model,
        text=text_with_calls(message) or _text_of(message.get("content")),
        finish_reason=finish,
        input_tokens=usage[0],
        output_tokens=usage[1],
        latency=latency,
        logprobs=_logprobs_of(choice.get("logprobs")),
        thinking=_thinking_of(message) if request.keeps_thinking else None,
        response_id=_name_of(payload, "id"),
        response_model=_name_of(payload, "model"),
    )


def _first_choice(payload: object) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    choices = payload.get("choices") if isinstance(payload, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise CallError(CallErrorKind.TRANSIENT, "The endpoint's reply is no chat completion.", billable=True)
    return choice, message


def _refusal_of(message: Mapping[str, Any]) -> object:
    """The refusal field, where OpenAI has it or where litellm puts it."""
    extra = message.get("provider_specific_fields")
    return message.get("refusal") or (extra.get("refusal") if isinstance(extra, Mapping) else None)


def _text_of(content: object) -> str:
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, Mapping))
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _thinking_of(message: Mapping[str, Any]) -> str | None:
    """Reasoning apart from the text, as DeepSeek, vLLM and litellm name it, or as OpenRouter does."""
    for name in ("reasoning_content", "reasoning"):
        value = message.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


def _name_of(payload: object, field: str) -> str:
    value = payload.get(field) if isinstance(payload, Mapping) else None
    return value[:LONGEST_NAME] if isinstance(value, str) else ""


def _usage_of(payload: object) -> tuple[int, int]:
    usage = payload.get("usage") if isinstance(payload, Mapping) else None
    if not isinstance(usage, Mapping):
        return 0, 0
    input_tokens, output_tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return (
        input_tokens if isinstance(input_tokens, int) else 0,
        output_tokens if isinstance(output_tokens, int) else 0,
    )


def _logprobs_of(logprobs: object) -> str | None:
    """OpenAI's list of tokens as compact JSON, without their bytes."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list) or not content:
        return None
    tokens = [
        {**_token_of(item), "top_logprobs": [_token_of(top) for top in item.get("top_logprobs") or ()]}
        for item in content
        if isinstance(item, Mapping)
    ]
    return json.dumps(tokens, separators=(",", ":"), ensure_ascii=False)


def _token_of(item: Mapping[str, Any]) -> dict[str, Any]:
    return {"token": item.get("token"), "logprob": item.get("logprob")}
