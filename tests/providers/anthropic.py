"""Anthropic's OpenAI-compatible endpoint."""

from __future__ import annotations

from tests.providers.base import Answer, Call, End, Mode, completion, once, says, with_

BOTH = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."


def error(status: int, kind: str, message: str) -> Answer:
    """An error as Anthropic shapes it."""
    return Answer({"type": "error", "error": {"type": kind, "message": message}}, status)


def claude_4_5(call: Call) -> Answer:
    """Takes temperature or top_p, not both."""
    if {"temperature", "top_p"} <= set(call.body):
        return error(400, "invalid_request_error", BOTH)
    return completion(call)


MODES = (
    Mode(
        "anthropic-4-5",
        "Claude 4.5 at temperature 0: `top_p` is not sent, and nothing is refused",
        claude_4_5,
    ),
    Mode(
        "anthropic-4-5-warm",
        "Claude 4.5 at a temperature above 0: not with `top_p`",
        claude_4_5,
        left_out="top_p",
        calls=2,
        settings={"temperature": 0.5},
    ),
    Mode(
        "anthropic-opus-4-7",
        "a model without `temperature`: deprecated, a 400",
        (
            lambda call: (
                error(400, "invalid_request_error", "`temperature` is deprecated for this model.")
                if "temperature" in call.body
                else completion(call)
            )
        ),
        left_out="temperature",
        calls=2,
    ),
    Mode(
        "anthropic-overloaded",
        "529 `overloaded_error` once",
        once(error(529, "overloaded_error", "Overloaded")),
        calls=2,
    ),
    Mode(
        "anthropic-max-tokens",
        "finish reason `max_tokens`",
        says("<thinking>Both", finish="max_tokens"),
        End.UNREADABLE,
        "cut off at its token limit",
        calls=None,
    ),
    Mode("anthropic-refusal", "finish reason `refusal`", says("", finish="refusal"), End.REFUSED),
    Mode(
        "anthropic-end-turn",
        "finish reason `end_turn`, usage as `input_tokens` and `output_tokens`",
        with_(finish="end_turn", usage={"input_tokens": 1_000, "output_tokens": 50}),
    ),
)
