"""Split a text into sentences and list items, and select the sentences that state something."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from data.citations import Citation, citations, removed
from data.declines import fold
from judges.text.languages import ABBREVIATIONS
from judges.text.layout import CITED, CLOSERS, ENDS, MONTHS, is_prose, read_blocks
from judges.text.tokens import WORD, terms

BOUNDARY = re.compile(r"(?:(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$))|[。！？｡؟।။។։]+[”’»」』)\]]*")
CLAUSE = re.compile(r"(?:(?<!\s)\s++)?;\s++|(?<!\s)\s++[–—]\s++|:\s++(?=\S++\s++\S++\s++\S)")
NO_SPACE = re.compile(r"\S")
# The next three patterns match the last token before a full stop from its first character.
DOTTED = re.compile(r"(?:^|[(\"“])(?:[^\W\d_]\.){2,}+$")
INITIAL = re.compile(r"(?:^|[(\"“.])[A-Z]\.$")
ANOTHER_INITIAL = re.compile(r"(?<![^\W_])[A-Z]\.\s{1,2}[A-Z]\.(?=\s)")
"""Two initials in a row; no sentence starts between them."""
STARTER = re.compile(
    r"(?:He|She|It|They|We|You|His|Her|Its|Their|Our|The|This|That|These|Those|A|An|In|On|At|But|There|However"
    r"|When|After|Since|Then|Also)\b"
)
"""Words that start a sentence but not a name, for example after "the U.S."."""
JOINING = frozenset({"and", "by", "with", "&"})
"""Words before an initial that starts a name: "Merkel and B. Obama"; years and commas do too."""
LAST_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]++)\.$")
QUESTION_MARKS = ("?", "？", "؟", "՞")
DASHES = ("–", "—")
CLOSING = "\"'”’»」』)]*_ "
ANNOUNCED = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|several|many|multiple|various|different|few|some"
    r"|number of|following)\s(?:\w+\s){0,2}?(?:areas|aspects|categories|causes|changes|considerations"
    r"|differences|examples|factors|groups|kinds|methods|options|parts|points|possibilities|reasons|rules|steps"
    r"|techniques|things|tips|types|ways)\b"
)
"""Openings of sentences that announce a list: "Expect changes in four areas."."""
MAX_LEAD_TERMS = 6
"""Maximum number of terms of a sentence that only introduces a list."""
BEFORE_ORDINALS = frozenset({"beim", "das", "dem", "der", "des", "im", "vom", "zum"})
"""German words before an ordinal: "im 19. Jahrhundert"."""
MAX_ORDINAL_LENGTH = len("31.")
MIN_CLAUSE_WORDS = 3
CACHED_TEXTS = 1 << 8
MAX_CACHED_LENGTH = 20_000
_FIRST_MARK = ord(CITED[0])
_PRIVATE = re.compile(f"[{CITED}]")
_BEHIND = re.compile(rf"(?<![{ENDS}])([{ENDS}]++[{CLOSERS}]*+)[^\S\n]*+([{CITED}](?:[^\S\n]*+[{CITED}])*+)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without markup and citations.

    Attributes:
        numbers: Distinct indexes of the contexts that it cites, in order.
    """

    text: str
    numbers: tuple[int, ...] = ()
    heading: bool = False


def split_sentences(text: str) -> tuple[str, ...]:
    """Split a text into sentences and list items without markup and citations.

    A full stop after an abbreviation, an initial or inside a number does not end a sentence; a line break
    does before a list item, a heading or a blank line. Unspaced scripts are split at their own full stops.
    """
    return tuple(sentence.text for sentence in read_sentences(text))


def read_sentences(text: str, ids: Sequence[str] = ()) -> tuple[Sentence, ...]:
    """Return a text's sentences with their citations; `ids` are the ids of its contexts.

    A citation after a full stop belongs to the sentence before it, unless sentences begin with citations.
    """
    return _cached(text, tuple(ids)) if len(text) <= MAX_CACHED_LENGTH else _sentences(text, ids)


@lru_cache(maxsize=CACHED_TEXTS)
def _cached(text: str, ids: tuple[str, ...]) -> tuple[Sentence, ...]:
    # Each step of a metric reads the same passages again.
    return _sentences(text, ids)


