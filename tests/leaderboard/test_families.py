"""Families of models, told by names."""

from __future__ import annotations

import pytest

from leaderboard.families import families, family_of


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4o-mini", "gpt"),
        ("openai/o3-mini", "gpt"),
        ("ChatGPT", "gpt"),
        ("anthropic.claude-3-5-sonnet", "claude"),
        ("google/gemma-2-9b-it", "gemini"),
        ("meta-llama/Llama-3.1-8B", "llama"),
        ("mixtral-8x22b", "mistral"),
        ("qwen1.5-110b-chat", "qwen"),
        ("command-r", "command"),
        ("phi-3-medium", "phi"),
        ("phi3", "phi"),
        ("deepseek-v3", "deepseek"),
        ("my-gpt-rag", "gpt"),
        ("none (written by hand)", ""),
        ("philosopher", ""),
        ("commander", ""),
        ("metadata search", ""),
        ("", ""),
    ],
)
def test_a_family_is_told_by_a_word_of_the_name(name: str, family: str) -> None:
    """Words of the table at the beginning of a word count; other names are of no known family."""
    assert family_of(name) == family


def test_every_row_of_the_table_fits_itself() -> None:
    """No row of the table is hidden by one before it."""
    for family in families():
        for word in (*family.begins, *family.words):
            assert family_of(f"the {word}") == family.name
