"""DeepSeek and other reasoning models."""

from __future__ import annotations

from tests.providers.base import Answer, End, Mode, always, completion, once, refusal, says

CUT_EMOJI = (
    b'{"choices": [{"message": {"role": "assistant", "content": '
    b'"<thinking>ok \\ud83d</thinking><rating>1</rating>"}, "finish_reason": "stop"}], '
    b'"usage": {"prompt_tokens": 1000, "completion_tokens": 50}, "model": "m\\udc00"}'
)
CUT_ERROR = b'{"error": {"message": "Half of a pair: \\ud83d"}}'

MODES = (
    Mode(
        name="deepseek-reasoner",
        about="reasoning in `reasoning_content`",
        answer=lambda call: completion(call, message={"reasoning_content": "Both are short."}),
        calls=1,
    ),
    Mode(
        name="deepseek-thought-too-long",
        about="reasoning took all tokens: content null, finish reason `length`",
        end=End.UNREADABLE,
        answer=says(
            "", finish="length", message={"content": None, "reasoning_content": "Both"}, usage=(1_000, 256)
        ),
        says="cut off at its token limit",
    ),
    Mode(
        name="deepseek-thought-unsaid",
        about="reasoning took all tokens, and the finish reason is `stop`",
        end=End.UNREADABLE,
        answer=says(
            "", finish="stop", message={"content": None, "reasoning_content": "Both"}, usage=(1_000, 256)
        ),
        says="cut off at its token limit",
    ),
    Mode(
        name="deepseek-only-reasoning",
        about="reasoning and an empty content, though tokens were left",
        end=End.UNREADABLE,
        answer=says("", message={"reasoning_content": "The first."}),
        says="empty",
    ),
    Mode(
        name="deepseek-empty-once",
        about="an empty content without a token, once",
        answer=lambda call: completion(call, "", usage=(1_000, 0)) if call.number == 1 else completion(call),
        calls=2,
    ),
    Mode(
        name="deepseek-empty",
        about="an empty content without a token, always",
        end=End.FAILED,
        answer=says("", usage=(1_000, 0)),
        says="empty reply",
        calls=3,
    ),
    Mode(
        name="deepseek-no-resource",
        about="finish reason `insufficient_system_resource`",
        end=End.FAILED,
        answer=says("<thinking>", finish="insufficient_system_resource"),
        says="broke off",
        calls=3,
    ),
    Mode(
        name="deepseek-half-a-pair",
        about="half of a character pair in the text and in the model's name",
        answer=always(Answer(CUT_EMOJI)),
        calls=1,
    ),
    Mode(
        name="deepseek-half-a-pair-in-error",
        about="half of a character pair in an error",
        end=End.FAILED,
        answer=always(Answer(CUT_ERROR, 400)),
        says="Half of a pair: \ufffd",
        calls=1,
    ),
    Mode(
        name="deepseek-think-tags",
        about="reasoning in `<think>` before the text",
        answer=lambda call: completion(call, f"<think>\nThe first is longer.\n</think>\n\n{call.verdict}"),
        calls=1,
    ),
    Mode(
        name="deepseek-unopened-think",
        about="reasoning that is closed and never opened",
        answer=lambda call: completion(call, f"The first is longer.\n</think>\n\n{call.verdict}"),
        calls=1,
    ),
    Mode(
        name="deepseek-balance",
        about="402: the balance is used up",
        end=End.GIVEN_UP,
        answer=always(refusal(402, "Insufficient Balance", code="invalid_request_error")),
        says="Insufficient Balance",
        calls=1,
    ),
    Mode(
        name="deepseek-overloaded",
        about="503 once",
        answer=once(refusal(503, "Service is too busy.")),
        calls=2,
    ),
)
