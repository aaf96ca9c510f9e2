"""Parse bodies of chat completions as replies.

Any other body with status 200, such as a provider's error, a log-in page or an unrequested stream, is a
transient error of the endpoint. Replies include the finish reason, the reasoning and log probabilities.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from data.models import Reply, TokenUsage
from data.text import storable, visible
from judges.llm.errors import (
    NO_USAGE,
    RATE_LIMIT_STATUS,
    CallError,
    CallErrorKind,
    fault_of_status,
    parse_error,
    quoted,
)
from judges.llm.reply_size import MAX_TEXT, MIN_LIMIT, too_large
from judges.llm.requests import Request
from judges.llm.tools import text_with_calls
from judges.llm.usage import usage_of

MAX_NAME = 200
BYTES_PER_OBJECT = 12
"""Minimum bytes per list or object in a large body; log probabilities have about 20."""
UPSTREAM_STATUS = 502
ERROR_STATUSES = range(400, 600)


def payload_of(raw: bytes) -> object:
    """Parse a body as JSON, regardless of its content type.

    A large body must not consist mainly of lists and objects, which need 20 times their text in memory.
    """
    if len(raw) > MIN_LIMIT and raw.count(b"[") + raw.count(b"{") > len(raw) / BYTES_PER_OBJECT:
        raise _no_completion(raw)
    try:
        try:
            return json.loads(raw)
        except UnicodeDecodeError:
            return json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise _no_completion(raw) from error


def reply_of(request: Request, payload: object, latency: float, *, left_out: tuple[str, ...] = ()) -> Reply:
    """Parse a chat completion; with tool calls, the text is the message as JSON (see `judges.llm.tools`)."""
    if isinstance(payload, str | bytes):
        payload = payload_of(payload if isinstance(payload, bytes) else payload.encode("utf-8", "replace"))
    try:
        return _read(request, payload, latency, left_out)
    except RecursionError as error:
        raise _no_completion(payload) from error


def _read(request: Request, payload: object, latency: float, left_out: tuple[str, ...]) -> Reply:
    usage = usage_of(payload)
    choice, message = _first_choice(payload, usage or NO_USAGE)
    finish = finish_of(choice)
    refusal = _refusal_of(message)
    if refusal:
        detail = f"The model refused: {refusal}"
        raise CallError(CallErrorKind.REFUSED, detail, usage=usage or NO_USAGE, billable=True)
    if finish == FILTERED:
        detail = "A content filter stopped the reply."
        raise CallError(CallErrorKind.REFUSED, detail, usage=usage or NO_USAGE, billable=True)
    text = text_with_calls(message) or _text_of(message.get("content"))
    thinking = _thinking_of(message)
    if max(len(text), len(thinking or "")) > MAX_TEXT:
        raise too_large(MAX_TEXT, text or thinking or "")
    if not text and thinking and usage and usage.output >= (request.sampling.max_tokens or math.inf):
        finish = CUT_OFF
    if not text.strip() and not thinking and finish != CUT_OFF and not (usage and usage.output):
        detail = "The endpoint returned an empty reply, without a token."
        raise CallError(CallErrorKind.TRANSIENT, detail, usage=usage or NO_USAGE)
    if usage is not None and not (usage.input or usage.output or usage.stated_usd):
        usage = None  # A text without tokens is impossible.
    return Reply(
        key=request.key,
        endpoint=request.endpoint,
        model=request.model,
        text=visible(storable(text)),
        finish_reason=visible(storable(finish)),
        input_tokens=usage.input if usage else 0,
        output_tokens=usage.output if usage else 0,
        metered=usage is not None,
        usage=usage,
        latency=latency,
        logprobs=_logprobs_of(choice.get("logprobs")),
        thinking=visible(storable(thinking)) if thinking and request.asks_for_thinking else None,
        response_id=_name_of(payload, "id"),
        response_model=_name_of(payload, "model"),
        fingerprint=_name_of(payload, "system_fingerprint"),
        left_out=", ".join(left_out),
    )


def _first_choice(payload: object, usage: TokenUsage) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    choices = payload.get("choices") if isinstance(payload, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise _error_in(payload, usage) or _no_completion(payload, usage)
    fault = _error_in(choice, usage) or _error_in(payload, usage)
    if fault is not None:
        raise fault
    if finish_of(choice) == ERROR:
        detail = f"The provider ended its reply with an error: {quoted(choice)}"
        raise CallError(CallErrorKind.TRANSIENT, detail, usage=usage, billable=True)
    return choice, message


def _error_in(body: object, usage: TokenUsage) -> CallError | None:
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, Mapping):
        return None
    error = body.get("error") or body.get("errors") or (body.get("detail") if "choices" not in body else None)
    if not error and (body.get("object") == "error" or body.get("type") == "error"):
        error = body
    if not error or not isinstance(error, str | list | Mapping):
        return None
    parsed = parse_error({"error": error})
    status = _status_of(parsed.code)
    heading = "The endpoint sent an error instead of a reply (status 200, error {status})"
    body = {"error": error} if parsed.message else quoted(error)
    return fault_of_status(status, body, {}, usage=usage, heading=heading)


def _status_of(code: str) -> int:
    """Return the HTTP status for an error code; by default a gateway error."""
    if code.isascii() and code.isdigit() and int(code[:9]) in ERROR_STATUSES:
        return int(code)
    limited = "rate_limit" in code or "quota" in code or code in {"RESOURCE_EXHAUSTED", "billing_not_active"}
    return RATE_LIMIT_STATUS if limited else UPSTREAM_STATUS


def _no_completion(body: object, usage: TokenUsage = NO_USAGE) -> CallError:
    start = quoted(body)
    stream = ", but an unrequested stream" if start.startswith(("data:", "event:")) else ""
    detail = f"The endpoint's reply is not a chat completion{stream}: {start or '(empty)'}"
    return CallError(CallErrorKind.TRANSIENT, detail, billable=not start.startswith("<"), usage=usage)


def _refusal_of(message: Mapping[str, Any]) -> object:
    extra = message.get("provider_specific_fields")
    return message.get("refusal") or (extra.get("refusal") if isinstance(extra, Mapping) else None)


def _text_of(content: object) -> str:
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, Mapping) else part for part in content)
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _thinking_of(message: Mapping[str, Any]) -> str | None:
    """Return separate reasoning, as in replies of DeepSeek, vLLM, litellm and OpenRouter."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        value = message.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


