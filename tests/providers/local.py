"""Servers of open models: vLLM and SGLang, Ollama, llama.cpp."""

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


def bare(status: int, message: str) -> Answer:
    """An error as vLLM shapes it: no `error` around it."""
    body = {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": status}
    return Answer(body, status)


def alternating(call: Call) -> Answer:
    """A chat template that wants user and assistant in turn."""
    roles = [message["role"] for message in call.body["messages"]]
    wanted = [("user", "assistant")[place % 2] for place in range(len(roles))]
    return (
        completion(call)
        if roles == wanted
        else bare(400, "Conversation roles must alternate user/assistant/…")
    )


VLLM = (
    Mode(
        "vllm-chat",
        "a chat model, with keys of its own",
        with_(choice={"stop_reason": None}, top={"prompt_logprobs": None, "kv_transfer_params": None}),
    ),
    Mode(
        "vllm-gemma",
        "Gemma: no system role",
        refusing(("system", 400, {"object": "error", "message": "System role not supported", "code": 400})),
        left_out="system role",
        calls=2,
    ),
    Mode(
        "vllm-alternating",
        "a template in which roles must alternate",
        alternating,
        left_out="system role",
        calls=2,
    ),
    Mode(
        "vllm-context",
        "400: longer than the context",
        always(
            bare(
                400, "This model's maximum context length is 2048 tokens. However, you requested 2304 tokens."
            )
        ),
        End.FAILED,
        "maximum context length",
    ),
    Mode(
        "vllm-limit-too-large",
        "400: `max_tokens` beyond the context is no fault of its name",
        always(
            bare(400, "'max_tokens' is too large: 256. This model's maximum context length is 2048 tokens.")
        ),
        End.FAILED,
        "too large",
    ),
    Mode(
        "vllm-end-token",
        "`<|im_end|>` after the verdict",
        lambda call: completion(call, f"{call.verdict}<|im_end|>"),
    ),
    Mode("vllm-null-usage", "usage null", with_(usage=None), lost=True),
    Mode(
        "vllm-no-logprobs",
        "422 of a validator: `logprobs` is extra",
        refusing(
            (
                "logprobs",
                422,
                {
                    "detail": [
                        {
                            "type": "extra_forbidden",
                            "loc": ["body", "logprobs"],
                            "msg": "Extra inputs are not permitted",
                        }
                    ]
                },
            )
        ),
        left_out="logprobs",
        says="no log probabilities",
        settings={"reply": "logprobs"},
        calls=None,
    ),
    Mode(
        "vllm-abort", "finish reason `abort`", says("<thi", finish="abort"), End.FAILED, "broke off", calls=3
    ),
)

OLLAMA = (
    Mode("ollama-chat", "a chat model", with_(top={"system_fingerprint": "fp_ollama"})),
    Mode(
        "ollama-native-counts",
        "tokens under Ollama's own names",
        with_(usage=..., top={"prompt_eval_count": 1_000, "eval_count": 50}),
    ),
    Mode(
        "ollama-runner",
        "500: the runner ended, once",
        once(Answer({"error": "llama runner process has terminated: exit status 2"}, 500)),
        calls=2,
    ),
    Mode(
        "ollama-no-tools",
        "an error that is a mere text",
        always(Answer({"error": "invalid options: num_ctx"}, 400)),
        End.FAILED,
        "num_ctx",
    ),
    Mode(
        "ollama-bold",
        "the verdict in bold: `<rating>**1**</rating>`",
        says("<thinking>The first.</thinking><rating>**1**</rating>"),
    ),
    Mode(
        "ollama-two-verdicts",
        "a verdict that names both: `<rating>**1** or **2**</rating>`",
        says("<rating>**1** or **2**</rating>"),
        End.UNREADABLE,
        "is none of",
        calls=None,
    ),
    Mode(
        "ollama-parts",
        "content as a list of parts",
        lambda call: completion(call, [{"type": "text", "text": call.verdict}]),
    ),
)

LLAMA_CPP = (
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
