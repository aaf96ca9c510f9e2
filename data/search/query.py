"""What a reader searches for: words and phrases, read from any text without a syntax that could be wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

from data.errors import InputError
from data.search.words import Terms

MOST_PHRASES = 20
_PARTS = re.compile(r'"([^"]*)"|([^\s"]+)')
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u00ab": '"', "\u00bb": '"'})
WANTED = 'Write other words, or a "phrase in quotation marks".'


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """Phrases that a text must all have: runs of terms, most of one term.

    Terms have letters and digits alone, so that no database can take them for anything else.
    """

    phrases: tuple[tuple[str, ...], ...]

    @classmethod
    def parse(cls, text: str) -> SearchQuery:
        """Read words, and phrases in quotation marks; a word such as `self-employed` is a phrase too.

        Raises:
            InputError: No word is left that can be searched for, or there are too many.
        """
        terms = Terms()
        found: dict[tuple[str, ...], None] = {}
        for quoted, word in _PARTS.findall(text.translate(_QUOTES)):
            if run := tuple(terms.of(quoted or word)):
                found[run] = None
        if not found:
            message = "There is no word to search for: words that nearly every text has do not count."
            raise InputError(message, advice=WANTED)
        if len(found) > MOST_PHRASES:
            raise InputError(f"At most {MOST_PHRASES} words are searched for at once.", advice=WANTED)
        return cls(tuple(found))

    @property
    def for_sqlite(self) -> str:
        """The query in the syntax of FTS5."""
        return " AND ".join(f'"{" ".join(phrase)}"' for phrase in self.phrases)

    @property
    def for_postgres(self) -> str:
        """The query as PostgreSQL writes a `tsquery`."""
        return " & ".join(f"({' <-> '.join(map(_quoted, phrase))})" for phrase in self.phrases)

    def starts(self, terms: list[str]) -> list[tuple[int, tuple[str, ...]]]:
        """Where phrases begin in a text's terms, in order, and which."""
        return [
            (at, phrase)
            for at in range(len(terms))
            for phrase in self.phrases
            if tuple(terms[at : at + len(phrase)]) == phrase
        ]


def _quoted(term: str) -> str:
    return f"'{term}'"
