"""Modes of `modes.yaml`, by provider.

An endpoint adds keys to each `completion`, sends an invalid `reply` (always, or only some `times`), or
`refuses` a key of the body (`system` is a message of that role). `OWN` has the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tests.providers.base import Answer, Call, End, Mode, completion, refusal

ONE_TEMPERATURE = (
    "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is "
    "supported."
)
LIMIT = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)
BOTH = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."


def _gpt_5(call: Call) -> Answer:
    """Accept only the new name of the limit and the default temperature."""
    if call.body.get("temperature") not in {None, 1}:
        return refusal(400, ONE_TEMPERATURE, param="temperature", code="unsupported_value")
    if "max_tokens" in call.body:
        return refusal(400, LIMIT, param="max_tokens", code="unsupported_parameter")
    return completion(call)


def _claude_4_5(call: Call) -> Answer:
    """Accept temperature or top_p, not both."""
    if {"temperature", "top_p"} <= set(call.body):
        error = {"type": "invalid_request_error", "message": BOTH}
        return Answer({"type": "error", "error": error}, 400)
    return completion(call)


def _thought(call: Call) -> Answer:
    """Reasoning used all tokens: no content, and the reported output excludes them."""
    answer = completion(call, "", finish="length", usage=(900, 0))
    del answer.body["choices"][0]["message"]["content"]  # type: ignore[index]
    return answer


def _as_bytes(change: Callable[[bytes], object], call: Call) -> Answer:
    return Answer(change(completion(call).raw))


OWN: Mapping[str, Callable[[Call], Answer]] = {
    "openai-gpt-5": _gpt_5,
    "anthropic-4-5": _claude_4_5,
    "gemini-thinking": _thought,
    "openrouter-auto": lambda call: completion(call, top={"model": f"cheaper-model-v{1 + call.number % 2}"}),
    "openrouter-keep-alive": partial(_as_bytes, lambda raw: b"\n         \n" + raw),
    "gateway-text": lambda call: replace(completion(call), content_type="text/plain"),
    "gateway-bom": partial(_as_bytes, lambda raw: b"\xef\xbb\xbf" + raw),
    "gateway-latin-1": partial(_as_bytes, lambda raw: raw.replace(b"longer one", b"l\xe4ngere")),
    "gateway-json-in-json": partial(_as_bytes, bytes.decode),
    "ollama-parts": lambda call: completion(call, [{"type": "text", "text": call.verdict}]),
}


def _completing(
    call: Call, reply: Answer | None, times: int | None, refused: Mapping[str, Answer], own: Mapping[str, Any]
) -> Answer:
    roles = {message["role"] for message in call.body["messages"]}
    refusals = [answer for key, answer in refused.items() if key in call.body or key in roles]
    if reply and (times is None or call.number <= times):
        return reply
    return refusals[0] if refusals else completion(call, **own)


def _answer(text: str | None = None, **fields: Any) -> Answer:  # noqa: ANN401 - of an answer
    return Answer(**fields) if text is None else Answer(text.encode(), **fields)


def _mode(
    name: str,
    *,
    completion: Mapping[str, Any] | None = None,
    reply: Mapping[str, Any] | None = None,
    times: int | None = None,
    refuses: Mapping[str, Mapping[str, Any]] | None = None,
    end: str = End.JUDGED,
    **fields: Any,  # noqa: ANN401 - of a mode
) -> Mode:
    own = dict(completion or {})
    if (usage := own.get("usage")) == "absent" or isinstance(usage, list):
        own["usage"] = tuple(usage) if isinstance(usage, list) else ...
    refused = {key: _answer(**{"status": 400, **rule}) for key, rule in (refuses or {}).items()}
    answer = partial(
        _completing, reply=_answer(**reply) if reply else None, times=times, refused=refused, own=own
    )
    return Mode(name=name, answer=OWN.get(name, answer), end=End(end), **fields)


_WRITTEN = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
PROVIDERS = {
    provider: [_mode(name, **fields) for name, fields in modes.items()]
    for provider, modes in _WRITTEN.items()
}
