"""vLLM and SGLang."""

from __future__ import annotations

from tests.providers.base import Answer, Call, End, Mode, always, completion, refusing, says, with_


def error(status: int, message: str) -> Answer:
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
        else error(400, "Conversation roles must alternate user/assistant/…")
    )


MODES = (
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
            error(
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
            error(400, "'max_tokens' is too large: 256. This model's maximum context length is 2048 tokens.")
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
