"""Folded texts, and the word lists that reading them takes."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

ACCENTS = re.compile("[\u0300-\u036f]")
LISTS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text("utf-8"))
ABBREVIATIONS = frozenset(LISTS["abbreviations"].split())
WEAK_WORDS = frozenset(LISTS["weak"].split())
NUMBER_WORDS: Mapping[str, float] = MappingProxyType(
    {word: float(value) for value, word in enumerate(LISTS["numbers"].split())}
    | {word: 10.0 * place for place, word in enumerate(LISTS["tens"].split(), start=2)}
    | {"dozen": 12.0, "half": 0.5}
)
AXES = tuple(tuple(side.split() for side in line.split("|")) for line in LISTS["axes"].strip().splitlines())
"""Opposites: the words of one pole and those of the other."""
UNITS: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        name: (dimension, factor)
        for dimension, entries in LISTS["units"].items()
        for names, factor in entries.items()
        for name in names.split()
    }
)
"""A dimension and the factor to its base unit, by symbol or name."""


def fold(text: str) -> str:
    """Return the text in one form: compatibility characters, case and accents removed."""
    if text.isascii():
        return text.lower()
    return ACCENTS.sub("", unicodedata.normalize("NFKD", text)).casefold()


@lru_cache(maxsize=1 << 15)
def unit_of(word: str) -> tuple[str, float] | None:
    """The unit that a word names, singular or plural; symbols in their own case."""
    folded = word.casefold()
    return UNITS.get(word) or (
        UNITS.get(folded) or UNITS.get(folded.removesuffix("s")) if len(word) > len("mW") else None
    )
