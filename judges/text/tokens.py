"""Words, stems and terms of texts.

Words are stemmed (Snowball) in the language of their text, English by default; unspaced scripts are compared
by pairs of characters.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, repeat

from data.corpora.documents import Analyser
from data.declines import fold
from judges.text.languages import ENGLISH, IRREGULAR, NUMBER_WORDS, language
from judges.text.quantities import CACHED_SENTENCES, COUNTING, MARK, plain_figures, with_terms

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Regular expressions do not treat the vowel signs of Indic scripts as letters.
SIGNS = "".join(filter(lambda sign: unicodedata.category(sign)[0] == "M", map(chr, range(0x900, 0xE00))))
LETTER = rf"[^\W_{UNSPACED}]"
WORD = re.compile(
    rf"{MARK}[^{MARK}]++{MARK}|\d[\d.,]*\d|[{UNSPACED}]+|{LETTER}++(?:[{SIGNS}]++{LETTER}*+)*+(?:['’][^\W\d_]+)?"
)
UNSPACED_RUN = re.compile(rf"[{UNSPACED}]+")
DIGIT = re.compile(r"\d")
NUMERAL = re.compile(r"\d[\d.,]*")
POSSESSIVE = re.compile(r"['’]s?$")
MIN_LENGTH = 2
PREFIX = 5
MAX_CACHED_SENTENCE = 1_000


def words(text: str) -> list[str]:
    """Return the folded words and numerals of a text, in order; unspaced scripts as runs."""
    return WORD.findall(fold(plain_figures(text)))


@lru_cache(maxsize=1 << 8)
def read_words(sentence: str) -> tuple[str, str, tuple[str, ...]]:
    """Return a sentence with plain figures, the same folded, and its words."""
    plain = plain_figures(sentence)
    folded = fold(plain)
    return plain, folded, tuple(WORD.findall(folded))


@lru_cache(maxsize=1 << 14)
def stem(word: str, code: str = ENGLISH) -> str:
    """Return the stem of a folded word; English stemming applies to plain Latin letters only."""
    bare = _bare(word)
    stemmer = language(code).stemmer
    if stemmer is None or not bare.isalpha() or (code == ENGLISH and not bare.isascii()):
        return bare
    return str(stemmer.stemWord(bare))


def _bare(word: str) -> str:
    return POSSESSIVE.sub("", word) if "'" in word or "’" in word else word


def is_content(word: str, code: str = ENGLISH) -> bool:
    """Return whether a folded word is not a function word."""
    return word not in language(code).function_words


@lru_cache(maxsize=1 << 14)
def term(word: str, code: str = ENGLISH) -> tuple[str, ...]:
    """Return the terms of a word: none for function words, several for unspaced runs."""
    # Most words are plain letters; this check is faster than the patterns.
    plain = word.isascii() and word.isalpha()
    if word[0] == MARK:
        return tuple(f"#{figure}" for figure in word.strip(MARK).split("|"))
    if not plain and UNSPACED_RUN.fullmatch(word):
        return tuple(word[at : at + 2] for at in range(max(1, len(word) - 1)))
    if not plain and NUMERAL.fullmatch(word):
        return (f"#{word.replace(',', '').rstrip('.')}",)
    value = NUMBER_WORDS.get(word) if code == ENGLISH else None
    if value is not None:
        return (f"#{value:g}",) if value > 1 else ()
    bare = _bare(word)
    if len(bare) < MIN_LENGTH or not is_content(bare, code):
        return ()
    return (stem(bare, code),)


def terms_of(tokens: Iterable[str], code: str = ENGLISH) -> tuple[str, ...]:
    """Return the terms of folded words in order, repeats included."""
    return tuple(chain.from_iterable(map(term, tokens, repeat(code))))


@lru_cache(maxsize=CACHED_SENTENCES)
def terms(text: str, code: str = ENGLISH) -> tuple[str, ...]:
    """Return the terms of a text in order, repeats included."""
    return terms_of(read_words(text)[2] if len(text) <= MAX_CACHED_SENTENCE else words(text), code)


@lru_cache(maxsize=CACHED_SENTENCES)
def measured_terms(text: str, code: str = ENGLISH) -> tuple[str, ...]:
    """Return the terms of a text, with each figure in the base unit of its dimension too."""
    _, folded, tokens = read_words(text)
    if DIGIT.search(folded) or not COUNTING.isdisjoint(tokens):
        tokens = tuple(WORD.findall(fold(with_terms(text, code))))
    return terms_of((IRREGULAR.get(token, token) for token in tokens) if code == ENGLISH else tokens, code)


def is_measured(a_term: str) -> bool:
    """Return whether a term is a figure in a base unit; the plain figure follows it."""
    return a_term[0] == "#" and a_term[-1].isalpha()


def bare_figures(sequence: Sequence[str]) -> set[str]:
    """Return the figures without a unit among terms in order."""
    pairs = zip(("", *sequence), sequence, strict=False)
    return {own for before, own in pairs if own[0] == "#" and not (before and is_measured(before))}


@lru_cache(maxsize=1 << 14)
def related(a_term: str) -> str:
    """Return the root of related words (absorb, absorption): the first five letters, or the whole term."""
    return a_term[:PREFIX] if a_term[:PREFIX].isalpha() and len(a_term) > PREFIX else a_term


TERMS = Analyser("terms-2", words, term)
"""Analyser of corpora; rename it if the terms change."""
