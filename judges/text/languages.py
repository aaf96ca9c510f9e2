"""The languages that can be read without an LLM: Snowball's, and those written without spaces; word lists."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from types import MappingProxyType
from typing import Any

import Stemmer
from stop_words import LANGUAGE_MAPPING, get_stop_words

from data.declines import fold
from data.errors import InputError

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


@lru_cache(maxsize=1 << 15)
def unit_of(word: str) -> tuple[str, float] | None:
    """Return the unit that a word names, singular or plural; symbols in their own case."""
    folded = word.casefold()
    return UNITS.get(word) or (
        UNITS.get(folded) or UNITS.get(folded.removesuffix("s")) if len(word) > len("mW") else None
    )


ENGLISH = "en"
SNOWBALL: Mapping[str, str] = MappingProxyType(LISTS["stemmers"])
"""Snowball's stemmers by ISO 639-1 code; those that the installed version lacks cannot be read."""
UNSPACED = frozenset({"ja", "km", "lo", "my", "th", "zh"})
"""Languages that put no spaces between words: compared by pairs of characters."""
CUT_AT_SPACES = frozenset({"lo", "th"})
"""Languages among them that end sentences by a space and no mark."""


@dataclass(frozen=True, slots=True)
class Language:
    """Rules for reading a language.

    Attributes:
        code: ISO 639-1.
        stemmer: Snowball's, None for scripts without spaces.
        function_words: Folded words that say nothing of their own.
        yes_and_no: How answers begin that affirm or deny, folded; empty where not known.
    """

    code: str
    stemmer: Stemmer.Stemmer | None
    function_words: frozenset[str]
    yes_and_no: tuple[str, ...]


def can_read(code: str) -> bool:
    """Return whether a language can be read; regions (`pt-BR`) make no difference."""
    primary = primary_code(code)
    return primary in UNSPACED or SNOWBALL.get(primary) in Stemmer.algorithms()


def primary_code(code: str) -> str:
    """Return the language of a code such as `pt-BR`."""
    return code.replace("_", "-").split("-")[0].casefold()


def unreadable(code: str) -> str:
    """Return the reason why a language cannot be read, and a remedy."""
    return (
        f"The language {code!r} cannot be read without an LLM: there is no stemmer for it. Judge it with an "
        "LLM judge, or correct `language` in set.toml."
    )


@lru_cache(maxsize=64)
def language(code: str) -> Language:
    """Rules for reading a language."""
    primary = primary_code(code)
    if not can_read(code):
        raise InputError(unreadable(code), advice="Known: " + ", ".join(sorted({*SNOWBALL, *UNSPACED})) + ".")
    words = (
        _english_stop_words() | WEAK_WORDS
        if primary == ENGLISH
        else frozenset(map(fold, get_stop_words(primary) if primary in LANGUAGE_MAPPING else ()))
    )
    stemmer = None if primary in UNSPACED else Stemmer.Stemmer(SNOWBALL[primary])
    return Language(primary, stemmer, words, tuple(map(fold, LISTS["yes_and_no"].get(primary, ()))))


def _english_stop_words() -> frozenset[str]:
    """Return scikit-learn's list from its own module: the whole package takes a second to load."""
    package = find_spec("sklearn")
    words = Path((package and package.origin) or ".").parent / "feature_extraction" / "_stop_words.py"
    if words.is_file():
        return frozenset(run_path(str(words))["ENGLISH_STOP_WORDS"])
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # noqa: PLC0415 - where its files lie elsewhere

    return frozenset(ENGLISH_STOP_WORDS)
