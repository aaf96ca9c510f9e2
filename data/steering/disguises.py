"""Text that was disguised so that a reader does not understand it and a model does, read back."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from data.steering.rules import SIGNS

_LETTERS = re.compile(r"(?<![^\W_])[^\W_](?:[ \t.\-_*|]{1,3}[^\W_](?![^\W_])){7,}+")
_LETTER_GAP = re.compile(r"[ \t]{2,3}")
_SIGN = re.compile(r"[\W_]+")
_MIXED = re.compile(r"[a-z][013457$@]|[013457$@][a-z]")
_LEET = str.maketrans("013457$@", "oieastsa")
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"[^\W_]+")
_MIXED_LEAST, _WORDS_LEAST = 4, 2
_LONGEST_LINE = 4000
_TURNS: Sequence[Callable[[str], str]] = (lambda text: text[::-1], lambda text: codecs.encode(text, "rot13"))


def encoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Stretches of digits and signs that are text, each with that text."""
    for name, decode in _DECODERS.items():
        for match in SIGNS[name].finditer(text):
            try:
                meaning = decode(match[0])
            except (binascii.Error, ValueError):
                continue
            if meaning:
                yield match.start(), match.end(), meaning


def disguised(plain_text: str, words: Mapping[str, str]) -> Iterator[tuple[int, int, str]]:
    """Stretches of a skeleton that are spelt out, in leetspeak, reversed or rotated, each as it is meant.

    Args:
        plain_text: The skeleton of a text.
        words: `telling` words, one of which a turned line has, and `common` ones.
    """
    for match in _LETTERS.finditer(plain_text):
        yield match.start(), match.end(), _joined(match[0])
    for line in _LINE.finditer(plain_text):
        if len(_MIXED.findall(line[0])) >= _MIXED_LEAST:
            yield line.start(), line.end(), line[0].translate(_LEET)
    held = set(_WORD.findall(plain_text))
    for undo in _TURNS:
        telling, common = (frozenset(map(undo, words[kind].split())) for kind in ("telling", "common"))
        for line in _LINE.finditer(plain_text) if held & telling else ():
            own = set(_WORD.findall(line[0]))
            if own & telling and len(own & telling) + len(own & common) >= _WORDS_LEAST:
                yield line.start(), line.end(), undo(line[0][:_LONGEST_LINE])


def _joined(letters: str) -> str:
    """Single letters as words: wider gaps, or spaces where other signs part the letters, end a word."""
    spaced = _LETTER_GAP.search(letters) or (" " in letters and re.search(r"[.\-_*|]", letters))
    wide = _LETTER_GAP if _LETTER_GAP.search(letters) else re.compile(" ")
    words = wide.split(letters) if spaced else [letters]
    return " ".join(_SIGN.sub("", word) for word in words)


def _from_base64(run: str) -> str:
    bare = run.rstrip("=")
    bare = bare[: len(bare) - (len(bare) % 4 == 1)]
    signs = b"-_" if set(run) & set("-_") else None
    return _printable(base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=signs))


def _from_hex(run: str) -> str:
    digits = re.sub(r"0x|[\s,:]", "", run)
    return _printable(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _from_bits(run: str) -> str:
    digits = re.sub(r"[\s,]", "", run)
    return _printable(bytes(int(digits[place : place + 8], 2) for place in range(0, len(digits) - 7, 8)))


def _printable(data: bytes) -> str:
    # In UTF-16 every other byte of Latin letters is zero.
    text = data.replace(b"\0", b"").decode("utf-8", "replace").lower()
    return text if text.replace("\n", " ").isprintable() and "\ufffd" not in text else ""


_DECODERS: Mapping[str, Callable[[str], str]] = {
    "base64": _from_base64,
    "hex": _from_hex,
    "bits": _from_bits,
    "bytes": _from_hex,
}
