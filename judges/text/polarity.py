"""Negation and direction: the small words that turn a statement round."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from judges.text.folding import fold
from judges.text.lexicon import AXES
from judges.text.tokens import stem

CACHED_WORDS = 1 << 15
NEGATION = re.compile(
    r"\b(?:not(?! only| just| merely| least)|never|neither|nor|none|nobody|nothing|cannot|without|hardly|"
    r"barely|no(?! doubt| matter| wonder)|fail(?:s|ed)? to|unable|impossible|lacks?)\b|n['’]t\b"
)

IDIOMS = frozenset(
    {
        *("at least", "at most", "at best", "at worst", "above all", "no longer", "any longer", "as long"),
        *("before long", "in short", "no more", "no less", "no fewer", "no later", "no earlier"),
    }
)
"""Turns of phrase of two words whose words point in no direction."""


def negations(text: str) -> tuple[int, ...]:
    """Return where a text negates: character offsets in its folded form."""
    return tuple(match.start() for match in NEGATION.finditer(fold(text)))


def is_idiom(before: str, word: str, after: str) -> bool:
    """Whether a folded word points in no direction, for the word before or after it."""
    return word == "unlike" or f"{before} {word}" in IDIOMS or f"{word} {after}" in IDIOMS


@lru_cache(maxsize=1)
def _axes() -> Mapping[str, tuple[tuple[int, int], ...]]:
    """The (axis, pole) pairs of every listed word and of its stem."""
    listed: dict[str, set[tuple[int, int]]] = {}
    for axis, line in enumerate(AXES.strip().splitlines()):
        for pole, side in enumerate(line.split("|")):
            for word in side.split():
                listed.setdefault(word, set()).add((axis, pole))
                listed.setdefault(stem(word), set()).add((axis, pole))
    return {word: tuple(sorted(found)) for word, found in listed.items()}


@lru_cache(maxsize=CACHED_WORDS)
def antonyms(word: str) -> tuple[tuple[int, int], ...]:
    """Return the (axis, pole) pairs of a folded word: opposites share an axis and differ in the pole."""
    return _axes().get(word) or _axes().get(stem(word)) or ()
