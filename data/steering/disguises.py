"""Decoders of disguised text, and tokens of chats that a model would obey."""

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache

from data.steering.rules import SIGNS

_LETTERS = re.compile(r"(?<![^\W_])[^\W_](?:[ \t.\-_*|]{1,3}[^\W_](?![^\W_])){7,}+")
_LETTER_GAP = re.compile(r"[ \t]{2,3}")
_SIGN = re.compile(r"[\W_]+")
_MIXED = re.compile(r"[a-z][013457$@]|[013457$@][a-z]")
_LEET = str.maketrans("013457$@", "oieastsa")
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"[^\W_]+")
_MIN_MIXED, _MIN_WORDS = 4, 2
_MAX_LINE = 4000
_TURNS: Sequence[Callable[[str], str]] = (lambda text: text[::-1], lambda text: codecs.encode(text, "rot13"))


def encoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield spans of encoded text with the decoded text."""
    for name, decode in _DECODERS.items():
        for match in SIGNS[name].finditer(text):
            try:
                meaning = decode(match[0])
            except (binascii.Error, ValueError):
                continue
            if meaning:
                yield match.start(), match.end(), meaning


def disguised(plain_text: str, words: Mapping[str, str]) -> Iterator[tuple[int, int, str]]:
    """Yield spans of spelt-out, leetspeak, reversed or rotated text with the plain text.

    Args:
        plain_text: The skeleton of a text.
        words: `telling` words, of which a reversed or rotated line has one, and `common` ones.
    """
    for match in _LETTERS.finditer(plain_text):
        yield match.start(), match.end(), _joined(match[0])
    for line in _LINE.finditer(plain_text):
        if len(_MIXED.findall(line[0])) >= _MIN_MIXED:
            yield line.start(), line.end(), line[0].translate(_LEET)
    words_of_text = set(_WORD.findall(plain_text))
    for undo in _TURNS:
        telling, common = (_turned(undo, words[kind]) for kind in ("telling", "common"))
        for line in _LINE.finditer(plain_text) if words_of_text & telling else ():
            own = set(_WORD.findall(line[0]))
            if own & telling and len(own & telling) + len(own & common) >= _MIN_WORDS:
                yield line.start(), line.end(), undo(line[0][:_MAX_LINE])


@cache
def _turned(undo: Callable[[str], str], words: str) -> frozenset[str]:
    return frozenset(map(undo, words.split()))


def _joined(letters: str) -> str:
    """Join single letters to words, which end at wider gaps or, between other separators, at spaces."""
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
    # In UTF-16 every second byte of Latin letters is zero.
    text = data.replace(b"\0", b"").decode("utf-8", "replace").lower()
    return text if text.replace("\n", " ").isprintable() and "\ufffd" not in text else ""


_DECODERS: Mapping[str, Callable[[str], str]] = {
    "base64": _from_base64,
    "hex": _from_hex,
    "bits": _from_bits,
    "bytes": _from_hex,
}


class Flag(StrEnum):
    """Kind of text that a judge could mistake for a part of its prompt."""

    TAG = "tag"
    CHAT = "chat-token"
    ROLE = "role-header"
    HIDDEN = "hidden-characters"
    DISGUISE = "disguised-characters"


_NAMES = ("answer", "answers", "passage", "passages", "rating", "grade", "thinking", "think", "rubric")
_ASSISTANTS = ("ass", "ai", "ch", "cl")
_OPENING = re.compile(r"<(?:[^\w>\n]|_)*+\Z")
_ANY_TAG = re.compile(r"<[^<>]{1,60}>")
_NAME = re.compile(r"[^\W\d_]+")
_FOREIGN_NUMBER = re.compile(r"[\s_-]{0,3}(?:[0-9]|[ab])?[^\w<>]{0,12}>\Z")
_ALIKE = 0.33


def live_tokens(plain_text: str) -> Iterator[tuple[int, int, Flag]]:
    """Yield the spans and kinds of tokens in a text's skeleton."""
    for flag, pattern in ((Flag.TAG, SIGNS["tag"]), (Flag.CHAT, SIGNS["chat_token"])):
        for match in pattern.finditer(plain_text):
            yield _opened(plain_text, match.start()), match.end(), flag
    for match in _ANY_TAG.finditer(plain_text):
        if not match[0].isascii() and _resembles_ours(match[0]):
            yield _opened(plain_text, match.start()), match.end(), Flag.TAG
    yield from _headers(plain_text)


def role_in(header: str) -> str:
    """Return the role in a header as written."""
    role = SIGNS["speaker"].search(header.lower())
    return header[role.start() : role.end()] if role else header.replace(":", "").strip()


def _opened(plain_text: str, start: int) -> int:
    """Return the start of the brackets directly before a tag."""
    begin = max(0, start - 64)
    opening = _OPENING.search(plain_text, begin, start)
    return opening.start() if opening else start


def _resembles_ours(tag: str) -> bool:
    """Return whether a tag with letters of other scripts in its name looks like one of ours.

    It does with a slash or a number, since no markup has such names, or if a third of its letters are those
    of one of our names at the same positions.
    """
    name = _NAME.search(tag)
    if name is None or name[0].isascii():
        return False
    opening, rest = tag[1 : name.start()].strip(), tag[name.end() :]
    if _FOREIGN_NUMBER.match(rest) and ("/" in opening or any(map(str.isdigit, rest))):
        return True
    likes = [sum(map(str.__eq__, ours, name[0])) for ours in _NAMES if len(ours) == len(name[0])]
    return max(likes, default=0) >= _ALIKE * len(name[0])


def _headers(plain_text: str) -> Iterator[tuple[int, int, Flag]]:
    """Yield the role headers that open a turn, with their decoration.

    Such a header follows an empty line or is a Markdown header, or several speakers have lines. A single one
    at the start ("Human: a member of the species") opens no turn.
    """
    headers = [*SIGNS["role"].finditer(plain_text), *SIGNS["turn"].finditer(plain_text)]
    talk = len({match["role"].startswith(_ASSISTANTS) for match in headers}) > 1
    for match in headers:
        if talk or (
            match.re is SIGNS["role"] and ("#" in match[0] or _after_empty_line(plain_text, match.start()))
        ):
            yield match.start(), match.end(), Flag.ROLE


def _after_empty_line(plain_text: str, start: int) -> bool:
    """Return whether a line follows an empty one; the text's delimiter ends the first line."""
    before = plain_text[:start]
    breaks = before[len(before.rstrip()) :].count("\n")
    return breaks > (1 if before.strip() else 0)
