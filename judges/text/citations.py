"""Citations in brackets behind the sentences of a text: "Eggs keep a week [1, 3]." cites 1 and 3.

Source: Han et al. (2024), RAG-QA Arena, section 3.1 and table 12: writers name the documents of each sentence
as [1], [2] or [3, 4] at its end, before or after the full stop.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from judges.text.sentences import split_sentences

_GROUP = r"\[[^\S\n]*+\d{1,4}(?:[^\S\n]*+[,;][^\S\n]*+\d{1,4})*+[^\S\n]*+\]"
_CITED = re.compile(_GROUP)
_NUMBER = re.compile(r"\d+")
_BEHIND = re.compile(rf"([.!?][\"')\u201d\u2019]*+)[^\S\n]*+({_GROUP}(?:[^\S\n]*+{_GROUP})*+)")
_SPACE_BEFORE = re.compile(r"(?<![^\S\n])[^\S\n]++(?=[.,;:!?])")
_SPACES = re.compile(r"[^\S\n]{2,}+")


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence without its brackets, and the numbers that it cites, each once, in their order."""

    text: str
    numbers: tuple[int, ...]


def without_citations(text: str) -> str:
    """The text without citations, and without the space that they leave."""
    bare = _SPACE_BEFORE.sub("", _CITED.sub(" ", text)) if _CITED.search(text) else text
    return "\n".join(_SPACES.sub(" ", line).strip() for line in bare.strip().splitlines())


def cited_sentences(text: str) -> tuple[CitedSentence, ...]:
    """The sentences of a text with what each cites; brackets behind a full stop belong to what is before."""
    moved = _BEHIND.sub(lambda match: f" {match[2]}{match[1]} ", text)
    found = []
    for sentence in split_sentences(moved):
        numbers = [int(number) for group in _CITED.findall(sentence) for number in _NUMBER.findall(group)]
        bare = without_citations(sentence)
        if any(character.isalnum() for character in bare):
            found.append(CitedSentence(bare, tuple(dict.fromkeys(numbers))))
    return tuple(found)
