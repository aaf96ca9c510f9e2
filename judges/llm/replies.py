"""Bodies of endpoints as replies: one strict reading for every transport.

A reply is what a model said. Whatever else comes with a status of 200, such as an error of the provider, a
log-in page or a stream that nobody asked for, is a fault of the endpoint, quoted, and may pass.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from data.models import Reply
from data.text import storable
from judges.llm.errors import RATE_LIMIT_STATUS, CallError, CallErrorKind, fault_of_status, quoted, said_in
from judges.llm.finish_reasons import CUT_OFF, ERROR, FILTERED, finish_of
from judges.llm.requests import Request
from judges.llm.tools import text_with_calls

LONGEST_NAME = 200
MOST_TOKENS = 100_000_000
"""Tokens beyond which a report of usage is no report."""
UPSTREAM_STATUS = 502
LEAST_STATUS, MOST_STATUS = 400, 599
COUNTS = (
    ("prompt_tokens", "completion_tokens"),
    ("input_tokens", "output_tokens"),
    ("promptTokenCount", "candidatesTokenCount"),
    ("prompt_token_count", "candidates_token_count"),
    ("prompt_eval_count", "eval_count"),
)
"""How providers name the tokens that were read and written."""
Counts = tuple[int, int]
NOTHING: Counts = (0, 0)


def payload_of(raw: bytes) -> object:
    """The JSON of a body, whatever its content type says.

    Raises:
        CallError: It is no JSON.
    """
    try:
        try:
            return json.loads(raw)
        except UnicodeDecodeError:
            return json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise _no_completion(raw) from error


def reply_of(request: Request, payload: object, latency: float, *, left_out: tuple[str, ...] = ()) -> Reply:
    """Read a chat completion; of one that calls tools the text is the message (`judges.llm.tools`).

    Args:
        request: What was asked.
        payload: The JSON of the endpoint's body.
        latency: Seconds until it came.
        left_out: Settings of the request that were not sent.

    Raises:
        CallError: The payload is no chat completion or an error, or the model or a filter refused.
    """
    if isinstance(payload, str | bytes):
        payload = payload_of(payload if isinstance(payload, bytes) else payload.encode("utf-8", "replace"))
    try:
        return _read(request, payload, latency, left_out)
    except RecursionError as error:
        raise _no_completion(payload) from error


def _read(request: Request, payload: object, latency: float, left_out: tuple[str, ...]) -> Reply:
    usage = usage_of(payload)
    choice, message = _first_choice(payload, usage or NOTHING)
    finish = finish_of(choice)
    refusal = _refusal_of(message)
    if refusal:
        detail = f"The model refused: {refusal}"
        raise CallError(CallErrorKind.REFUSED, detail, usage=usage or NOTHING, billable=True)
    if finish == FILTERED:
        detail = "A content filter stopped the reply."
        raise CallError(CallErrorKind.REFUSED, detail, usage=usage or NOTHING, billable=True)
    text = text_with_calls(message) or _text_of(message.get("content"))
    thinking = _thinking_of(message)
    if not text and thinking and usage and usage[1] >= (request.sampling.max_tokens or math.inf):
        finish = CUT_OFF
    if not text.strip() and not thinking and finish != CUT_OFF and not (usage and usage[1]):
        detail = "The endpoint returned an empty reply, without a token."
        raise CallError(CallErrorKind.TRANSIENT, detail, usage=usage or NOTHING)
    if usage == NOTHING:
        usage = None  # Nobody writes a text with no tokens.
    input_tokens, output_tokens = usage or NOTHING
    return Reply(
        key=request.key,
        endpoint=request.endpoint,
        model=request.model,
        text=storable(text),
        finish_reason=storable(finish),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        metered=usage is not None,
        latency=latency,
        logprobs=_logprobs_of(choice.get("logprobs")),
        thinking=storable(thinking) if thinking and request.keeps_thinking else None,
        response_id=_name_of(payload, "id"),
        response_model=_name_of(payload, "model"),
        fingerprint=_name_of(payload, "system_fingerprint"),
        left_out=", ".join(left_out),
    )


def _first_choice(payload: object, usage: Counts) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The first choice and its message.

    Raises:
        CallError: There is none, or an error in its place.
    """
    choices = payload.get("choices") if isinstance(payload, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise _error_in(payload, usage) or _no_completion(payload, usage)
    fault = _error_in(choice, usage) or _error_in(payload, usage)
    if fault is not None:
        raise fault
    if finish_of(choice) == ERROR:
        detail = f"The provider broke off its reply with an error: {quoted(choice)}"
        raise CallError(CallErrorKind.TRANSIENT, detail, usage=usage, billable=True)
    return choice, message


def _error_in(body: object, usage: Counts) -> CallError | None:
    """The fault that a body of a reply with status 200 reports, None where it reports none."""
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, Mapping):
        return None
    error = body.get("error") or body.get("errors") or (body.get("detail") if "choices" not in body else None)
    if not error and (body.get("object") == "error" or body.get("type") == "error"):
        error = body
    if not error or not isinstance(error, str | list | Mapping):
        return None
    said = said_in({"error": error})
    status = _status_of(said.code)
    heading = "The endpoint sent an error in place of a reply (status 200, error {status})"
    body = {"error": error} if said.message else quoted(error)
    return fault_of_status(status, body, {}, usage=usage, heading=heading)


