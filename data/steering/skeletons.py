"""A text as a reader sees it, with the place that every character of it comes from.

Hidden characters are dropped, line ends are one, escapes of HTML, URLs and programming languages are
undone, and look-alikes of every script are small ASCII letters. What looks for tags, role headers or
sentences in untrusted text looks at this form and changes the text at the places it names.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from data.steering.confusables import look_of

_REMEMBERED = 4096
# Nesting is undone at once: `&amp;amp;lt;` and `%253c` are one escape each.
_ESCAPE = re.compile(
    r"&(?:amp;?)*+(?:#x0*+[0-9a-f]{1,6}|#0*+[0-9]{1,7}"
    r"|lt|gt|sol|bsol|vert|verbar|lsqb|lbrack|rsqb|rbrack|colon|lowbar|num|newline|tab|nbsp);?"
    r"|%(?:25)*+[2-7][0-9a-f]"
    r"|\\(?:u\{0*+[0-9a-f]{1,6}\}|u[0-9a-f]{4}|x[0-9a-f]{2})"
)
_ESCAPE_SIGNS = ("&", "%", "\\")
_AMPERSANDS = re.compile(r"&(?:amp;?)*+")
_PERCENTS = re.compile(r"%(?:25)*+")
_BREAKS = str.maketrans(dict.fromkeys("\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", "\n"))
_ASCII_ENDS = "\r\v\f\x1c\x1d\x1e"
_ENDS_OF_LINES = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_DROPPED = frozenset(
    map(
        chr,
        (
            *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180E, 0x180F),
            *range(0x200B, 0x2010),
            *range(0x202A, 0x202F),
            *range(0x2060, 0x2070),
            *(0x2800, 0x3164, 0xFEFF, 0xFFA0),
            *range(0xFE00, 0xFE10),
            *range(0xFFF0, 0xFFFC),
            *range(0xE0000, 0xE1000),
        ),
    )
)
# ASCII, Latin letters, typographic quotes, dashes, bullets and units: nothing in disguise.
PLAIN = re.compile(
    "[\x00-\x7f\xa1-\xac\xae-\u017f\u2010-\u2015\u2018-\u2027\u2030-\u2033\u20ac\u2122\u2190-\u2193]*+"
)


@dataclass(frozen=True, slots=True)
class Skeleton:
    """What a reader sees of a text; character i comes from `text[starts[i]:ends[i]]`."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The places in the text that a stretch of the skeleton comes from."""
        if start >= end:
            return (0, 0)
        return self.starts[start], self.ends[end - 1]


@lru_cache(maxsize=_REMEMBERED)
def skeleton_of(text: str) -> Skeleton:
    """The skeleton of a text."""
    lines = _one_line_end(text)
    if lines.isascii() or PLAIN.fullmatch(lines):
        plain_text = lines.lower() if lines.isascii() else lines.translate(_latin()).lower()
        folded = Skeleton(plain_text, range(len(text)), range(1, len(text) + 1))
    else:
        folded = _by_character(lines)
    return _unescaped(folded) if any(map(folded.text.__contains__, _ESCAPE_SIGNS)) else folded


def skeleton(text: str) -> str:
    """A text as a reader sees it."""
    return skeleton_of(text).text


def _one_line_end(text: str) -> str:
    """Every line end as one line feed; the text keeps its length."""
    if (text.isascii() and not any(map(text.__contains__, _ASCII_ENDS))) or not _ENDS_OF_LINES.search(text):
        return text
    return text.replace("\r\n", " \n").translate(_BREAKS)


def _by_character(text: str) -> Skeleton:
    pieces: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for plain in plain_of(character):
            pieces.append(plain)
            places.append(place)
    return Skeleton("".join(pieces), places, [place + 1 for place in places])


