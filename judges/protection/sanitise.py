"""Our tags and chat tokens in untrusted text, made harmless in every disguise; the rest is untouched.

A text is read through its skeleton: hidden characters dropped, escapes undone, look-alike letters and
brackets as ASCII. What the skeleton shows to be one of our tags or a chat token is replaced in the text by
the same words in round brackets, `</answer 1>` by `(/answer 1)`. Honest HTML, code and `[1]` citations are
no such tokens and stay as they are, byte for byte.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from data.steering.live_tokens import LiveToken, live_tokens, may_have_tokens, role_in
from data.steering.skeletons import PLAIN, Skeleton, skeleton, skeleton_of

__all__ = ["Flag", "Sanitised", "delimit", "mark_of", "sanitise", "skeleton"]

MARK_LENGTH = 8
REMEMBERED = 4096
_PASSES = 4


class Flag(StrEnum):
    """What was made harmless."""

    TAG = LiveToken.TAG.value
    CHAT = LiveToken.CHAT.value
    ROLE = LiveToken.ROLE.value
    HIDDEN = "hidden-characters"
    DISGUISE = "disguised-characters"


@dataclass(frozen=True, slots=True)
class Sanitised:
    """A text without live tags and tokens, and what was found in it."""

    text: str
    flags: tuple[Flag, ...] = ()


_HIDDEN = re.compile(
    "[\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff"
    "\uffa0\U000e0000-\U000e0fff]"
    "|(?<=[\x21-\x7e])[\u200c\u200d\u034f\ufe00-\ufe0f]+(?=[\x21-\x7e])"
)
_BRACKETS = str.maketrans("", "", "<>[]")


@lru_cache(maxsize=REMEMBERED)
def sanitise(text: str) -> Sanitised:
    """Make tags, chat tokens and role headers in a text harmless, and drop hidden characters.

    The same text always gives the same result, and a second pass changes nothing. A text without
    such things comes back as it was.
    """
    if text.isascii() or PLAIN.fullmatch(text):
        return _replace(text, []) if may_have_tokens(text) else Sanitised(text)
    flags: list[Flag] = []
    bare = _HIDDEN.sub("", text)
    if bare != text:
        flags.append(Flag.HIDDEN)
    return _replace(bare, flags)


def mark_of(*parts: str) -> str:
    """Derive the mark of a request's delimiters from what the request shows.

    It is the same whenever the same request is made, so replays and caches find it again; it never
    occurs in the parts themselves, so no text can close its own delimiter.
    """
    material = "\x1f".join(parts)
    for attempt in range(1000):
        digest = hashlib.sha256(f"{attempt}\x1e{material}".encode("utf-8", "surrogatepass")).hexdigest()
        mark = digest[:MARK_LENGTH]
        if mark not in material:
            return mark
    return digest


def delimit(tag: str, text: str, mark: str) -> str:
    """Put a text between tags of its own; without a mark the tags are plain."""
    name = f"{tag} {mark}" if mark else tag
    return f"<{name}>\n{text}\n</{name}>"


def _replace(text: str, flags: list[Flag]) -> Sanitised:
    """Replace what is live until nothing is: a removal may join what stood apart."""
    for _ in range(_PASSES):
        read = skeleton_of(text)
        spans = sorted(live_tokens(read.text))
        if not spans:
            break
        text = _spliced(text, read, spans, flags)
    return Sanitised(text, tuple(dict.fromkeys(flags)))


def _spliced(
    text: str, read: Skeleton, spans: Sequence[tuple[int, int, LiveToken]], flags: list[Flag]
) -> str:
    pieces, position = [], 0
    for start, end, token in spans:
        first, last = read.span(start, end)
        if first < position:
            continue
        written, folded = text[first:last], read.text[start:end]
        flag = Flag(token.value)
        flags += [flag] if written.isascii() else [flag, Flag.DISGUISE]
        visible = written if written.lower() == folded else folded
        pieces += [text[position:first], _harmless(visible, flag)]
        position = last
    return "".join([*pieces, text[position:]])


def _harmless(token: str, flag: Flag) -> str:
    if flag is Flag.ROLE:
        return f"{role_in(token)} -"
    return f"({token.translate(_BRACKETS)})"
