"""Ollama."""

from __future__ import annotations

from tests.providers.base import Answer, End, Mode, always, completion, once, refusal, says, with_

MODES = (
    Mode(
        name="ollama-chat",
        about="a chat model",
        answer=with_(top={"system_fingerprint": "fp_ollama"}),
        calls=1,
    ),
    Mode(
        name="ollama-native-counts",
        about="tokens under Ollama's own names",
        answer=with_(usage=..., top={"prompt_eval_count": 1_000, "eval_count": 50}),
        calls=1,
    ),
    Mode(
        name="ollama-not-pulled",
        about="404: the model was not pulled",
        end=End.GIVEN_UP,
        answer=always(refusal(404, 'model "tiny" not found, try pulling it first', type="api_error")),
        says="try pulling it first",
        calls=1,
    ),
    Mode(
        name="ollama-runner",
        about="500: the runner ended, once",
        answer=once(Answer({"error": "llama runner process has terminated: exit status 2"}, 500)),
        calls=2,
    ),
    Mode(
        name="ollama-no-tools",
        about="an error that is a mere text",
        end=End.FAILED,
        answer=always(Answer({"error": "invalid options: num_ctx"}, 400)),
        says="num_ctx",
        calls=1,
    ),
    Mode(
        name="ollama-bold",
        about="the verdict in bold: `<rating>**1**</rating>`",
        answer=says("<thinking>The first.</thinking><rating>**1**</rating>"),
        calls=1,
    ),
    Mode(
        name="ollama-two-verdicts",
        about="a verdict that names both: `<rating>**1** or **2**</rating>`",
        end=End.UNREADABLE,
        answer=says("<rating>**1** or **2**</rating>"),
        says="is none of",
    ),
    Mode(
        name="ollama-parts",
        about="content as a list of parts",
        answer=lambda call: completion(call, [{"type": "text", "text": call.verdict}]),
        calls=1,
    ),
)
