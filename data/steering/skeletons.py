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
from functools import lru_cache
from itertools import chain

_REMEMBERED = 4096
# Nesting is undone at once: `&amp;amp;lt;` and `%253c` are one escape each.
_ESCAPE = re.compile(
    r"&(?:amp;?)*+(?:#x0*+[0-9a-f]{1,6}|#0*+[0-9]{1,7}"
    r"|lt|gt|sol|bsol|vert|verbar|lsqb|lbrack|rsqb|rbrack|colon|lowbar|num|newline|tab|nbsp);?"
    r"|%(?:25)*+[2-7][0-9a-f]"
    r"|\\(?:u\{0*+[0-9a-f]{1,6}\}|u[0-9a-f]{4}|x[0-9a-f]{2})"
)
_AMPERSANDS = re.compile(r"&(?:amp;?)*+")
_PERCENTS = re.compile(r"%(?:25)*+")
_BREAKS = str.maketrans(dict.fromkeys("\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", "\n"))
_DROPPED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufeff\uffa0\ufe00-\ufe0f\ufff0-\ufffb\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The form of a text that a reader sees; character i comes from `text[starts[i]:ends[i]]`."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The places in the text that a stretch of the skeleton comes from."""
        return (self.starts[start], self.ends[end - 1]) if start < end else (0, 0)


@lru_cache(maxsize=_REMEMBERED)
def skeleton_of(text: str) -> Skeleton:
    """The skeleton of a text."""
    lines = text.replace("\r\n", " \n").translate(_BREAKS)
    if lines.isascii():
        folded = Skeleton(lines.lower(), range(len(text)), range(1, len(text) + 1))
    else:
        plain = list(map(plain_of, lines))
        places = [place for place, letters in enumerate(plain) for _ in letters]
        folded = Skeleton("".join(plain), places, [place + 1 for place in places])
    # Once for each kind that hides another.
    for _ in range(3):
        matches = list(_ESCAPE.finditer(folded.text))
        if not matches:
            break
        folded = _spliced(folded, matches)
    return folded


def skeleton(text: str) -> str:
    """A text as a reader sees it."""
    return skeleton_of(text).text


def _spliced(folded: Skeleton, matches: Sequence[re.Match[str]]) -> Skeleton:
    pieces: list[tuple[str, Sequence[int], Sequence[int]]] = []
    position = 0
    for match in matches:
        kept = slice(position, match.start())
        first, last = folded.span(match.start(), match.end())
        decoded, position = _meaning(match[0]), match.end()
        pieces.append((folded.text[kept], folded.starts[kept], folded.ends[kept]))
        pieces.append((decoded, [first] * len(decoded), [last] * len(decoded)))
    pieces.append((folded.text[position:], folded.starts[position:], folded.ends[position:]))
    texts, starts, ends = zip(*pieces, strict=True)
    return Skeleton("".join(texts), list(chain(*starts)), list(chain(*ends)))


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


@lru_cache(maxsize=32_768)
def plain_of(character: str) -> str:
    """The look of a character, in small ASCII where that is possible; empty where nobody sees it."""
    if character.isascii():
        return character.lower()
    if _DROPPED.match(character):
        return ""
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", character))
    return "".join(_plain_letter(letter) for letter in folded if not unicodedata.combining(letter))


def _plain_letter(letter: str) -> str:
    digit = unicodedata.decimal(letter, None)
    sign = "" if letter.isascii() else _sign(letter)
    if letter.isascii() or sign or digit is not None:
        return sign or (letter.lower() if letter.isascii() else str(digit))
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
    if look_of(letter) == "l" or name in {"LIGHT VERTICAL BAR", "BROKEN BAR"}:
        return "|"
    return "_" if name in {"LOWER ONE EIGHTH BLOCK", "MODIFIER LETTER LOW MACRON"} else ""


def look_of(character: str) -> str:
    """The Latin letters, digits or signs that a character looks like; itself where there are none."""
    from disarm import normalize_confusables  # noqa: PLC0415 - takes a while to load

    return normalize_confusables(character)
