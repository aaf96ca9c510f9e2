"""OpenAI: chat models, reasoning models, and its errors."""

from __future__ import annotations

from tests.providers.base import (
    Answer,
    Call,
    End,
    Mode,
    always,
    completion,
    good,
    once,
    refusal,
    refusing,
    says,
    with_,
)

LIMIT = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)
ONE_TEMPERATURE = (
    "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is "
    "supported."
)
NO_SYSTEM = "Unsupported value: 'messages[0].role' does not support 'system' with this model."
TOO_LONG = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
)


def unsupported(name: str, message: str = "") -> tuple[str, int, object]:
    """A 400 that names a parameter."""
    words = message or f"Unsupported parameter: '{name}' is not supported with this model."
    error = {
        "message": words,
        "type": "invalid_request_error",
        "param": name,
        "code": "unsupported_parameter",
    }
    return name, 400, {"error": error}


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
    Mode(name="openai-chat", about="a chat model", end=End.JUDGED, answer=good, calls=1),
    Mode(
        name="openai-gpt-5",
        about="gpt-5: temperature 0 and `max_tokens` are a 400",
        answer=gpt_5,
        left_out="temperature",
        calls=3,
    ),
    Mode(
        name="openai-o3",
        about="o3: `max_tokens`, `temperature` and `top_p` are a 400 each",
        answer=refusing(unsupported("max_tokens", LIMIT), unsupported("temperature"), unsupported("top_p")),
        left_out="temperature, top_p",
        settings={"temperature": 0.5},
    ),
    Mode(
        name="openai-o4-mini",
        about="o4-mini: `top_p` is a 400",
        answer=refusing(unsupported("top_p")),
        left_out="top_p",
        settings={"temperature": 0.5},
    ),
    Mode(
        name="openai-o1-mini",
        about="o1-mini: the system role is a 400",
        answer=refusing(("system", 400, {"error": {"message": NO_SYSTEM}})),
        left_out="system role",
    ),
    Mode(
        name="openai-no-seed",
        about="`seed` is a 400",
        answer=refusing(unsupported("seed")),
        left_out="seed",
        settings={"seed": 7},
    ),
    Mode(
        name="openai-no-logprobs",
        about="log probabilities are a 400: judged without a degree",
        answer=refusing(unsupported("logprobs", "You are not allowed to request logprobs from this model.")),
        left_out="logprobs",
        says="no log probabilities",
        settings={"reply": "logprobs"},
    ),
    Mode(
        name="openai-no-limit",
        about="neither name of the token limit is known",
        answer=refusing(
            unsupported("max_tokens", "Unrecognized request argument supplied: max_tokens"),
            unsupported(
                "max_completion_tokens", "Unrecognized request argument supplied: max_completion_tokens"
            ),
        ),
        left_out="max_tokens",
    ),
    Mode(
        name="openai-refusal",
        about="a `refusal` in place of the content",
        end=End.REFUSED,
        answer=says("", message={"content": None, "refusal": "I can't help with that."}),
        says="can't help",
        calls=1,
    ),
    Mode(
        name="openai-filtered",
        about="finish reason `content_filter`",
        end=End.REFUSED,
        answer=says("", finish="content_filter"),
        calls=1,
    ),
    Mode(
        name="openai-cut-off",
        about="finish reason `length`",
        end=End.UNREADABLE,
        answer=says("<thinking>Both have", finish="length"),
        says="cut off at its token limit",
    ),
    Mode(
        name="openai-tool-call",
        about="a tool call that nobody asked for, and no text",
        end=End.UNREADABLE,
        answer=says(
            "",
            finish="tool_calls",
            message={"tool_calls": [{"id": "1", "function": {"name": "rate", "arguments": "{}"}}]},
        ),
    ),
    Mode(
        name="openai-quota",
        about="429 `insufficient_quota`",
        end=End.GIVEN_UP,
        answer=always(refusal(429, "You exceeded your current quota.", code="insufficient_quota")),
        says="exceeded your current quota",
        calls=1,
    ),
    Mode(
        name="openai-429-seconds",
        about="429 with `Retry-After` in seconds",
        answer=once(limited(retry_after="0.05")),
        calls=2,
    ),
    Mode(
        name="openai-429-ms",
        about="429 with `retry-after-ms`",
        answer=once(limited(retry_after_ms="30")),
        calls=2,
    ),
    Mode(
        name="openai-429-zero",
        about="every call a 429 with `Retry-After: 0`: a bounded number of calls",
        end=End.FAILED,
        answer=always(limited(retry_after="0")),
        says="HTTP 429",
    ),
    Mode(
        name="openai-429-past",
        about="429 with a date in the past",
        answer=once(limited(retry_after="Wed, 21 Oct 2015 07:28:00 GMT"), times=2),
        calls=3,
    ),
    Mode(
        name="openai-429-hour",
        about="429 with `Retry-After: 3600`",
        end=End.GIVEN_UP,
        answer=always(limited(retry_after="3600")),
        says="3600",
        calls=1,
    ),
    Mode(
        name="openai-context",
        about="400 `context_length_exceeded`",
        end=End.FAILED,
        answer=always(
            refusal(
                400,
                TOO_LONG,
                code="context_length_exceeded",
            )
        ),
        says="maximum context length",
        calls=1,
    ),
    Mode(
        name="openai-401",
        about="a wrong key, which the error repeats",
        end=End.GIVEN_UP,
        answer=always(refusal(401, "Incorrect API key provided: sk-scripted-key.", code="invalid_api_key")),
        says="***",
        calls=1,
    ),
    Mode(
        name="openai-404",
        about="no such model",
        end=End.GIVEN_UP,
        answer=always(refusal(404, "The model does not exist.", code="model_not_found")),
        says="does not exist",
        calls=1,
    ),
    Mode(
        name="openai-500-once",
        about="500 once",
        answer=once(refusal(500, "The server had an error.")),
        calls=2,
    ),
    Mode(
        name="openai-fingerprint",
        about="an id, a dated model and a system fingerprint, which are kept",
        answer=with_(top={"model": "gpt-4.1-2025-04-14", "system_fingerprint": "fp_1"}),
    ),
    Mode(
        name="openai-nan-logprobs",
        about="log probabilities that are NaN and infinite: none",
        answer=lambda call: completion(
            call,
            "<rating>1</rating>",
            choice={
                "logprobs": {
                    "content": [
                        {"token": "<rating>", "logprob": 0.0},
                        {
                            "token": "1",
                            "logprob": float("nan"),
                            "top_logprobs": [
                                {"token": "1", "logprob": float("nan")},
                                {"token": "2", "logprob": float("-inf")},
                            ],
                        },
                        {"token": "</rating>", "logprob": 0.0},
                    ]
                }
            },
        ),
        says="no log probabilities",
        settings={"reply": "logprobs"},
    ),
)