def _status_of(code: str) -> int:
    """The HTTP status that an error's code stands for; that of a gateway's fault where it names none."""
    if code.isascii() and code.isdigit() and LEAST_STATUS <= int(code[:9]) <= MOST_STATUS:
        return int(code)
    limited = "rate_limit" in code or "quota" in code or code in {"RESOURCE_EXHAUSTED", "billing_not_active"}
    return RATE_LIMIT_STATUS if limited else UPSTREAM_STATUS


def _no_completion(body: object, usage: Counts = NOTHING) -> CallError:
    """The fault of a body that is something else, which its first characters show."""
    shown = quoted(body)
    page = shown.startswith("<")
    stream = ", but a stream that was not asked for" if shown.startswith(("data:", "event:")) else ""
    detail = f"The endpoint's reply is no chat completion{stream}: {shown or 'nothing at all'}"
    return CallError(CallErrorKind.TRANSIENT, detail, billable=not page, usage=usage)


def _refusal_of(message: Mapping[str, Any]) -> object:
    """The refusal field, where OpenAI has it or where litellm puts it."""
    extra = message.get("provider_specific_fields")
    return message.get("refusal") or (extra.get("refusal") if isinstance(extra, Mapping) else None)


def _text_of(content: object) -> str:
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, Mapping) else part for part in content)
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _thinking_of(message: Mapping[str, Any]) -> str | None:
    """Reasoning apart from the text, as DeepSeek, vLLM and litellm name it, or as OpenRouter does."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        value = message.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


def _name_of(payload: object, field: str) -> str:
    value = payload.get(field) if isinstance(payload, Mapping) else None
    return storable(value[:LONGEST_NAME]) if isinstance(value, str) else ""


def usage_of(payload: object) -> Counts | None:
    """The tokens that were read and written; None where the endpoint gives no believable numbers."""
    if not isinstance(payload, Mapping):
        return None
    for name in ("usage", "usageMetadata", "usage_metadata", ""):
        place: object = payload.get(name) if name else payload
        if not isinstance(place, Mapping):
            continue
        for read, written in COUNTS:
            if read not in place:
                continue
            counts = count_of(place.get(read)), count_of(place.get(written))
            if counts[0] is not None and counts[1] is not None:
                return counts[0], counts[1]
    return None


def count_of(value: object) -> int | None:
    """A whole, believable number of tokens."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= MOST_TOKENS or value != int(value):
        return None
    return int(value)


def _logprobs_of(logprobs: object) -> str | None:
    """OpenAI's list of tokens as compact JSON, without their bytes."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list) or not content:
        return None
    tokens = [
        {**_token_of(item), "top_logprobs": [_token_of(top) for top in _mappings(item.get("top_logprobs"))]}
        for item in _mappings(content)
    ]
    return storable(json.dumps(tokens, separators=(",", ":"), ensure_ascii=False)) if tokens else None


def _mappings(rows: object) -> list[Mapping[str, Any]]:
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _token_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """A token and its log probability; NaN, infinities and anything but a number are none."""
    token, chance = item.get("token"), item.get("logprob")
    number = isinstance(chance, int | float) and not isinstance(chance, bool) and math.isfinite(chance)
    return {"token": token if isinstance(token, str) else None, "logprob": chance if number else None}
