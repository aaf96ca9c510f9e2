"""llama.cpp's server."""

from __future__ import annotations

from tests.providers.base import Answer, End, Mode, always, once, refusal, refusing, says, with_

MODES = (
    Mode(
        name="llama-cpp-chat",
        about="a chat model, with timings",
        answer=with_(top={"timings": {"predicted_per_second": 41.5}, "model": "smollm2.gguf"}),
        calls=1,
    ),
    Mode(
        name="llama-cpp-context",
        about="400 `exceed_context_size_error`",
        end=End.FAILED,
        answer=always(
            refusal(
                400,
                "the request exceeds the available context size, try increasing it",
                code=400,
                type="exceed_context_size_error",
            )
        ),
        says="available context size",
        calls=1,
    ),
    Mode(
        name="llama-cpp-context-500",
        about="the same as a 500, of older servers",
        end=End.FAILED,
        answer=always(refusal(500, "the request exceeds the available context size", type="server_error")),
        says="available context size",
        calls=1,
    ),
    Mode(
        name="llama-cpp-loading",
        about="503 while the model is loaded",
        answer=once(refusal(503, "Loading model", type="unavailable_error"), times=2),
        calls=3,
    ),
    Mode(
        name="llama-cpp-no-system",
        about="500 of the template: no system role",
        answer=refusing(("system", 500, {"error": {"code": 500, "message": "System role not supported"}})),
        left_out="system role",
        calls=2,
    ),
    Mode(
        name="llama-cpp-float-usage",
        about="whole numbers of tokens written as 1000.0",
        answer=with_(usage={"prompt_tokens": 1000.0, "completion_tokens": 50.0}),
        calls=1,
    ),
    Mode(
        name="llama-cpp-negative-usage",
        about="negative numbers of tokens",
        answer=with_(usage={"prompt_tokens": -1, "completion_tokens": -1}),
        lost=True,
        calls=1,
    ),
    Mode(
        name="llama-cpp-huge-usage",
        about="10³⁰ tokens",
        answer=with_(usage={"prompt_tokens": 10**30, "completion_tokens": 50}),
        lost=True,
        calls=1,
    ),
    Mode(
        name="llama-cpp-nan-usage",
        about="NaN tokens",
        answer=with_(usage={"prompt_tokens": float("nan"), "completion_tokens": 50}),
        lost=True,
        calls=1,
    ),
    Mode(
        name="llama-cpp-zero-usage",
        about="no token at all, for a text",
        answer=with_(usage=(0, 0)),
        lost=True,
        calls=1,
    ),
    Mode(
        name="llama-cpp-echo",
        about="a small model that repeats our tag: no verdict in its number (digit scan)",
        answer=says("<answer 2 6b27f293>\nThe answer is 1."),
        calls=1,
        settings={"reply": "digit-scan"},
    ),
    Mode(
        name="llama-cpp-no-format",
        about="`response_format` is a 400 (tasks of metrics)",
        answer=refusing(
            ("response_format", 400, {"error": {"message": "Unsupported parameter: 'response_format'."}})
        ),
        calls=1,
    ),
    Mode(
        name="llama-cpp-unclosed",
        about="a text without a verdict",
        end=End.UNREADABLE,
        answer=says("Both answers have merits."),
        says="ends without a rating",
    ),
    Mode(
        name="llama-cpp-crash",
        about="an empty 200 once",
        answer=once(Answer(b"")),
        lost=True,
        calls=2,
    ),
)
