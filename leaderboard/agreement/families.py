"""Families of LLMs by their names: whose answers a judge may favour as its own."""

from __future__ import annotations

import re

FAMILIES = (
    ("gpt", r"gpt|chatgpt|\bo[134]\b|openai"),
    ("claude", r"claude|anthropic"),
    ("gemini", r"gemini|gemma|palm"),
    ("llama", r"llama|meta-"),
    ("mistral", r"mistral|mixtral|ministral"),
    ("qwen", r"qwen|qwq"),
    ("command", r"command[-_ ]?[ar]|cohere|aya"),
    ("deepseek", r"deepseek"),
    ("phi", r"\bphi\b|phi-\d"),
    ("grok", r"grok"),
)
_PATTERNS = tuple((family, re.compile(pattern)) for family, pattern in FAMILIES)


def family_of(name: str) -> str:
    """The family that a model's or system's name speaks of, empty where none is known."""
    plain = name.lower()
    return next((family for family, pattern in _PATTERNS if pattern.search(plain)), "")
