"""Text that was disguised so that a reader does not understand it and a model does, read back."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}+={0,2}")
_HEX = re.compile(r"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{2}){12,}+(?![0-9A-Fa-f])")
_BASE32 = re.compile(r"(?<![A-Z2-7])[A-Z2-7]{24,}+={0,6}(?![A-Za-z0-9])")
# Up to a run of so many signs that it could be one of these.
_LONG_RUN = re.compile(r"\A(?:\S{0,23}+\s++)*+\S{24}")
_BITS = re.compile(r"(?<![01])[01]{8}(?:[\s,]{0,2}[01]{8}){3,}+")
_BYTES = re.compile(
    r"(?<![0-9A-Fa-f])(?:0x)?[0-9A-Fa-f]{2}(?:[\s,:]{1,2}(?:0x)?[0-9A-Fa-f]{2}(?![0-9A-Fa-f])){7,}+"
)
_DECIMALS = re.compile(r"(?<!\d)\d{2,3}(?:[\s,]{1,2}\d{2,3}(?!\d)){7,}+")
_MORSE = re.compile(r"(?<![^\s/|])[.·•−–-]{1,6}(?:[ /|]{1,3}[.·•−–-]{1,6}(?![^\s/|])){7,}+")
# Of what every spaced notation has one somewhere; each begins with signs that prose has few of.
_SPACED_DIGITS = re.compile(
    r"[\s,:](?<=[0-9A-Fa-f]{2}[\s,:])[\s,:]?(?:0x)?[0-9A-Fa-f]{2,3}[\s,:]{1,2}(?:0x)?[0-9A-Fa-f]{2,3}[\s,:]"
)
_SPACED_STROKES = re.compile(r"[.·•−–-][ /|][.·•−–-]{1,6}[ /|]")
_DIGITS = "0123456789"
# Of what every such notation in ASCII has one.
_STROKE_AFTER_GAP = (" .", " -", "/", "|")
_EIGHT_BITS = re.compile(r"[01]{8}")
_LETTERS = re.compile(r"(?<![^\W_])[^\W_](?:[ \t.\-_*|]{1,3}[^\W_](?![^\W_])){7,}+")
_LETTER_GAP = re.compile(r"[ \t]{2,3}")
_SIGN = re.compile(r"[\W_]+")
_MIXED = re.compile(r"[a-z][013457$@]|[013457$@][a-z]")
# Found where `_MIXED` is, sooner.
_MIXES = re.compile(r"[013457$@](?:(?<=[a-z][013457$@])|(?=[a-z]))")
_LEET_SIGNS = "013457$@"
_LEET = str.maketrans(_LEET_SIGNS, "oieastsa")
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"[^\W_]+")
_MIXED_LEAST = 4
_SPELT_LEAST = 8
_WORDS_LEAST = 2
_LONGEST_LINE = 4000


@dataclass(frozen=True, slots=True)
class Turn:
    """A way to disguise whole lines: what undoes it, and words as such lines have them."""

    undo: Callable[[str], str]
    telling: frozenset[str]
    common: frozenset[str]


def turns(telling: Iterable[str], common: Iterable[str]) -> tuple[Turn, ...]:
    """The ways to disguise lines that have a word of `telling` and some more of `common`."""
    return tuple(
        Turn(undo, frozenset(map(undo, telling)), frozenset(map(undo, common)))
        for undo in (_reversed, _rotated)
    )


def encoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Stretches of digits and signs that are text, each with that text."""
    for run, decode in (*(_LONG if _LONG_RUN.match(text) else ()), *(_CODES if _has_codes(text) else ())):
        for match in run.finditer(text):
            meaning = decode(match[0])
            if meaning:
                yield match.start(), match.end(), meaning


def _has_codes(text: str) -> bool:
    # The codes of ASCII letters have digits, but for Morse's.
    if any(map(text.__contains__, _DIGITS)) and (_EIGHT_BITS.search(text) or _SPACED_DIGITS.search(text)):
        return True
    if text.isascii() and not any(map(text.__contains__, _STROKE_AFTER_GAP)):
        return False
    return _SPACED_STROKES.search(text) is not None


