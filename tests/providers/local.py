"""Servers of open models: vLLM and SGLang, Ollama, llama.cpp."""

from __future__ import annotations

from tests.providers.base import Answer, End, Mode, always, completion, once, refusal, refusing, says, with_

EXTRA = {"type": "extra_forbidden", "loc": ["body", "logprobs"], "msg": "Extra inputs are not permitted"}
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
    Mode("vllm-null-usage", "usage null", with_(usage=None), lost=True),
    Mode(
        "vllm-no-logprobs",
        "422 of a validator: `logprobs` is extra",
        refusing(("logprobs", 422, {"detail": [EXTRA]})),
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
        "ollama-no-tools",
        "an error that is a mere text",
        always(Answer({"error": "invalid options: num_ctx"}, 400)),
        End.FAILED,
        "num_ctx",
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
        "llama-cpp-context-500",
        "the same as a 500, of older servers",
        always(refusal(500, "the request exceeds the available context size", type="server_error")),
        End.FAILED,
        "available context size",
    ),
    Mode(
        "llama-cpp-negative-usage",
        "negative numbers of tokens",
        with_(usage={"prompt_tokens": -1, "completion_tokens": -1}),
        lost=True,
    ),
    Mode(
        "llama-cpp-nan-usage",
        "NaN tokens",
        with_(usage={"prompt_tokens": float("nan"), "completion_tokens": 50}),
        lost=True,
    ),
    Mode("llama-cpp-zero-usage", "no token at all, for a text", with_(usage=(0, 0)), lost=True),
    Mode("llama-cpp-crash", "an empty 200 once", once(Answer(b"")), lost=True, calls=2),
)
