"""llama.cpp's server."""

from __future__ import annotations

from tests.providers.base import Answer, End, Mode, always, once, refusal, refusing, says, with_

MODES = (
    Mode(
        "llama-cpp-chat",
        "a chat model, with timings",
        with_(top={"timings": {"predicted_per_second": 41.5}, "model": "smollm2.gguf"}),
    ),
    Mode(
        "llama-cpp-context",
        "400 `exceed_context_size_error`",
        always(
            refusal(
                400,
                "the request exceeds the available context size, try increasing it",
                code=400,
                type="exceed_context_size_error",
            )
        ),
        End.FAILED,
        "available context size",
    ),
    Mode(
        "llama-cpp-context-500",
        "the same as a 500, of older servers",
        always(refusal(500, "the request exceeds the available context size", type="server_error")),
        End.FAILED,
        "available context size",
    ),
    Mode(
        "llama-cpp-loading",
        "503 while the model is loaded",
        once(refusal(503, "Loading model", type="unavailable_error"), times=2),
        calls=3,
    ),
    Mode(
        "llama-cpp-no-system",
        "500 of the template: no system role",
        refusing(("system", 500, {"error": {"code": 500, "message": "System role not supported"}})),
        left_out="system role",
        calls=2,
    ),
    Mode(
        "llama-cpp-float-usage",
        "whole numbers of tokens written as 1000.0",
        with_(usage={"prompt_tokens": 1000.0, "completion_tokens": 50.0}),
    ),
    Mode(
        "llama-cpp-negative-usage",
        "negative numbers of tokens",
        with_(usage={"prompt_tokens": -1, "completion_tokens": -1}),
        lost=True,
    ),
    Mode(
        "llama-cpp-huge-usage",
        "10³⁰ tokens",
        with_(usage={"prompt_tokens": 10**30, "completion_tokens": 50}),
        lost=True,
    ),
    Mode(
        "llama-cpp-nan-usage",
        "NaN tokens",
        with_(usage={"prompt_tokens": float("nan"), "completion_tokens": 50}),
        lost=True,
    ),
    Mode("llama-cpp-zero-usage", "no token at all, for a text", with_(usage=(0, 0)), lost=True),
    Mode(
        "llama-cpp-echo",
        "a small model that repeats our tag: no verdict in its number (digit scan)",
        says("<answer 2 6b27f293>\nThe answer is 1."),
        settings={"reply": "digit-scan"},
    ),
    Mode(
        "llama-cpp-no-format",
        "`response_format` is a 400 (tasks of metrics)",
        refusing(
            ("response_format", 400, {"error": {"message": "Unsupported parameter: 'response_format'."}})
        ),
    ),
    Mode(
        "llama-cpp-unclosed",
        "a text without a verdict",
        says("Both answers have merits."),
        End.UNREADABLE,
        "ends without a rating",
        calls=None,
    ),
    Mode("llama-cpp-crash", "an empty 200 once", once(Answer(b"")), lost=True, calls=2),
)