def _name_of(payload: object, field: str) -> str:
    value = payload.get(field) if isinstance(payload, Mapping) else None
    return visible(storable(value[:MAX_NAME])) if isinstance(value, str) else ""


def _logprobs_of(logprobs: object) -> str | None:
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
    """Return a token and its log probability, None unless it is a finite number."""
    token, chance = item.get("token"), item.get("logprob")
    number = isinstance(chance, int | float) and not isinstance(chance, bool) and math.isfinite(chance)
    return {"token": token if isinstance(token, str) else None, "logprob": chance if number else None}


STOP = "stop"
CUT_OFF = "length"
FILTERED = "content_filter"
ERROR = "error"
MAX_REASON = 60

_WORDS = {
    CUT_OFF: "length max_tokens max_output_tokens max_completion_tokens max_length model_length token_limit "
    "model_context_window_exceeded limit",
    FILTERED: "content_filter content_filtered contentfilter refusal safety recitation blocklist "
    "prohibited_content spii image_safety sensitive guardrail_intervened moderation",
    ERROR: "error failed abort aborted insufficient_system_resource network_error",
    STOP: "stop end_turn eos eos_token stop_sequence stop_token completed complete finish",
}
_CANONICAL = {word: ours for ours, words in _WORDS.items() for word in words.split()}
_STRONGEST = (ERROR, FILTERED, CUT_OFF)


def canonical(reason: object) -> str:
    """Convert a finish reason to OpenAI's term; unknown reasons stay unchanged."""
    return _canonical(reason[:MAX_REASON]) if isinstance(reason, str) else ""


