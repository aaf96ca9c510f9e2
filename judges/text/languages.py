"""Languages supported without an LLM (Snowball's and unspaced scripts) and their word lists."""

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
IRREGULAR: Mapping[str, str] = MappingProxyType(
    {form: verb for verb, *forms in map(str.split, LISTS["irregular"].strip().splitlines()) for form in forms}
)
AXES = tuple(tuple(side.split() for side in line.split("|")) for line in LISTS["axes"].strip().splitlines())
"""Opposites: words of both poles of each axis."""
UNITS: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        name: (dimension, factor)
        for dimension, entries in LISTS["units"].items()
        for names, factor in entries.items()
        for name in names.split()
    }
)
"""Dimension and factor to its base unit, by symbol or name."""


@lru_cache(maxsize=1 << 15)
def unit_of(word: str) -> tuple[str, float] | None:
    """Return the unit of a word, singular or plural; symbols are case-sensitive."""
    folded = word.casefold()
    return UNITS.get(word) or (
        UNITS.get(folded) or UNITS.get(folded.removesuffix("s")) if len(word) > len("mW") else None
    )


ENGLISH = "en"
SNOWBALL: Mapping[str, str] = MappingProxyType(LISTS["stemmers"])
"""Snowball's stemmers by ISO 639-1 code; the installed version may lack some."""
DECIMAL_POINT = frozenset({"en", "ga", "hi", "ja", "ne", "ta", "th", "yi", "zh"})
"""Languages with a decimal point; the others have a decimal comma."""
UNSPACED = frozenset({"ja", "km", "lo", "my", "th", "zh"})
"""Languages without spaces between words, compared by pairs of characters."""
CUT_AT_SPACES = frozenset({"lo", "th"})
"""Languages that end sentences with a space instead of a mark."""


@dataclass(frozen=True, slots=True)
class Language:
    """Rules for reading a language."""

    code: str
    stemmer: Stemmer.Stemmer | None
    function_words: frozenset[str]
    yes_and_no: tuple[str, ...]


def can_read(code: str) -> bool:
    """Return whether a language is supported; regions (`pt-BR`) are ignored."""
    primary = primary_code(code)
    return primary in UNSPACED or SNOWBALL.get(primary) in Stemmer.algorithms()


def primary_code(code: str) -> str:
    """Return the language code without its region."""
    return code.replace("_", "-").split("-")[0].casefold()


def unreadable(code: str) -> str:
    """Return the error message for an unsupported language, with advice."""
    return (
        f"The language {code!r} is not supported without an LLM: it has no stemmer. Use an "
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
    """Load scikit-learn's list from its own file, because the whole package takes a second to import."""
    package = find_spec("sklearn")
    words = Path((package and package.origin) or ".").parent / "feature_extraction" / "_stop_words.py"
    if words.is_file():
        return frozenset(run_path(str(words))["ENGLISH_STOP_WORDS"])
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # noqa: PLC0415 - fallback

    return frozenset(ENGLISH_STOP_WORDS)
