"""Endpoints of Anthropic, Azure OpenAI, Gemini, OpenRouter (with errors of those behind it) and DeepSeek."""

from __future__ import annotations

from tests.providers.base import (
    Answer,
    Call,
    End,
    Mode,
    always,
    completion,
    once,
    refusal,
    refusing,
    says,
    with_,
)

BOTH = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."


def anthropic_error(status: int, kind: str, message: str) -> Answer:
    """An error as Anthropic shapes it."""
    return Answer({"type": "error", "error": {"type": kind, "message": message}}, status)


def claude_4_5(call: Call) -> Answer:
    """Takes temperature or top_p, not both."""
    if {"temperature", "top_p"} <= set(call.body):
        return anthropic_error(400, "invalid_request_error", BOTH)
    return completion(call)


ANTHROPIC = (
    Mode(
        "anthropic-4-5",
        "Claude 4.5 at temperature 0: `top_p` is not sent, and nothing is refused",
        claude_4_5,
    ),
    Mode(
        "anthropic-overloaded",
        "529 `overloaded_error` once",
        once(anthropic_error(529, "overloaded_error", "Overloaded")),
        calls=2,
    ),
    Mode("anthropic-refusal", "finish reason `refusal`", says("", finish="refusal"), End.REFUSED),
)

FILTERED = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."

AZURE = (
    Mode(
        "azure-filtered-prompt",
        "400 `content_filter`",
        always(refusal(400, FILTERED, code="content_filter")),
        End.REFUSED,
        "content management policy",
    ),
    Mode(
        "azure-plain-401",
        "401 with a body of another shape",
        always(Answer({"statusCode": 401, "message": "Unauthorized. Access token is missing."}, 401)),
        End.GIVEN_UP,
        "Access token is missing",
    ),
)

UNKNOWN_SEED = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'


def thought(call: Call) -> Answer:
    """Thinking that took all tokens: no content, and none of them in the count of what was written."""
    body = completion(call, "", finish="length", usage=(900, 0))
    del body.body["choices"][0]["message"]["content"]  # type: ignore[index]
    return body


GEMINI = (
    Mode(
        "gemini-thinking",
        "thinking took all tokens: no content at all",
        thought,
        End.UNREADABLE,
        "cut off at its token limit",
        calls=None,
    ),
    Mode(
        "gemini-unknown-seed",
        "an error in a list: `seed` is an unknown name",
        refusing(("seed", 400, [{"error": {"code": 400, "message": UNKNOWN_SEED}}])),
        left_out="seed",
        calls=2,
        settings={"seed": 1},
    ),
)

UPSTREAM = {"error": {"message": "Provider returned error: upstream overloaded", "code": 502}}
BROKEN = {"error": {"message": "Provider disconnected", "code": 502}}

OPENROUTER = (
    Mode(
        "openrouter-error-in-200",
        "an error in a 200 always: nothing is lost of a cap",
        always(Answer(UPSTREAM)),
        End.FAILED,
        "upstream overloaded",
        calls=3,
    ),
    Mode(
        "openrouter-credits",
        "402 in a 200: nothing is left to pay with",
        always(Answer({"error": {"message": "Insufficient credits", "code": 402}})),
        End.GIVEN_UP,
        "Insufficient credits",
    ),
    Mode(
        "openrouter-error-in-choice",
        "half a text with an error in the choice, always",
        says("<rating>1</rating>", finish="error", choice=BROKEN),
        End.FAILED,
        "Provider disconnected",
        calls=3,
    ),
    Mode(
        "openrouter-moderation",
        "403: the input was flagged",
        always(refusal(403, "Your chosen model requires moderation and your input was flagged", code=403)),
        End.REFUSED,
        "flagged",
    ),
    Mode(
        "openrouter-raw",
        "400 whose cause stands in the metadata",
        always(
            refusal(400, "Provider returned error", metadata={"raw": '{"error":{"message":"No image part"}}'})
        ),
        End.FAILED,
        "No image part",
    ),
    Mode(
        "openrouter-auto",
        "two models in turn behind one name, which are kept",
        lambda call: completion(call, top={"model": f"cheaper-model-v{1 + call.number % 2}"}),
    ),
    Mode(
        "openrouter-keep-alive",
        "blanks before the JSON",
        lambda call: Answer(b"\n         \n" + completion(call).raw),
    ),
    Mode(
        "openrouter-no-usage",
        "no usage: the most that a call may cost counts as lost",
        with_(usage=...),
        lost=True,
    ),
)

CUT_EMOJI = (
    b'{"choices": [{"message": {"role": "assistant", "content": '
    b'"<thinking>ok \\ud83d</thinking><rating>1</rating>"}, "finish_reason": "stop"}], '
    b'"usage": {"prompt_tokens": 1000, "completion_tokens": 50}, "model": "m\\udc00"}'
)
CUT_ERROR = b'{"error": {"message": "Half of a pair: \\ud83d"}}'

DEEPSEEK = (
    Mode(
        "deepseek-reasoner",
        "reasoning in `reasoning_content`",
        lambda call: completion(call, message={"reasoning_content": "Both are short."}),
    ),
    Mode(
        "deepseek-thought-unsaid",
        "reasoning took all tokens, and the finish reason is `stop`",
        says("", finish="stop", message={"content": None, "reasoning_content": "Both"}, usage=(1_000, 256)),
        End.UNREADABLE,
        "cut off at its token limit",
        calls=None,
    ),
    Mode(
        "deepseek-only-reasoning",
        "reasoning and an empty content, though tokens were left",
        says("", message={"reasoning_content": "The first."}),
        End.UNREADABLE,
        "empty",
        calls=None,
    ),
    Mode(
        "deepseek-empty",
        "an empty content without a token, always",
        says("", usage=(1_000, 0)),
        End.FAILED,
        "empty reply",
        calls=3,
    ),
    Mode(
        "deepseek-no-resource",
        "finish reason `insufficient_system_resource`",
        says("<thinking>", finish="insufficient_system_resource"),
        End.FAILED,
        "broke off",
        calls=3,
    ),
    Mode(
        "deepseek-half-a-pair",
        "half of a character pair in the text and in the model's name",
        always(Answer(CUT_EMOJI)),
    ),
    Mode(
        "deepseek-half-a-pair-in-error",
        "half of a character pair in an error",
        always(Answer(CUT_ERROR, 400)),
        End.FAILED,
        "Half of a pair: \ufffd",
    ),
)
