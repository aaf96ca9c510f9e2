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
        name="vllm-chat",
        about="a chat model, with keys of its own",
        answer=with_(choice={"stop_reason": None}, top={"prompt_logprobs": None, "kv_transfer_params": None}),
        calls=1,
    ),
    Mode(
        name="vllm-gemma",
        about="Gemma: no system role",
        answer=refusing(
            ("system", 400, {"object": "error", "message": "System role not supported", "code": 400})
        ),
        left_out="system role",
        calls=2,
    ),
    Mode(
        name="vllm-alternating",
        about="a template in which roles must alternate",
        answer=alternating,
        left_out="system role",
        calls=2,
    ),
    Mode(
        name="vllm-context",
        about="400: longer than the context",
        end=End.FAILED,
        answer=always(
            error(
                400, "This model's maximum context length is 2048 tokens. However, you requested 2304 tokens."
            )
        ),
        says="maximum context length",
        calls=1,
    ),
    Mode(
        name="vllm-limit-too-large",
        about="400: `max_tokens` beyond the context is no fault of its name",
        end=End.FAILED,
        answer=always(
            error(400, "'max_tokens' is too large: 256. This model's maximum context length is 2048 tokens.")
        ),
        says="too large",
        calls=1,
    ),
    Mode(
        name="vllm-end-token",
        about="`<|im_end|>` after the verdict",
        answer=lambda call: completion(call, f"{call.verdict}<|im_end|>"),
        calls=1,
    ),
    Mode(
        name="vllm-llama-end-token",
        about="`<|eot_id|>` and blanks after the verdict",
        answer=lambda call: completion(call, f"{call.verdict}<|eot_id|>\n "),
        calls=1,
    ),
    Mode(
        name="vllm-null-usage",
        about="usage null",
        answer=with_(usage=None),
        lost=True,
        calls=1,
    ),
    Mode(
        name="vllm-no-logprobs",
        about="422 of a validator: `logprobs` is extra",
        answer=refusing(
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
    ),
    Mode(
        name="vllm-abort",
        about="finish reason `abort`",
        end=End.FAILED,
        answer=says("<thi", finish="abort"),
        says="broke off",
        calls=3,
    ),
)
