"""Tags of judging prompts, chat tokens and role headers in untrusted text, in every disguise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum


class LiveToken(StrEnum):
    """What kind of token a judge could take for a part of its prompt."""

    TAG = "tag"
    CHAT = "chat-token"
    ROLE = "role-header"


_NAMES = ("answer", "answers", "passage", "passages", "rating", "grade", "thinking", "think", "rubric")
_NUMBERED = r"answers?[ _-]?[0-9ab]?|passages?(?:[ _-]?\d{1,6})?"
_OURS = rf"(?:{_NUMBERED}|rating|grade|thinking|think|rubric|question|query|reference|verdict)(?![a-z])"
_OTHERS = r"(?:system|assistant|human|instructions?|system[ _-](?:message|prompt))"
_TAG = re.compile(
    rf"<[^\w<>]{{0,12}}[/\\][^\w<>]{{0,12}}{_OURS}(?:[^<>]{{0,80}}>)?"
    rf"|<{_OURS}[^>]{{0,80}}>"
    rf"|<[^\w<>]{{1,12}}{_OURS}[^\w<>]{{0,12}}[0-9ab]?[^\w<>]{{0,12}}>"
    rf"|<[^\w<>]{{0,12}}{_OTHERS}[^\w<>]{{0,12}}>"
)
_CHAT = re.compile(
    r"<[|][^<>\n]{1,60}?[|]>|<[|](?:im_|start|end|eot|assistant|user|system)\w{0,40}"
    r"|\[/?(?:inst|system_prompt|sys|tool_calls|available_tools|tool_results|gmask)\]"
    r"|<<\s{0,4}/?\s{0,4}sys\s{0,4}>>|</?s>|<(?:bos|eos|pad|unk|sop|eop)>|<(?:start|end)_of_turn>"
    r"|<(?:begin|end)[_ ]of[_ ](?:text|sentence|turn)>|</?(?:tool|function)_calls?>"
)
_DECORATED = r"(?:[ \t>*_#`~|\"'\[\](){}+.\d–•-]|</?[a-z][a-z0-9]{0,9}>){0,24}+"
_AFTER = r"(?:[ \t*_`~|\"'\])}]|</?[a-z][a-z0-9]{0,9}>){0,12}+(?:\([^()\n]{0,24}\))?[ \t*_]{0,8}+"
_SPEAKERS = r"(?:(?:ai )?assistant|human|user|system(?: (?:message|prompt|notice))?|chatgpt|claude|ai)"
_HEADINGS = r"(?:new )?(?:instructions?|response|input|output|judge|evaluator|verdict|rating)"
_ROLE = re.compile(
    rf"^{_DECORATED}(?P<role>{_SPEAKERS}|(?<=\#[ ]){_HEADINGS}|(?<=\#){_HEADINGS})"
    rf"(?![a-z0-9]){_AFTER}:(?![:/])[*_`~]{{0,3}}+(?:</[a-z][a-z0-9]{{0,9}}>)?",
    re.MULTILINE,
)
# Headings that are a speaker and nothing else; a talk where both sides have one.
_TURN = re.compile(rf"^[ \t]{{0,3}}\#{{1,6}}[ \t]{{1,4}}(?P<role>{_SPEAKERS})[ \t]{{0,4}}$", re.MULTILINE)
_ASSISTANTS = ("ass", "ai", "ch", "cl")
_SPEAKER = re.compile(rf"{_SPEAKERS}|{_HEADINGS}")
_LIVE = ((LiveToken.TAG, _TAG), (LiveToken.CHAT, _CHAT))
_ANY_TAG = re.compile(r"<[^<>]{1,60}>")
_NAME = re.compile(r"[^\W\d_]+")
_FOREIGN_NUMBER = re.compile(r"[\s_-]{0,3}(?:[0-9]|[ab])?[^\w<>]{0,12}>\Z")
_ALIKE = 0.33
# Cheap signs of which a text has one wherever any pattern could match.
_SIGNS = ("<", "[", "&", "%", "\\")


def live_tokens(plain_text: str) -> Iterator[tuple[int, int, LiveToken]]:
    """The tokens of a text's skeleton: where each begins and ends there, and its kind."""
    if "<" in plain_text or "[" in plain_text:
        yield from _live(plain_text)
    if ":" in plain_text or "#" in plain_text:
        yield from _headers(plain_text)


def role_in(header: str) -> str:
    """The role that a header names, as it is written."""
    role = _SPEAKER.search(header.lower())
    return header[role.start() : role.end()] if role else header.replace(":", "").strip()


def may_have_tokens(text: str) -> bool:
    """Whether a text has one of the signs that every token has."""
    if any(sign in text for sign in _SIGNS):
        return True
    return (":" in text or "#" in text) and _SPEAKER.search(text.lower()) is not None


def _live(plain_text: str) -> Iterator[tuple[int, int, LiveToken]]:
    for flag, pattern in _LIVE:
        for match in pattern.finditer(plain_text):
            yield _opened(plain_text, match.start()), match.end(), flag
    if not plain_text.isascii():
        for match in _ANY_TAG.finditer(plain_text):
            if _resembles_ours(match[0]):
                yield _opened(plain_text, match.start()), match.end(), LiveToken.TAG


def _opened(plain_text: str, start: int) -> int:
    """Where the brackets begin that stand before a tag with no word between."""
    first = start
    for place in range(start - 1, max(-1, start - 64), -1):
        if plain_text[place] == "<":
            first = place
        elif plain_text[place].isalnum() or plain_text[place] in ">\n":
            break
    return first


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


def _headers(plain_text: str) -> Iterator[tuple[int, int, LiveToken]]:
    """The role headers that open a turn, with what decorates them.

    Such a header stands after an empty line or is a Markdown one, or several speakers have lines of their
    own. A lone one at the very beginning ("Human: a member of the species") opens nothing.
    """
    headers = [*_ROLE.finditer(plain_text), *_TURN.finditer(plain_text)]
    talk = len({match["role"].startswith(_ASSISTANTS) for match in headers}) > 1
    for match in headers:
        if talk or (match.re is _ROLE and ("#" in match[0] or _after_empty_line(plain_text, match.start()))):
            yield match.start(), match.end(), LiveToken.ROLE


def _after_empty_line(plain_text: str, start: int) -> bool:
    """Whether a line follows an empty one; the delimiter before a text ends the first of the two lines."""
    breaks = 0
    for place in range(start - 1, -1, -1):
        if not plain_text[place].isspace():
            return False
        breaks += plain_text[place] == "\n"
        if breaks > 1:
            return True
    return breaks > 0
