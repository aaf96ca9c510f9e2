"""Google's Gemini, and Gemma behind it, through the OpenAI-compatible endpoint."""

from __future__ import annotations

from tests.providers.base import Answer, Call, End, Mode, always, completion, good, once, refusing, says

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
    Mode(name="gemini-chat", about="a chat model", end=End.JUDGED, answer=good, calls=1),
    Mode(
        name="gemini-retry-delay",
        about="429 with the wait in the error's details",
        answer=once(
            error(
                429,
                "RESOURCE_EXHAUSTED",
                "Quota exceeded for requests a minute.",
                details=[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.05s"}],
            )
        ),
        calls=2,
    ),
    Mode(
        name="gemini-safety",
        about="finish reason `SAFETY`",
        end=End.REFUSED,
        answer=says("", finish="SAFETY"),
        calls=1,
    ),
    Mode(
        name="gemini-prohibited",
        about="finish reason `content_filter: PROHIBITED_CONTENT` of the provider alone",
        end=End.REFUSED,
        answer=says("", finish=None, choice={"native_finish_reason": "PROHIBITED_CONTENT"}),
        calls=1,
    ),
    Mode(
        name="gemini-thinking",
        about="thinking took all tokens: no content at all",
        end=End.UNREADABLE,
        answer=thought,
        says="cut off at its token limit",
    ),
    Mode(
        name="gemini-unknown-seed",
        about="an error in a list: `seed` is an unknown name",
        answer=refusing(("seed", 400, [{"error": {"code": 400, "message": UNKNOWN_SEED}}])),
        left_out="seed",
        calls=2,
        settings={"seed": 1},
    ),
    Mode(
        name="gemini-gemma",
        about="Gemma: a developer instruction is a 400",
        answer=refusing(("system", 400, [{"error": {"code": 400, "message": NO_INSTRUCTION}}])),
        left_out="system role",
        calls=2,
    ),
    Mode(
        name="gemini-unavailable",
        about="503 `UNAVAILABLE` once",
        answer=once(error(503, "UNAVAILABLE", "The model is overloaded.")),
        calls=2,
    ),
    Mode(
        name="gemini-bad-key",
        about="400 in place of 401 for a wrong key",
        end=End.FAILED,
        answer=always(error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")),
        says="API key not valid",
        calls=1,
    ),
)
