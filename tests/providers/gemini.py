"""Google's Gemini, and Gemma behind it, through the OpenAI-compatible endpoint."""

from __future__ import annotations

from tests.providers.base import Answer, Call, End, Mode, always, completion, once, refusing, says

UNKNOWN_SEED = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
NO_INSTRUCTION = "Developer instruction is not enabled for models/gemma-3-27b-it"


def error(code: int, status: str, message: str, **rest: object) -> Answer:
    """An error as Google shapes it: in a list."""
    return Answer([{"error": {"code": code, "message": message, "status": status, **rest}}], code)


def thought(call: Call) -> Answer:
    """Thinking that took all tokens: no content, and none of them in the count of what was written."""
    body = completion(call, "", finish="length", usage=(900, 0))
    del body.body["choices"][0]["message"]["content"]  # type: ignore[index]
    return body


MODES = (
    Mode(
        "gemini-retry-delay",
        "429 with the wait in the error's details",
        once(
            error(
                429,
                "RESOURCE_EXHAUSTED",
                "Quota exceeded for requests a minute.",
                details=[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.05s"}],
            )
        ),
        calls=2,
    ),
    Mode("gemini-safety", "finish reason `SAFETY`", says("", finish="SAFETY"), End.REFUSED),
    Mode(
        "gemini-prohibited",
        "finish reason `content_filter: PROHIBITED_CONTENT` of the provider alone",
        says("", finish=None, choice={"native_finish_reason": "PROHIBITED_CONTENT"}),
        End.REFUSED,
    ),
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
    Mode(
        "gemini-gemma",
        "Gemma: a developer instruction is a 400",
        refusing(("system", 400, [{"error": {"code": 400, "message": NO_INSTRUCTION}}])),
        left_out="system role",
        calls=2,
    ),
    Mode(
        "gemini-bad-key",
        "400 in place of 401 for a wrong key",
        always(error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")),
        End.FAILED,
        "API key not valid",
    ),
)