def _sentences(text: str, ids: Sequence[str]) -> tuple[Sentence, ...]:
    if is_prose(text) and not citations(text, ids):
        return tuple(Sentence(sentence) for line in text.split("\n\n") for sentence in _cut(line.strip()))
    plain = _PRIVATE.sub("\ufffd", text)
    references = citations(plain, ids)[: 0x10FFFD - _FIRST_MARK]
    sentences = []
    for block in read_blocks(_with_marks(plain, references)):
        opens = block.text[:1] >= chr(_FIRST_MARK) > block.text[-1:]
        moved = _BEHIND.sub(r"\1 \2 " if opens else r"\2\1 ", block.text) if references else block.text
        for sentence in _cut(moved):
            marks = list(_PRIVATE.finditer(sentence))
            own = [references[ord(mark.group()) - _FIRST_MARK].numbers for mark in marks]
            bare = removed(sentence, [Citation(mark.start(), mark.end(), ()) for mark in marks]).strip()
            numbers = dict.fromkeys(number for numbers in own for number in numbers)
            sentences.append(Sentence(bare, tuple(numbers), block.heading))
    return tuple(sentences)


def _with_marks(text: str, references: Sequence[Citation]) -> str:
    def parts() -> Iterator[str]:
        at = 0
        for index, reference in enumerate(references):
            yield text[at : reference.start] + chr(_FIRST_MARK + index)
            at = reference.end
        yield text[at:]

    return "".join(parts())


def stating(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Remove headings, questions and introductions, unless nothing would remain."""
    last = len(sentences) - 1
    statements = (
        sentence
        for at, sentence in enumerate(sentences)
        if not sentence.heading and states(sentence.text, is_last=at == last)
    )
    return tuple(statements) or tuple(sentences)


def states(sentence: str, *, is_last: bool = False) -> bool:
    """Return whether a sentence states something: it is neither a question nor an introduction."""
    bare = sentence.rstrip(CLOSING)
    if bare.endswith(QUESTION_MARKS):
        return False
    if is_last or not WORD.search(sentence):
        return True
    return not (
        bare.endswith(":")
        or (ANNOUNCED.search(fold(sentence)) and len(set(terms(sentence))) <= MAX_LEAD_TERMS)
    )


def split_clauses(sentence: str) -> tuple[str, ...]:
    """Split a sentence at semicolons, dashes and colons into clauses of at least three words."""
    clauses: list[str] = []
    for part in CLAUSE.split(sentence):
        if clauses and len(part.split()) < MIN_CLAUSE_WORDS:
            clauses[-1] = f"{clauses[-1]} {part}"
        elif part.strip():
            clauses.append(part.strip())
    return tuple(clauses)


def _cut(block: str) -> list[str]:
    sentences: list[str] = []
    start = 0
    for mark in BOUNDARY.finditer(block):
        end = mark.end()
        match = NO_SPACE.search(block, end)
        if match is None:
            break
        following = match[0]
        if (
            following.islower()
            or (following in DASHES and block[end - 1] == ")")
            or ANOTHER_INITIAL.match(block, end - 2)
            or (block[end - 1] == "." and not _closes(block, block[start:end], match.start()))
        ):
            continue
        sentences.append(block[start:end].strip())
        start = end
    sentences.append(block[start:].strip())
    return [sentence for sentence in sentences if any(character.isalnum() for character in sentence)]


def _closes(block: str, sentence: str, following: int) -> bool:
    """Return whether the full stop of the last token ends the sentence; the text continues at `following`."""
    *earlier, last = sentence.rsplit(maxsplit=2)[-2:]
    if last[:-1].isdecimal() and len(last) <= MAX_ORDINAL_LENGTH:
        word = WORD.match(block, following)
        month = word is not None and fold(word[0]) in MONTHS
        return any(earlier) and earlier[0].casefold() not in BEFORE_ORDINALS and not month
    if DOTTED.search(last):
        return last[-2].isupper() and STARTER.match(block, following) is not None
    if INITIAL.search(last):
        # An initial is part of a name at the start of a text, after a capital and after words like "and".
        if not any(earlier) or earlier[0][:1].isupper():
            return False
        return (
            not (earlier[0] in JOINING or earlier[0].endswith(",") or earlier[0].isdecimal())
            or not block[following].isupper()
            or STARTER.match(block, following) is not None
        )
    word = LAST_WORD.search(last)
    if word is not None:
        numbered = len(word[1]) == 1 and block[following].isdecimal()
        return not numbered and word[1].casefold() not in ABBREVIATIONS
    return True
