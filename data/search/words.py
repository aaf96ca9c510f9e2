"""Texts as terms: what counts as a word, when two words count as the same, and which are left out.

The store's index is made of these terms by us, so that the same search finds the same texts on SQLite and
on PostgreSQL, whose own parsers differ. Whoever changes what `Terms` makes of a text adds a migration that
builds the index anew: entries are removed by the terms that their text has.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import Stemmer

MOST_KNOWN = 200_000
LONGEST_TERM = 40
"""In characters; what is longer is cut, as PostgreSQL takes no term of 2 KiB."""

# Chinese and Japanese put no spaces between words: each character is a word there.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:'+[^\W_{_UNSPACED}]+)*")
_BETWEEN_WORDS = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "'")}
_STOP_WORDS = """
a about above after again against all am an and any are as at be because been before being below between
both but by can did do does doing don't down during each few for from further had has have having he her
here hers herself him himself his how i if in into is it its itself just me more most my myself no nor not
now of off on once only or other our ours ourselves out over own same she should so some such than that the
their theirs them themselves then there these they this those through to too under until up very was we were
what when where which while who whom why will with you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that nearly every English text has: the list of PostgreSQL's configuration `english`, less single
letters that are what is left of a contraction."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a word stands in a text, in characters, and its term."""

    start: int
    end: int
    term: str


class Terms(dict[str, str]):
    """Makes terms of words, and remembers them by word. Not for several threads at once."""

    def __init__(self) -> None:
        super().__init__()
        # Without a cache of its own, which would be a second one.
        self._stem = Stemmer.Stemmer("english", 0).stemWord

    def of(self, text: str) -> list[str]:
        """The terms of a text in its order; words that nearly every text has are left out."""
        if len(self) > MOST_KNOWN:
            self.clear()
        text = composed(text)
        # The same words twice as fast, of texts that are English.
        words = text.translate(_BETWEEN_WORDS).split() if text.isascii() else WORD.findall(text)
        return [term for word in words if (term := self[word])]

    def places(self, text: str) -> Iterator[Place]:
        """Yield each word of a text, which must be `composed`, that has a term."""
        for match in WORD.finditer(text):
            if term := self[match.group()]:
                yield Place(match.start(), match.end(), term)

    def __missing__(self, word: str) -> str:
        """The term of a word, without case, accents and endings; empty for a word that is left out."""
        folded = word.casefold().strip("'")
        if not folded.isascii():
            plain = unicodedata.normalize("NFKD", folded)
            folded = "".join(letter for letter in plain if letter.isalnum() or letter == "'")
        stem = "" if folded in STOP_WORDS else str(self._stem(folded))
        term = self[word] = stem.replace("'", "")[:LONGEST_TERM]
        return term


def composed(text: str) -> str:
    """A text as words are looked for in it: an accent and its letter are one character, apostrophes ASCII.

    Shown in place of the text, it looks the same.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text).replace("\u2019", "'")