@lru_cache(maxsize=64)
def _canonical(reason: str) -> str:
    word = reason.strip().lower().replace("-", "_").replace(" ", "_").removeprefix("finish_reason_")
    return _CANONICAL.get(word, reason.strip())


def finish_of(choice: Mapping[str, Any]) -> str:
    """Return a choice's finish reason, or its provider's if that is more specific."""
    own, native = canonical(choice.get("finish_reason")), canonical(choice.get("native_finish_reason"))
    for reason in _STRONGEST:
        if reason in {own, native}:
            return reason
    return own or native


MIN_SHARE = 0.5
AROUND_VALUES = " \t\n\"'"


def token_shares(reply: Reply, before: str, values: Sequence[str]) -> Mapping[str, float] | None:
    """Return the probability of each value at its last occurrence in the reply.

    Args:
        reply: A reply with log probabilities.
        before: Regular expression for the text before the value; the last match counts.
        values: Possible values.

    Returns:
        Shares that sum to 1; None without log probabilities, if the value is not a single token, or if other
        tokens have most of the probability.
    """
    tokens = tokens_of(reply)
    text = "".join(token["token"] for token in tokens)
    alternatives = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
    matches = list(re.finditer(rf"(?:{before})({alternatives})(?!\w|\.\d)", text))
    if not matches:
        return None
    token = _covering(tokens, *matches[-1].span(matches[-1].re.groups))
    if token is None:
        return None
    shares = dict.fromkeys(values, 0.0)
    for alternative in token.get("top_logprobs") or [token]:
        value = str(alternative["token"]).strip(AROUND_VALUES)
        if value in shares:
            logprob = alternative.get("logprob")
            if not isinstance(logprob, int | float) or not math.isfinite(logprob):
                return None
            shares[value] += math.exp(min(0.0, logprob))
    total = sum(shares.values())
    return {value: share / total for value, share in shares.items()} if total >= MIN_SHARE else None


def weighted_score(reply: Reply, field: str, values: Sequence[int]) -> float | None:
    """Return the expected value of an integer JSON field over its possible values.

    None without shares (see `token_shares`).

    Source: Liu et al. (2023), G-Eval, equation 1.
    """
    shares = token_shares(reply, rf'"{re.escape(field)}"\s*:\s*"?', [str(value) for value in values])
    return None if shares is None else sum(value * shares[str(value)] for value in values)


def _covering(tokens: Sequence[Mapping[str, Any]], start: int, end: int) -> Mapping[str, Any] | None:
    """Return the token that contains the whole span, if there is one."""
    place = 0
    for token in tokens:
        after = place + len(token["token"])
        if place <= start < after:
            return token if end <= after else None
        place = after
    return None


def tokens_of(reply: Reply) -> list[dict[str, Any]]:
    """Return the tokens of a reply with their log probabilities, if any."""
    rows = json.loads(reply.logprobs) if reply.logprobs else []
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("token"), str)]


_TAG = re.compile(r"<(/?)(think(?:ing)?)>", re.IGNORECASE)


def split_reasoning(text: str, *, same_name: bool) -> tuple[list[str], str]:
    """Split a text into its reasoning blocks and the rest.

    Unclosed blocks do not count. The run time is linear even with many unclosed blocks.

    Args:
        text: A reply.
        same_name: Whether `</think>` closes only `<think>`; otherwise either tag closes either.
    """
    tags = list(_TAG.finditer(text))
    names = [tag[2].lower() if same_name else "" for tag in tags]
    last = {name: tag.start() for name, tag in zip(names, tags, strict=True) if tag[1]}
    inside: list[str] = []
    outside: list[str] = []
    position, opening = 0, None
    for name, tag in zip(names, tags, strict=True):
        if opening is None and not tag[1] and last.get(name, -1) > tag.start():
            opening = (name, tag)
        elif opening is not None and tag[1] and opening[0] == name:
            inside.append(text[opening[1].end() : tag.start()])
            outside.append(text[position : opening[1].start()])
            position, opening = tag.end(), None
    return inside, "".join([*outside, text[position:]])
