"""Negation and direction: the small words that turn a statement round."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from judges.text.folding import fold
from judges.text.lexicon import AXES
from judges.text.tokens import stem

NEGATION = re.compile(
    r"\b(?:not(?! only| just| merely| least)|never|neither|nor|none|nobody|nothing|cannot|without|hardly|"
    r"barely|no(?! doubt| matter| wonder)|fail(?:s|ed)? to|unable|impossible|lacks?)\b|n['’]t\b"
)

IDIOMS = re.compile(
    r"\b(?:at (?:least|most|best|worst)|above all|unlike|(?:no|any) longer|as long as|before long|"
    r"more or less|sooner or later|in short|no (?:more|less|fewer|later|earlier) than)\b"
)
"""Turns of phrase whose words point in no direction."""


def negations(text: str) -> tuple[int, ...]:
    """Return where a text negates: character offsets in its folded form."""
    return tuple(match.start() for match in NEGATION.finditer(fold(text)))


def idioms(folded: str) -> tuple[tuple[int, int], ...]:
    """Where a folded text has words that look like directions and are none: their first and last offsets."""
    return tuple(match.span() for match in IDIOMS.finditer(folded))


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


def antonyms(word: str) -> tuple[tuple[int, int], ...]:
    """Return the (axis, pole) pairs of a folded word: opposites share an axis and differ in the pole."""
    return _axes().get(word) or _axes().get(stem(word)) or ()
