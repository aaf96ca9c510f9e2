"""How much of an answer is copied from the reference, by word 5-grams."""

from __future__ import annotations

import re

SHINGLE = 5
"""Words that must follow each other in both texts."""
FEWEST = 8
"""A shorter answer may agree with the reference by chance."""

_WORD = re.compile(r"\w+")
_CITATION = re.compile(r"\[[\d,; ]+\]")


def copied_share(answer: str, reference: str) -> float:
    """The share of an answer's word 5-grams that stand in the reference, 0–1.

    Case, punctuation and citation marks make no difference. An answer of fewer than 8 words, or of
    less than half the reference's length, counts as 0: it may agree by chance, or quote.
    """
    words = _words(answer)
    if len(words) < FEWEST:
        return 0.0
    expected = _words(reference)
    if len(words) * 2 < len(expected) or not expected:
        return 0.0
    # Counting shared words is cheap and rules most answers out before any shingle is made.
    known = set(expected)
    if sum(word in known for word in words) * 2 < len(words):
        return 0.0
    given, kept = _shingles(words), _shingles(expected)
    return len(given & kept) / len(given)


def _words(text: str) -> list[str]:
    return _WORD.findall(_CITATION.sub(" ", text).casefold())


def _shingles(words: list[str]) -> set[tuple[str, ...]]:
    return set(zip(*(words[start:] for start in range(SHINGLE)), strict=False))