def _unescaped(folded: Skeleton) -> Skeleton:
    """A skeleton with its escapes undone, once for each kind that hides another."""
    for _ in range(3):
        matches = list(_ESCAPE.finditer(folded.text))
        if not matches:
            break
        folded = _spliced(folded, matches)
    return folded


def _spliced(folded: Skeleton, matches: Sequence[re.Match[str]]) -> Skeleton:
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    for match in matches:
        pieces.append(folded.text[position : match.start()])
        starts += folded.starts[position : match.start()]
        ends += folded.ends[position : match.start()]
        first, last = folded.span(match.start(), match.end())
        decoded = _meaning(match[0])
        pieces.append(decoded)
        starts += [first] * len(decoded)
        ends += [last] * len(decoded)
        position = match.end()
    pieces.append(folded.text[position:])
    return Skeleton("".join(pieces), [*starts, *folded.starts[position:]], [*ends, *folded.ends[position:]])


@lru_cache(maxsize=_REMEMBERED)
def _meaning(escape: str) -> str:
    """What an escape stands for, as a reader sees it; the escape itself where that is nothing."""
    if escape[0] == "&":
        entity = _AMPERSANDS.sub("&", escape).removesuffix(";")
        character = html.unescape(f"{entity};".replace("&newline;", "&NewLine;").replace("&tab;", "&Tab;"))
    else:
        digits = re.sub(r"[^0-9a-f]", "", _PERCENTS.sub("", escape))
        code = int(digits or "0", 16)
        character = chr(code) if 0 < code <= 0x10FFFF else ""  # noqa: PLR2004 - the last code point
    return "".join(map(plain_of, character.translate(_BREAKS))) or " "


@cache
def _latin() -> dict[int, str]:
    """Plain letters of `PLAIN`'s characters, one for one, so that places stay as they are."""
    letters = {code: plain_of(chr(code)) for code in range(0x80, 0x2194) if PLAIN.fullmatch(chr(code))}
    return {code: letter if len(letter) == 1 else chr(code) for code, letter in letters.items()}


@lru_cache(maxsize=32_768)
def plain_of(character: str) -> str:
    """What a character looks like, in small ASCII where that is possible; empty where nobody sees it."""
    if character.isascii():
        return character.lower()
    if character in _DROPPED:
        return ""
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", character))
    return "".join(_plain_letter(letter) for letter in folded if not unicodedata.combining(letter))


def _plain_letter(letter: str) -> str:
    if letter.isascii():
        return letter.lower()
    sign = _sign(letter)
    if sign:
        return sign
    digit = unicodedata.decimal(letter, None)
    if digit is not None:
        return str(digit)
    for form in (letter, letter.lower(), letter.upper()):
        look = look_of(form)
        if look.isascii():
            return "i" if look == "l" and unicodedata.name(letter, "").endswith("LETTER I") else look.lower()
    return letter.lower()


def _sign(letter: str) -> str:
    """The ASCII sign that a symbol stands in for, by its Unicode name."""
    category, name = unicodedata.category(letter), unicodedata.name(letter, "")
    if letter in "«»" or (category[0] not in "PS" and name != "LATIN LETTER DENTAL CLICK"):
        return ""
    if "QUOTATION MARK" in name and "ANGLE" not in name:
        return letter if "DOUBLE" in name else "'"
    if "ANGLE BRACKET" in name or "ANGLE QUOTATION" in name or name in {"PRECEDES", "SUCCEEDS"}:
        return "<" if "LEFT" in name or name == "PRECEDES" else ">"
    if "SQUARE BRACKET" in name or "LENTICULAR BRACKET" in name:
        return "[" if "LEFT" in name else "]"
    return _line(letter, name)


def _line(letter: str, name: str) -> str:
    if look_of(letter) == "l" or name in {"LIGHT VERTICAL BAR", "BROKEN BAR"}:
        return "|"
    return "_" if name in {"LOWER ONE EIGHTH BLOCK", "MODIFIER LETTER LOW MACRON"} else ""
