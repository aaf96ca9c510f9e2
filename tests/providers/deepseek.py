"""DeepSeek and other reasoning models."""

from __future__ import annotations

from tests.providers.base import Answer, End, Mode, always, completion, refusal, says

CUT_EMOJI = (
    b'{"choices": [{"message": {"role": "assistant", "content": '
    b'"<thinking>ok \\ud83d</thinking><rating>1</rating>"}, "finish_reason": "stop"}], '
    b'"usage": {"prompt_tokens": 1000, "completion_tokens": 50}, "model": "m\\udc00"}'
)
CUT_ERROR = b'{"error": {"message": "Half of a pair: \\ud83d"}}'

MODES = (
    Mode(
        "deepseek-reasoner",
        "reasoning in `reasoning_content`",
        lambda call: completion(call, message={"reasoning_content": "Both are short."}),
    ),
    Mode(
        "deepseek-thought-too-long",
        "reasoning took all tokens: content null, finish reason `length`",
        says("", finish="length", message={"content": None, "reasoning_content": "Both"}, usage=(1_000, 256)),
        End.UNREADABLE,
        "cut off at its token limit",
        calls=None,
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
    Mode(
        "deepseek-think-tags",
        "reasoning in `<think>` before the text",
        lambda call: completion(call, f"<think>\nThe first is longer.\n</think>\n\n{call.verdict}"),
    ),
    Mode(
        "deepseek-unopened-think",
        "reasoning that is closed and never opened",
        lambda call: completion(call, f"The first is longer.\n</think>\n\n{call.verdict}"),
    ),
    Mode(
        "deepseek-balance",
        "402: the balance is used up",
        always(refusal(402, "Insufficient Balance", code="invalid_request_error")),
        End.GIVEN_UP,
        "Insufficient Balance",
    ),
)
