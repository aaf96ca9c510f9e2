"""Cut a text into sentences, list items and clauses, whatever its layout, and tell what each cites."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from data.citations import Citation, citations, removed
from judges.text.languages import ABBREVIATIONS

BULLET = re.compile(r"^\s*(?:[-*+•‣◦▪–—]|\(?\d{1,3}[.)]|\(?[a-z][.)]|#{1,6}|>|\|)\s+")
RULE = re.compile(r"^[\s|:*_=\-#]*$")
EMPHASIS = re.compile(r"(\*\*|__|`)(?=\S)")
EMPHASIS_ENDS = {mark: re.compile(rf"(?<=\S)(?={re.escape(mark)})") for mark in ("**", "__", "`")}
BOUNDARY = re.compile(
    r"(?:(?<![.!?…])[.!?…]++[\"'”’»)\]]*+"
    r"(?:\s?(?:\[\^?\d[^\[\]\n]{0,40}\]|\u3010[^\u3010\u3011\n]{1,99}\u3011))*(?=\s|$))"
    r"|[。！？｡।؟។။։]+[”’»」』)\]]*"
)
CLAUSE = re.compile(r"(?:(?<!\s)\s++)?;\s++|(?<!\s)\s++[–—]\s++|:\s++(?=\S++\s++\S++\s++\S)")
TOKEN = re.compile(r"\S+")
NO_SPACE = re.compile(r"\S")
# These three read the last token before a full stop, from its first character.
DOTTED = re.compile(r"(?:^|[(\"“])(?:[^\W\d_]\.){2,}+$")
INITIAL = re.compile(r"(?:^|[(\"“.])[A-Z]\.$")
ANOTHER_INITIAL = re.compile(r"(?<![^\W_])[A-Z]\.\s{1,2}[A-Z]\.(?=\s)")
"""Two initials in a row, from the first: they open no sentence between them."""
STARTER = re.compile(
    r"(?:He|She|It|They|We|You|His|Her|Its|Their|Our|The|This|That|These|Those|A|An|In|On|At|But|There|However"
    r"|When|After|Since|Then|Also)\b"
)
"""Words that open a sentence and no name: behind "the U.S." they begin another one."""
JOINING = frozenset({"and", "by", "with", "&"})
"""Words before an initial that opens a name: "Merkel and B. Obama". So do years and commas."""
LAST_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]++)\.$")
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
    """Return a text's sentences, cached because each metric step reads the same passages anew."""
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
    blocks: list[list[str]] = []
    joinable = False
    for line in text.replace("\r\n", "\n").split("\n"):
        if RULE.match(line):
            joinable = False
            continue
        bullet = BULLET.match(line)
        body = _without_emphasis(line[bullet.end() :] if bullet else line).strip()
        if blocks and joinable and bullet is None and _continues(body):
            blocks[-1].append(body)
        elif body:
            blocks.append([body])
        joinable = True
    return [" ".join(lines) for lines in blocks]


def _without_emphasis(line: str) -> str:
    """Return a line without the marks around words that are set off; a mark that nothing closes stays."""
    if not EMPHASIS.search(line):
        return line
    ends = {mark: [end.start() for end in pattern.finditer(line)] for mark, pattern in EMPHASIS_ENDS.items()}
    pieces: list[str] = []
    copied_to = at = 0
    while opened := EMPHASIS.search(line, at):
        mark = opened[1]
        place = bisect_left(ends[mark], opened.end() + 1)
        if place == len(ends[mark]):
            at = opened.start() + 1
            continue
        closed = ends[mark][place]
        pieces += [line[copied_to : opened.start()], line[opened.end() : closed]]
        copied_to = at = closed + len(mark)
    return "".join([*pieces, line[copied_to:]])


def _continues(line: str) -> bool:
    """Return whether a line reads on from the one before it."""
    return line[:1].islower() or line[:1] in "([,;"


