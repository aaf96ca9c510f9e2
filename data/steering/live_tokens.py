"""Tags of judging prompts, chat tokens and role headers in untrusted text, in every disguise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from data.steering.rules import SIGNS


class Flag(StrEnum):
    """What a judge could take for a part of its prompt, and how it was written."""

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
    """The tokens of a text's skeleton: where each begins and ends there, and its kind."""
    for flag, pattern in ((Flag.TAG, SIGNS["tag"]), (Flag.CHAT, SIGNS["chat_token"])):
        for match in pattern.finditer(plain_text):
            yield _opened(plain_text, match.start()), match.end(), flag
    for match in _ANY_TAG.finditer(plain_text):
        if not match[0].isascii() and _resembles_ours(match[0]):
            yield _opened(plain_text, match.start()), match.end(), Flag.TAG
    yield from _headers(plain_text)


def role_in(header: str) -> str:
    """The role that a header names, as it is written."""
    role = SIGNS["speaker"].search(header.lower())
    return header[role.start() : role.end()] if role else header.replace(":", "").strip()


def _opened(plain_text: str, start: int) -> int:
    """The first of the brackets that stand before a tag with no word between."""
    begin = max(0, start - 64)
    opening = _OPENING.search(plain_text, begin, start)
    return opening.start() if opening else start


def _resembles_ours(tag: str) -> bool:
    """Whether a tag with letters of other scripts in its name could be read as one of ours.

    One with a slash or a number is: no markup has such names. Others are where a third of the letters of a
    name of ours stand in their places.
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
    """The role headers that open a turn, with what decorates them.

    Such a header stands after an empty line or is a Markdown one, or several speakers have lines of their
    own. A lone one at the very beginning ("Human: a member of the species") opens nothing.
    """
    headers = [*SIGNS["role"].finditer(plain_text), *SIGNS["turn"].finditer(plain_text)]
    talk = len({match["role"].startswith(_ASSISTANTS) for match in headers}) > 1
    for match in headers:
        if talk or (
            match.re is SIGNS["role"] and ("#" in match[0] or _after_empty_line(plain_text, match.start()))
        ):
            yield match.start(), match.end(), Flag.ROLE


def _after_empty_line(plain_text: str, start: int) -> bool:
    """Whether a line follows an empty one; the delimiter before a text ends the first of the two lines."""
    before = plain_text[:start]
    breaks = before[len(before.rstrip()) :].count("\n")
    return breaks > (1 if before.strip() else 0)
