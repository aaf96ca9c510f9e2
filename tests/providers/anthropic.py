"""Anthropic's OpenAI-compatible endpoint."""

from __future__ import annotations

from tests.providers.base import Answer, Call, End, Mode, always, completion, good, once, says, with_

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
        name="anthropic-4-5",
        about="Claude 4.5 at temperature 0: `top_p` is not sent, and nothing is refused",
        answer=claude_4_5,
        calls=1,
    ),
    Mode(
        name="anthropic-4-5-warm",
        about="Claude 4.5 at a temperature above 0: not with `top_p`",
        answer=claude_4_5,
        left_out="top_p",
        calls=2,
        settings={"temperature": 0.5},
    ),
    Mode(
        name="anthropic-opus-4-7",
        about="a model without `temperature`: deprecated, a 400",
        answer=lambda call: (
            error(400, "invalid_request_error", "`temperature` is deprecated for this model.")
            if "temperature" in call.body
            else completion(call)
        ),
        left_out="temperature",
        calls=2,
    ),
    Mode(
        name="anthropic-overloaded",
        about="529 `overloaded_error` once",
        answer=once(error(529, "overloaded_error", "Overloaded")),
        calls=2,
    ),
    Mode(
        name="anthropic-too-long",
        about="400: the prompt is too long",
        end=End.FAILED,
        answer=always(
            error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
        ),
        says="prompt is too long",
        calls=1,
    ),
    Mode(
        name="anthropic-max-tokens",
        about="finish reason `max_tokens`",
        end=End.UNREADABLE,
        answer=says("<thinking>Both", finish="max_tokens"),
        says="cut off at its token limit",
    ),
    Mode(
        name="anthropic-refusal",
        about="finish reason `refusal`",
        end=End.REFUSED,
        answer=says("", finish="refusal"),
        calls=1,
    ),
    Mode(
        name="anthropic-end-turn",
        about="finish reason `end_turn`, usage as `input_tokens` and `output_tokens`",
        answer=with_(finish="end_turn", usage={"input_tokens": 1_000, "output_tokens": 50}),
        calls=1,
    ),
    Mode(name="anthropic-chat", about="a chat model", end=End.JUDGED, answer=good, calls=1),
)