def _cut(block: str) -> list[str]:
    """Cut one block at its sentence ends."""
    sentences: list[str] = []
    tokens = [token.span() for token in TOKEN.finditer(block)]
    start = number = 0
    for mark in BOUNDARY.finditer(block):
        end = mark.end()
        match = NO_SPACE.search(block, end)
        following = match[0] if match else ""
        while tokens[number][1] < end:
            number += 1
        if (
            following.islower()
            or ANOTHER_INITIAL.match(block, end - 2)
            or (
                block[end - 1] == "."
                and not _closes(
                    block, start, tokens[max(0, number - 1) : number + 1], match and match.start()
                )
            )
        ):
            continue
        sentences.append(block[start:end].strip())
        start = end
    sentences.append(block[start:].strip())
    return [sentence for sentence in sentences if any(character.isalnum() for character in sentence)]


def _closes(block: str, start: int, tokens: Sequence[tuple[int, int]], following: int | None) -> bool:
    """Return whether the full stop at the end of the last token closes the sentence that begins at `start`.

    The text goes on at `following`, if it does.
    """
    *earlier, last = (block[max(start, first) : end] for first, end in tokens)
    if DOTTED.search(last):
        return following is not None and last[-2].isupper() and STARTER.match(block, following) is not None
    if INITIAL.search(last):
        # The last letter belongs to a name where it opens the text, or follows a capital or what joins.
        if not any(earlier) or earlier[0][:1].isupper():
            return False
        return (
            not (earlier[0] in JOINING or earlier[0].endswith(",") or earlier[0].isdecimal())
            or following is None
            or not block[following].isupper()
            or STARTER.match(block, following) is not None
        )
    word = LAST_WORD.search(last)
    return not (word and word.group(1).casefold() in ABBREVIATIONS) or following is None


_FIRST_MARK = 0x100000
"""Private characters stand for citations while a text is cut; texts that hold some lose those."""
_PRIVATE = re.compile("[\U00100000-\U0010fffd]")
_BEHIND = re.compile(
    "([.!?\u3002\uff01\uff1f\u0964][\"')\u201d\u2019\u300d]*+)[^\\S\n]*+([\U00100000-\U0010fffd](?:[^\\S\n]*+[\U00100000-\U0010fffd])*+)"
)


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence without its citations, and the places of the contexts that it cites, each once, in order."""

    text: str
    numbers: tuple[int, ...]


def without_citations(text: str, ids: Sequence[str] = ()) -> str:
    """Remove a text's citations and the space that they leave; `ids` are those of its contexts."""
    return removed(text, citations(text, ids))


def cited_sentences(text: str, ids: Sequence[str] = ()) -> tuple[CitedSentence, ...]:
    """Return a text's sentences with their citations; a citation behind a full stop belongs before it."""
    plain = _PRIVATE.sub("\ufffd", text)
    found = citations(plain, ids)[: 0x10FFFD - _FIRST_MARK]
    marked = _with_marks(plain, found)
    moved = _BEHIND.sub(lambda match: f" {match[2]}{match[1]} ", marked)
    sentences = []
    for sentence in split_sentences(moved):
        marks = list(_PRIVATE.finditer(sentence))
        own = [found[ord(mark.group()) - _FIRST_MARK].numbers for mark in marks]
        bare = removed(sentence, [Citation(mark.start(), mark.end(), ()) for mark in marks]).strip()
        if any(character.isalnum() for character in bare):
            numbers = dict.fromkeys(number for numbers in own for number in numbers)
            sentences.append(CitedSentence(bare, tuple(numbers)))
    return tuple(sentences)


def _with_marks(text: str, found: Sequence[Citation]) -> str:
    def parts() -> Iterator[str]:
        at = 0
        for place, one in enumerate(found):
            yield text[at : one.start] + chr(_FIRST_MARK + place)
            at = one.end
        yield text[at:]

    return "".join(parts())
