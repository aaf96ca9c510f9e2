"""OpenRouter: errors of the providers behind it, moderation, routing."""

from __future__ import annotations

from tests.providers.base import Answer, End, Mode, always, completion, refusal, says, with_

UPSTREAM = {"error": {"message": "Provider returned error: upstream overloaded", "code": 502}}
BROKEN = {"error": {"message": "Provider disconnected", "code": 502}}
SERVED = ("cheaper-model-v1", "cheaper-model-v2")

MODES = (
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
        always(
            refusal(
                403,
                "Your chosen model requires moderation and your input was flagged",
                code=403,
                metadata={"reasons": ["violence"], "flagged_input": "…"},
            )
        ),
        End.REFUSED,
        "flagged",
    ),
    Mode(
        "openrouter-native-length",
        "finish reason `stop`, of the provider `MAX_TOKENS`",
        says("<thinking>Both", finish="stop", choice={"native_finish_reason": "MAX_TOKENS"}),
        End.UNREADABLE,
        "cut off at its token limit",
        calls=None,
    ),
    Mode(
        "openrouter-raw",
        "400 whose cause stands in the metadata",
        always(
            refusal(
                400,
                "Provider returned error",
                code=400,
                metadata={"raw": '{"error":{"message":"Unexpected image part"}}', "provider_name": "X"},
            )
        ),
        End.FAILED,
        "Unexpected image part",
    ),
    Mode(
        "openrouter-reasoning",
        "reasoning in a field of its own",
        with_(message={"reasoning": "Let me think.", "reasoning_details": []}),
    ),
    Mode(
        "openrouter-auto",
        "two models in turn behind one name, which are kept",
        lambda call: completion(call, top={"model": SERVED[call.number % 2]}),
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
