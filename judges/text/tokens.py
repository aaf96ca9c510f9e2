"""Words, stems and terms: what two texts are compared by.

English is stemmed (Snowball); text in scripts without spaces is compared by pairs of characters, and
any other language by its folded words, so that no language is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import snowballstemmer
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from judges.text.lexicon import WEAK_WORDS
from judges.text.numbers import number_word

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"\d[\d.,]*\d|[{UNSPACED}]+|[^\W_{UNSPACED}]+(?:['’][^\W\d_]+)?")
UNSPACED_RUN = re.compile(rf"[{UNSPACED}]+")
ACCENTS = re.compile("[\u0300-\u036f]")
NUMERAL = re.compile(r"\d[\d.,]*")
POSSESSIVE = re.compile(r"['’]s?$")
FUNCTION_WORDS = frozenset(ENGLISH_STOP_WORDS) | frozenset(WEAK_WORDS.split())
BRIEFEST = 2
PREFIX = 5


def fold(text: str) -> str:
    """Return the text in one form: compatibility characters, case and accents removed."""
    return ACCENTS.sub("", unicodedata.normalize("NFKD", text)).casefold()


def words(text: str) -> list[str]:
    """Return the folded words and numerals of a text, in order; unspaced scripts as runs."""
    return WORD.findall(fold(text))


@lru_cache(maxsize=1)
def _stemmer() -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of one folded word; words that are not plain Latin letters stay as they are."""
    bare = POSSESSIVE.sub("", word)
    return str(_stemmer().stemWord(bare)) if bare.isascii() and bare.isalpha() else bare


def is_content(word: str) -> bool:
    """Whether a folded word says something of its own."""
    return word not in FUNCTION_WORDS


@lru_cache(maxsize=1 << 16)
def term(word: str) -> tuple[str, ...]:
    """Return the terms that one word stands for: none for function words, several for unspaced runs."""
    if UNSPACED_RUN.fullmatch(word):
        return tuple(word[at : at + 2] for at in range(max(1, len(word) - 1)))
    if NUMERAL.fullmatch(word):
        return (f"#{word.replace(',', '').rstrip('.')}",)
    value = number_word(word)
    if value is not None:
        return (f"#{value:g}",) if value > 1 else ()
    bare = POSSESSIVE.sub("", word)
    if len(bare) < BRIEFEST or not is_content(bare):
        return ()
    return (stem(bare),)


def iterate_terms(text: str) -> Iterator[str]:
    """Yield the terms of a text in order, repeats included."""
    for word in words(text):
        yield from term(word)


def terms(text: str) -> tuple[str, ...]:
    """Return the terms of a text in order, repeats included."""
    return tuple(iterate_terms(text))


@lru_cache(maxsize=1 << 16)
def kin(a_term: str) -> str:
    """Return what related words share: the first five letters of a stem, else the term itself.

    It brings together what stemming leaves apart (absorb, absorption).
    """
    return a_term[:PREFIX] if a_term[:PREFIX].isalpha() and len(a_term) > PREFIX else a_term