def disguised(plain_text: str, words: Sequence[str], ways: Sequence[Turn]) -> Iterator[tuple[int, int, str]]:
    """Stretches of a skeleton that are spelt out, in leetspeak or turned, each as it is meant.

    Args:
        plain_text: The skeleton of a text.
        words: Its words, in any order; ends of sentences may be among them.
        ways: How lines may be turned.
    """
    if list(map(len, words)).count(1) >= _SPELT_LEAST:
        for match in _LETTERS.finditer(plain_text):
            yield match.start(), match.end(), _joined(match[0])
    if any(map(plain_text.__contains__, _LEET_SIGNS)) and _MIXES.search(plain_text):
        for line in _LINE.finditer(plain_text):
            if len(_MIXED.findall(line[0])) >= _MIXED_LEAST:
                yield line.start(), line.end(), line[0].translate(_LEET)
    for turn in ways:
        if not turn.telling.isdisjoint(words):
            yield from _lines(plain_text, turn)


def _lines(plain_text: str, turn: Turn) -> Iterator[tuple[int, int, str]]:
    for line in _LINE.finditer(plain_text):
        words = set(_WORD.findall(line[0]))
        count = len(words & turn.telling)
        if count and count + len(words & turn.common) >= _WORDS_LEAST:
            yield line.start(), line.end(), turn.undo(line[0][:_LONGEST_LINE])


def _reversed(text: str) -> str:
    return text[::-1]


def _rotated(text: str) -> str:
    return codecs.encode(text, "rot13")


def _joined(letters: str) -> str:
    """Single letters as words: wider gaps, or spaces where other signs part the letters, end a word."""
    spaced = _LETTER_GAP.search(letters) or (" " in letters and re.search(r"[.\-_*|]", letters))
    wide = _LETTER_GAP if _LETTER_GAP.search(letters) else re.compile(" ")
    words = wide.split(letters) if spaced else [letters]
    return " ".join(_SIGN.sub("", word) for word in words)


def _from_base64(run: str) -> str:
    bare = run.rstrip("=")
    bare = bare[: len(bare) - (len(bare) % 4 == 1)]
    try:
        signs = b"-_" if set(run) & set("-_") else None
        return _printable(base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=signs))
    except (binascii.Error, ValueError):
        return ""


def _from_base32(run: str) -> str:
    bare = run.rstrip("=")
    try:
        return _printable(base64.b32decode(bare + "=" * (-len(bare) % 8)))
    except (binascii.Error, ValueError):
        return ""


def _from_hex(run: str) -> str:
    digits = re.sub(r"0x|[\s,:]", "", run)
    return _printable(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _from_bits(run: str) -> str:
    digits = re.sub(r"[\s,]", "", run)
    return _printable(bytes(int(digits[place : place + 8], 2) for place in range(0, len(digits) - 7, 8)))


def _from_decimals(run: str) -> str:
    codes = [int(code) for code in re.findall(r"\d+", run)]
    return _printable(bytes(codes)) if max(codes) < 128 else ""  # noqa: PLR2004 - ASCII


def _from_morse(run: str) -> str:
    signs = run.translate(_STROKES)
    words = re.split(r" {3}| ?[/|] ?", signs)
    return " ".join("".join(_MORSE_LETTERS.get(letter, "") for letter in word.split()) for word in words)


def _printable(data: bytes) -> str:
    # In UTF-16 every other byte of Latin letters is zero.
    text = data.replace(b"\0", b"").decode("utf-8", "replace").lower()
    return text if text.replace("\n", " ").isprintable() and "\ufffd" not in text else ""


_STROKES = str.maketrans({"·": ".", "•": ".", "−": "-", "–": "-"})
_MORSE_CODE = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- "
    "-. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
)
_MORSE_LETTERS = dict(zip(_MORSE_CODE.split(), "abcdefghijklmnopqrstuvwxyz", strict=True))
_LONG = ((_BASE64, _from_base64), (_HEX, _from_hex), (_BASE32, _from_base32))
_CODES = (
    (_BITS, _from_bits),
    (_BYTES, _from_hex),
    (_DECIMALS, _from_decimals),
    (_MORSE, _from_morse),
)
