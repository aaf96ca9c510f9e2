"""Cut a text into sentences, list items and clauses, whatever its layout."""

from __future__ import annotations

import re
from functools import lru_cache

from judges.text.lexicon import ABBREVIATIONS

BULLET = re.compile(r"^\s*(?:[-*+•‣◦▪–—]|\(?\d{1,3}[.)]|\(?[a-z][.)]|#{1,6}|>|\|)\s+")
RULE = re.compile(r"^[\s|:*_=\-#]*$")
EMPHASIS = re.compile(r"(\*\*|__|`)(?=\S)(.+?)(?<=\S)\1")
BOUNDARY = re.compile(
    r"(?:[.!?…]+[\"'”’»)\]]*(?:\s?\[\d{1,3}(?:,\s?\d{1,3})*\])*(?=\s|$))|[。！？｡।؟]+[”’»」』)\]]*"
)
CLAUSE = re.compile(r"\s*;\s+|\s+[–—]\s+|:\s+(?=\S+\s+\S+\s+\S+)")
DOTTED = re.compile(r"(?:^|[\s(\"“])(?:[^\W\d_]\.){2,}$")
INITIAL = re.compile(r"(?:^|[\s(\"“.])[A-Z]\.$")
LAST_WORD = re.compile(r"([^\W\d_]+)\.$")
KNOWN_ABBREVIATIONS = frozenset(ABBREVIATIONS.split())
SHORTEST_CLAUSE = 3
CACHED_TEXTS = 1 << 11
LONGEST_CACHED = 20_000


def split_sentences(text: str) -> tuple[str, ...]:
    """Split a text into sentences and list items, in order, without bullets and emphasis marks.

    A full stop after an abbreviation, an initial or inside a number ends nothing; a line break ends a
    sentence where a list item, a heading or a blank line follows. Scripts without spaces between
    sentences are cut at their own full stops.
    """
    return _cached(text) if len(text) <= LONGEST_CACHED else _sentences(text)


@lru_cache(maxsize=CACHED_TEXTS)
def _cached(text: str) -> tuple[str, ...]:
    """The sentences of a text of usual length, kept because each metric step reads the same passages anew."""
    return _sentences(text)


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(sentence for block in _blocks(text) for sentence in _cut(block))


def split_clauses(sentence: str) -> tuple[str, ...]:
    """Split a sentence at semicolons, dashes and colons, leaving no clause under three words."""
    clauses: list[str] = []
    for part in CLAUSE.split(sentence):
        if clauses and len(part.split()) < SHORTEST_CLAUSE:
            clauses[-1] = f"{clauses[-1]} {part}"
        elif part.strip():
            clauses.append(part.strip())
    return tuple(clauses)


def _blocks(text: str) -> list[str]:
    """Join wrapped lines; start anew at list items, headings and blank lines."""
    blocks: list[str] = []
    joinable = False
    for line in text.replace("\r\n", "\n").split("\n"):
        if RULE.match(line):
            joinable = False
            continue
        bullet = BULLET.match(line)
        body = EMPHASIS.sub(r"\2", line[bullet.end() :] if bullet else line).strip()
        if joinable and bullet is None and _continues(body):
            blocks[-1] = f"{blocks[-1]} {body}"
        elif body:
            blocks.append(body)
        joinable = True
    return blocks


def _continues(line: str) -> bool:
    """Whether a line reads on from the one before it."""
    return line[:1].islower() or line[:1] in "([,;"


def _cut(block: str) -> list[str]:
    """Cut one block at its sentence ends."""
    sentences: list[str] = []
    start = 0
    for mark in BOUNDARY.finditer(block):
        if _ends_sentence(block[start : mark.end()], block[mark.end() :].lstrip()[:1]):
            sentences.append(block[start : mark.end()].strip())
            start = mark.end()
    sentences.append(block[start:].strip())
    return [sentence for sentence in sentences if any(character.isalnum() for character in sentence)]


def _ends_sentence(before: str, following: str) -> bool:
    """Whether the mark that `before` ends with closes a sentence, given the next character."""
    if not before.endswith("."):
        return not following.islower()
    if following.islower() or DOTTED.search(before):
        return False
    if INITIAL.search(before):
        return not _reads_as_initial(before)
    word = LAST_WORD.search(before)
    return not (word and word.group(1).casefold() in KNOWN_ABBREVIATIONS) or not following


def _reads_as_initial(before: str) -> bool:
    """Whether the last letter belongs to a name: it opens the text or follows a capital."""
    words = before.split()
    return len(words) == 1 or words[-2][:1].isupper()
