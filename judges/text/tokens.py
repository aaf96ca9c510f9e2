"""Words, stems and terms of texts.

Words are stemmed (Snowball) in the language of their text, English by default; unspaced scripts are compared
by pairs of characters.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, repeat

from data.corpora.documents import Analyser
from data.declines import fold
from judges.text.languages import ENGLISH, NUMBER_WORDS, language

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Regular expressions do not treat the vowel signs of Indic scripts as letters.
SIGNS = "".join(filter(lambda sign: unicodedata.category(sign)[0] == "M", map(chr, range(0x900, 0xE00))))
LETTER = rf"[^\W_{UNSPACED}]"
WORD = re.compile(rf"\d[\d.,]*\d|[{UNSPACED}]+|{LETTER}++(?:[{SIGNS}]++{LETTER}*+)*+(?:['’][^\W\d_]+)?")
UNSPACED_RUN = re.compile(rf"[{UNSPACED}]+")
NUMERAL = re.compile(r"\d[\d.,]*")
POSSESSIVE = re.compile(r"['’]s?$")
MIN_LENGTH = 2
PREFIX = 5
MAX_WHOLE = 100
CACHED_SENTENCES = 1 << 10
MAX_CACHED_SENTENCE = 1_000


PARTS = ("half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
"""Names of fractions, from halves on."""
COUNTS = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
PARTED = (*PARTS[1:], "fourth", "/", "\u2044")
"""Quick check: a folded text without any of these has no fraction."""
MILLIONS = re.compile(r"(?<=\d)(?:\s?M|\s?[Mm]io\.?)(?![\w/])")
FRACTION = re.compile(
    r"(?<![\w./,-])(?:(?P<whole>\d{1,4}) )?(?P<over>[1-9])[/\u2044](?P<under>[2-9]|10)(?![\w/\u2044]|[.,]\d)"
    rf"|\b(?P<count>{'|'.join(COUNTS[2:])})[- ](?P<parts>{'|'.join(PARTS[1:])}|fourth)s\b"
    rf"|\b(?P<one>one-|(?:an?|one) (?=\w+ of\b))(?P<part>{'|'.join(PARTS[1:])}|fourth)\b",
    re.IGNORECASE,
)
VULGAR = re.compile("[\u00bc-\u00be\u2150-\u215e]")


def plain_figures(text: str) -> str:
    """Normalise figures: "5 M" to "5 million", "two-thirds" and "2/3" to 0.667."""
    if not text.isascii():
        text = VULGAR.sub(lambda match: f" {unicodedata.normalize('NFKD', match[0])}", text)
    text = MILLIONS.sub(" million", text) if "M" in text or "mi" in text else text
    folded = text.casefold()
    return FRACTION.sub(_decimal, text) if any(map(folded.__contains__, PARTED)) else text


def _decimal(match: re.Match[str]) -> str:
    if match["over"]:
        over, under = int(match["over"]), int(match["under"])
        value = int(match["whole"] or 0) + over / under
        return f"{value:.3g}" if over < under and value < MAX_WHOLE else match[0]
    name = (match["parts"] or match["part"]).lower().replace("fourth", "quarter")
    over = COUNTS.index(match["count"].lower()) if match["count"] else 1
    return f"{over / (PARTS.index(name) + 2):.3g}"


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


@lru_cache(maxsize=1 << 14)
def related(a_term: str) -> str:
    """Return the root of related words (absorb, absorption): the first five letters, or the whole term."""
    return a_term[:PREFIX] if a_term[:PREFIX].isalpha() and len(a_term) > PREFIX else a_term


TERMS = Analyser("terms-2", words, term)
"""Analyser of corpora; rename it if the terms change."""
