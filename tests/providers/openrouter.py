"""OpenRouter: errors of the providers behind it, moderation, routing."""

from __future__ import annotations

from tests.providers.base import Answer, End, Mode, always, completion, once, refusal, says, with_

UPSTREAM = {"error": {"message": "Provider returned error: upstream overloaded", "code": 502}}
BROKEN = {"error": {"message": "Provider disconnected", "code": 502}}
SERVED = ("cheaper-model-v1", "cheaper-model-v2")

MODES = (
    Mode(
        name="openrouter-error-in-200-once",
        about="an error in a 200 once",
        answer=once(Answer(UPSTREAM)),
        calls=2,
    ),
    Mode(
        name="openrouter-error-in-200",
        about="an error in a 200 always: nothing is lost of a cap",
        end=End.FAILED,
        answer=always(Answer(UPSTREAM)),
        says="upstream overloaded",
        calls=3,
    ),
    Mode(
        name="openrouter-credits",
        about="402 in a 200: nothing is left to pay with",
        end=End.GIVEN_UP,
        answer=always(Answer({"error": {"message": "Insufficient credits", "code": 402}})),
        says="Insufficient credits",
        calls=1,
    ),
    Mode(
        name="openrouter-error-in-choice-once",
        about="half a text with an error in the choice, once",
        answer=lambda call: (
            completion(call, "<rating>1</rat", finish="error", choice=BROKEN)
            if call.number == 1
            else completion(call)
        ),
        calls=2,
    ),
    Mode(
        name="openrouter-error-in-choice",
        about="half a text with an error in the choice, always",
        end=End.FAILED,
        answer=says("<rating>1</rating>", finish="error", choice=BROKEN),
        says="Provider disconnected",
        calls=3,
    ),
    Mode(
        name="openrouter-finish-error",
        about="finish reason `error` alone",
        end=End.FAILED,
        answer=says("<rating>1</rating>", finish="error"),
        says="broke off",
        calls=3,
    ),
    Mode(
        name="openrouter-moderation",
        about="403: the input was flagged",
        end=End.REFUSED,
        answer=always(
            refusal(
                403,
                "Your chosen model requires moderation and your input was flagged",
                code=403,
                metadata={"reasons": ["violence"], "flagged_input": "…"},
            )
        ),
        says="flagged",
        calls=1,
    ),
    Mode(
        name="openrouter-native-length",
        about="finish reason `stop`, of the provider `MAX_TOKENS`",
        end=End.UNREADABLE,
        answer=says("<thinking>Both", finish="stop", choice={"native_finish_reason": "MAX_TOKENS"}),
        says="cut off at its token limit",
    ),
    Mode(
        name="openrouter-raw",
        about="400 whose cause stands in the metadata",
        end=End.FAILED,
        answer=always(
            refusal(
                400,
                "Provider returned error",
                code=400,
                metadata={"raw": '{"error":{"message":"Unexpected image part"}}', "provider_name": "X"},
            )
        ),
        says="Unexpected image part",
        calls=1,
    ),
    Mode(
        name="openrouter-reasoning",
        about="reasoning in a field of its own",
        answer=with_(message={"reasoning": "Let me think.", "reasoning_details": []}),
        calls=1,
    ),
    Mode(
        name="openrouter-auto",
        about="two models in turn behind one name, which are kept",
        answer=lambda call: completion(call, top={"model": SERVED[call.number % 2]}),
        calls=1,
    ),
    Mode(
        name="openrouter-keep-alive",
        about="blanks before the JSON",
        answer=lambda call: Answer(b"\n         \n" + completion(call).raw),
        calls=1,
    ),
    Mode(
        name="openrouter-no-usage",
        about="no usage: the most that a call may cost counts as lost",
        answer=with_(usage=...),
        lost=True,
        calls=1,
    ),
)
