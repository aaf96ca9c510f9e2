"""OpenAI: chat models, reasoning models, and its errors."""

from __future__ import annotations

import math

from tests.providers.base import Answer, Call, End, Mode, always, good, once, refusal, refusing, says

LIMIT = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)
ONE_TEMPERATURE = (
    "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is "
    "supported."
)
TOO_LONG = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
)

NO_NUMBERS = [
    {"token": "<rating>", "logprob": 0.0},
    {"token": "1", "logprob": math.nan, "top_logprobs": [{"token": "2", "logprob": -math.inf}]},
    {"token": "</rating>", "logprob": 0.0},
]


def unsupported(name: str, message: str = "") -> tuple[str, int, object]:
    """A 400 that names a parameter."""
    words = message or f"Unsupported parameter: '{name}' is not supported with this model."
    return name, 400, {"error": {"message": words, "param": name, "code": "unsupported_parameter"}}


def limited(**headers: str) -> Answer:
    """A 429 with a wait, named as header names with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return refusal(429, "Rate limit reached for requests", headers=named, code="rate_limit_exceeded")


def gpt_5(call: Call) -> Answer:
    """Takes the newer name of the limit alone, and no temperature but its own."""
    if call.body.get("temperature") not in {None, 1}:
        return refusal(400, ONE_TEMPERATURE, param="temperature", code="unsupported_value")
    return refusing(unsupported("max_tokens", LIMIT))(call)


MODES = (
    Mode("openai-chat", "a chat model", good),
    Mode(
        "openai-gpt-5",
        "gpt-5: temperature 0 and `max_tokens` are a 400",
        gpt_5,
        left_out="temperature",
        calls=3,
    ),
    Mode(
        "openai-o3",
        "o3: `max_tokens`, `temperature` and `top_p` are a 400 each",
        refusing(unsupported("max_tokens", LIMIT), unsupported("temperature"), unsupported("top_p")),
        left_out="temperature, top_p",
        settings={"temperature": 0.5},
        calls=None,
    ),
    Mode(
        "openai-no-logprobs",
        "log probabilities are a 400: judged without a degree",
        refusing(unsupported("logprobs", "You are not allowed to request logprobs from this model.")),
        left_out="logprobs",
        says="no log probabilities",
        settings={"reply": "logprobs"},
        calls=None,
    ),
    Mode(
        "openai-no-limit",
        "neither name of the token limit is known",
        refusing(
            unsupported("max_tokens", "Unrecognized request argument supplied: max_tokens"),
            unsupported(
                "max_completion_tokens", "Unrecognized request argument supplied: max_completion_tokens"
            ),
        ),
        left_out="max_tokens",
        calls=None,
    ),
    Mode(
        "openai-refusal",
        "a `refusal` in place of the content",
        says("", message={"content": None, "refusal": "I can't help with that."}),
        End.REFUSED,
        "can't help",
    ),
    Mode(
        "openai-cut-off",
        "finish reason `length`",
        says("<thinking>Both have", finish="length"),
        End.UNREADABLE,
        "cut off at its token limit",
        calls=None,
    ),
    Mode(
        "openai-tool-call",
        "a tool call that nobody asked for, and no text",
        says(
            "",
            finish="tool_calls",
            message={"tool_calls": [{"id": "1", "function": {"name": "rate", "arguments": "{}"}}]},
        ),
        End.UNREADABLE,
        calls=None,
    ),
    Mode(
        "openai-429-seconds", "429 with `Retry-After` in seconds", once(limited(retry_after="0.05")), calls=2
    ),
    Mode("openai-429-ms", "429 with `retry-after-ms`", once(limited(retry_after_ms="30")), calls=2),
    Mode(
        "openai-429-zero",
        "every call a 429 with `Retry-After: 0`: a bounded number of calls",
        always(limited(retry_after="0")),
        End.FAILED,
        "HTTP 429",
        calls=None,
    ),
    Mode(
        "openai-429-hour",
        "429 with `Retry-After: 3600`",
        always(limited(retry_after="3600")),
        End.GIVEN_UP,
        "3600",
    ),
    Mode(
        "openai-context",
        "400 `context_length_exceeded`",
        always(refusal(400, TOO_LONG, code="context_length_exceeded")),
        End.FAILED,
        "maximum context length",
    ),
    Mode(
        "openai-401",
        "a wrong key, which the error repeats",
        always(refusal(401, "Incorrect API key provided: sk-scripted-key.", code="invalid_api_key")),
        End.GIVEN_UP,
        "***",
    ),
    Mode(
        "openai-nan-logprobs",
        "log probabilities that are NaN and infinite: none",
        says("<rating>1</rating>", choice={"logprobs": {"content": NO_NUMBERS}}),
        says="no log probabilities",
        settings={"reply": "logprobs"},
        calls=None,
    ),
)
