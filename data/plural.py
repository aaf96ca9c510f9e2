"""Counts in sentences, with their nouns in the right number."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 row`, `2 rows`, `1 query`, `2 queries`; `plural` is for nouns that do not take an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def are(count: int) -> str:
    """The verb behind a count."""
    return "is" if count == 1 else "are"


def have(count: int) -> str:
    """The verb behind a count."""
    return "has" if count == 1 else "have"
