"""Ollama."""

from __future__ import annotations

from tests.providers.base import Answer, End, Mode, always, completion, once, says, with_

MODES = (
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
