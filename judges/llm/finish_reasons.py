"""Why a reply ended, in OpenAI's words, whatever its provider calls it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

STOP = "stop"
CUT_OFF = "length"
FILTERED = "content_filter"
ERROR = "error"
LONGEST = 60

_WORDS: Mapping[str, tuple[str, ...]] = {
    CUT_OFF: (
        "length",
        "max_tokens",
        "max_output_tokens",
        "max_completion_tokens",
        "max_length",
        "model_length",
        "token_limit",
        "model_context_window_exceeded",
        "limit",
    ),
    FILTERED: (
        "content_filter",
        "content_filtered",
        "contentfilter",
        "refusal",
        "safety",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
        "image_safety",
        "sensitive",
        "guardrail_intervened",
        "moderation",
    ),
    ERROR: ("error", "failed", "abort", "aborted", "insufficient_system_resource", "network_error"),
    STOP: (
        "stop",
        "end_turn",
        "eos",
        "eos_token",
        "stop_sequence",
        "stop_token",
        "completed",
        "complete",
        "finish",
    ),
}
_CANONICAL = {word: ours for ours, words in _WORDS.items() for word in words}
_STRONGEST = (ERROR, FILTERED, CUT_OFF)


def canonical(reason: object) -> str:
    """A provider's word as OpenAI's; one that nobody knows as it came, empty where there is none."""
    return _canonical(reason[:LONGEST]) if isinstance(reason, str) else ""


@lru_cache(maxsize=64)
def _canonical(reason: str) -> str:
    word = reason.strip().lower().replace("-", "_").replace(" ", "_").removeprefix("finish_reason_")
    return _CANONICAL.get(word, reason.strip())


def finish_of(choice: Mapping[str, Any]) -> str:
    """Why a choice ended: its own reason, or its provider's where that says more."""
    own, native = canonical(choice.get("finish_reason")), canonical(choice.get("native_finish_reason"))
    for reason in _STRONGEST:
        if reason in {own, native}:
            return reason
    return own or native
