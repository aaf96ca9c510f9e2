"""Cut a text into sentences and list items, whatever its layout, and tell which of them state something."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from data.citations import Citation, citations, removed
from data.declines import fold
from judges.text.languages import ABBREVIATIONS
from judges.text.layout import CITED, CLOSERS, ENDS, MONTHS, read_blocks
from judges.text.tokens import WORD, terms

BOUNDARY = re.compile(r"(?:(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$))|[。！？｡؟।။។։]+[”’»」』)\]]*")
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
LONGEST_LEAD = 6
"""Terms that a sentence may have that only announces what follows."""
BEFORE_ORDINALS = frozenset({"beim", "das", "dem", "der", "des", "im", "vom", "zum"})
"""German words before an ordinal: "im 19. Jahrhundert"."""
LONGEST_ORDINAL = len("31.")
SHORTEST_CLAUSE = 3
CACHED_TEXTS = 1 << 8
LONGEST_CACHED = 20_000
_FIRST_MARK = ord(CITED[0])
_PRIVATE = re.compile(f"[{CITED}]")
_BEHIND = re.compile(rf"(?<![{ENDS}])([{ENDS}]++[{CLOSERS}]*+)[^\S\n]*+([{CITED}](?:[^\S\n]*+[{CITED}])*+)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without marks of layout and citations.

    Attributes:
        numbers: The places of the contexts that it cites, each once, in order.
    """

    text: str
    numbers: tuple[int, ...] = ()
    heading: bool = False


def split_sentences(text: str) -> tuple[str, ...]:
    """Split a text into sentences and list items, in order, without marks of layout and citations.

    A full stop after an abbreviation, an initial or inside a number ends nothing; a line break ends a
    sentence where a list item, a heading or a blank line follows. Scripts without spaces between
    sentences are cut at their own full stops.
    """
    return tuple(sentence.text for sentence in read_sentences(text))


def read_sentences(text: str, ids: Sequence[str] = ()) -> tuple[Sentence, ...]:
    """Return a text's sentences with their citations; `ids` are those of its contexts.

    A citation behind a full stop belongs before it, unless citations open the text's sentences.
    """
    return _cached(text, tuple(ids)) if len(text) <= LONGEST_CACHED else _sentences(text, ids)


@lru_cache(maxsize=CACHED_TEXTS)
def _cached(text: str, ids: tuple[str, ...]) -> tuple[Sentence, ...]:
    """Return a text's sentences, cached because each metric step reads the same passages anew."""
    return _sentences(text, ids)


def _sentences(text: str, ids: Sequence[str]) -> tuple[Sentence, ...]:
    plain = _PRIVATE.sub("\ufffd", text)
    found = citations(plain, ids)[: 0x10FFFD - _FIRST_MARK]
    sentences = []
    for block in read_blocks(_with_marks(plain, found)):
        opens = block.text[:1] >= chr(_FIRST_MARK) > block.text[-1:]
        moved = _BEHIND.sub(r"\1 \2 " if opens else r"\2\1 ", block.text) if found else block.text
        for sentence in _cut(moved):
            marks = list(_PRIVATE.finditer(sentence))
            own = [found[ord(mark.group()) - _FIRST_MARK].numbers for mark in marks]
            bare = removed(sentence, [Citation(mark.start(), mark.end(), ()) for mark in marks]).strip()
            numbers = dict.fromkeys(number for numbers in own for number in numbers)
            sentences.append(Sentence(bare, tuple(numbers), block.heading))
    return tuple(sentences)


def _with_marks(text: str, found: Sequence[Citation]) -> str:
    def parts() -> Iterator[str]:
        at = 0
        for place, one in enumerate(found):
            yield text[at : one.start] + chr(_FIRST_MARK + place)
            at = one.end
        yield text[at:]

    return "".join(parts())


def stating(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Leave out what states nothing: headings, questions, and sentences that only announce what follows.

    Where nothing is left, all are taken.
    """
    last = len(sentences) - 1
    kept = (
        sentence
        for at, sentence in enumerate(sentences)
        if not sentence.heading and states(sentence.text, is_last=at == last)
    )
    return tuple(kept) or tuple(sentences)


def states(sentence: str, *, is_last: bool = False) -> bool:
    """Return whether a sentence states something of its own: no question, no announcement of what follows."""
    bare = sentence.rstrip(CLOSING)
    if bare.endswith(QUESTION_MARKS):
        return False
    if is_last or not WORD.search(sentence):
        return True
    return not (
        bare.endswith(":") or (ANNOUNCED.search(fold(sentence)) and len(set(terms(sentence))) <= LONGEST_LEAD)
    )


def split_clauses(sentence: str) -> tuple[str, ...]:
    """Split a sentence at semicolons, dashes and colons, leaving no clause under three words."""
    clauses: list[str] = []
    for part in CLAUSE.split(sentence):
        if clauses and len(part.split()) < SHORTEST_CLAUSE:
            clauses[-1] = f"{clauses[-1]} {part}"
        elif part.strip():
            clauses.append(part.strip())
    return tuple(clauses)


def _cut(block: str) -> list[str]:
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
            or (following in DASHES and block[end - 1] == ")")
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
    if following is not None and last[:-1].isdecimal() and len(last) <= LONGEST_ORDINAL:
        word = WORD.match(block, following)
        month = word is not None and fold(word[0]) in MONTHS
        return any(earlier) and earlier[0].casefold() not in BEFORE_ORDINALS and not month
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
    if word is not None and following is not None:
        numbered = len(word[1]) == 1 and block[following].isdecimal()
        return not numbered and word[1].casefold() not in ABBREVIATIONS
    return True
