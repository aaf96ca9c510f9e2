"""Our tags and chat tokens in untrusted text, made harmless in every disguise; the rest is untouched.

A text is read through a skeleton: hidden characters dropped, compatibility forms folded (NFKC), look-alike
letters and brackets mapped to ASCII. What the skeleton shows to be one of our tags or a chat token is
replaced in the text by the same words in round brackets, `</answer 1>` by `(/answer 1)`. Honest HTML,
code and `[1]` citations are no such tokens and stay as they are, byte for byte.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

MARK_LENGTH = 8
REMEMBERED = 4096


class Flag(StrEnum):
    """What was made harmless."""

    TAG = "tag"
    CHAT = "chat-token"
    ROLE = "role-header"
    HIDDEN = "hidden-characters"
    DISGUISE = "disguised-characters"


@dataclass(frozen=True, slots=True)
class Neutralised:
    """A text without live tags and tokens, and what was found in it."""

    text: str
    flags: tuple[Flag, ...] = ()


_NUMBERED = r"answers?[ _-]?[0-9ab]?|passages?(?:[ _-]?\d+)?"
_OURS = rf"{_NUMBERED}|rating|grade|thinking|think|rubric|question|query|reference"
_L = r"(?:<|&lt;|&#0*60;|&#x0*3c;|\\u003c|%3c)"
_G = r"(?:>|&gt;|&#0*62;|&#x0*3e;|\\u003e|%3e)"
_TAG = re.compile(
    rf"{_L}\s*/?\s*(?:{_OURS})\b[^<>]{{0,80}}?{_G}|{_L}\s*/\s*(?:{_OURS})\b"
    rf"|{_L}\s*/?\s*(?:system|assistant|instructions?)\s*{_G}"
)
_BRACKETS = re.compile(rf"{_L}|{_G}|[\[\]]", re.IGNORECASE)
_CHAT = re.compile(
    r"<[|][^<>\n]{1,60}?[|]>|<[|](?:im_|start|end|eot|assistant|user|system)\w*"
    r"|\[/?(?:inst|system_prompt|sys|tool_calls|available_tools|tool_results)\]"
    r"|<<\s*/?\s*sys\s*>>|</?s>|<(?:bos|eos|pad|unk)>|<(?:start|end)_of_turn>"
    r"|<(?:begin|end)[_ ]of[_ ](?:text|sentence)>"
)
_ROLES = "human|assistant|user|system|instruction|response"
_ROLE = re.compile(rf"(?:(?<=\n)|\A)[ \t]*(?:#{{1,6}}[ \t]*)?(?:{_ROLES})[ \t]*:(?=\s|\Z)")
_LIVE = (
    (Flag.TAG, _TAG),
    (Flag.CHAT, _CHAT),
)
_HIDDEN = re.compile(
    "[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
    "|(?<=[\x21-\x7e])[\u200c\u200d\u034f\ufe00-\ufe0f]+(?=[\x21-\x7e])"
)
_DROPPED = frozenset(
    map(
        chr,
        (0xAD, 0x34F, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF),
    )
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0000, 0xE0080))))
_ANGLES = {"<": "‹〈《⟨❮❰˂⧼᚜≺≪⟪\ufe64\u276c\u2039", ">": "›〉》⟩❯❱˃⧽᚛≻≫⟫\ufe65\u276d\u203a"}
_LETTERS = {
    "a": "аɑαаᴀ", "b": "ЬвʙƅВΒ", "c": "сϲᴄⅽС", "d": "ԁɗⅾᴅ", "e": "еҽєεеᴇΕЕ", "f": "ꞙƒꜰ", "g": "ɡց",
    "h": "һհʜНΗ", "i": "іιıɪΙІӏ", "j": "јϳ", "k": "кκᴋΚК", "l": "ⅼӏʟ", "m": "ⅿмᴍМΜ", "n": "ոпηɴΝ",
    "o": "оοօᴏОΟ", "p": "рρᴘРΡ", "q": "ԛգ", "r": "гᴦʀ", "s": "ѕꜱЅ", "t": "тτᴛТΤ", "u": "υսᴜ",
    "v": "νѵᴠ", "w": "ѡԝᴡ", "x": "хχХΧ", "y": "уүγʏУΥ", "z": "ᴢΖ",
    "/": "∕⁄╱⧸", "|": "∣｜│ǀ❘", "_": "▁ˍ", "[": "⟦【", "]": "⟧】", ":": "：∶ː꞉", "1": "١۱", "2": "٢۲",
}  # fmt: skip
_CONFUSED = {like: plain for plain, likes in (_ANGLES | _LETTERS).items() for like in likes}
# ASCII, Latin letters, typographic quotes, dashes, bullets and units: nothing in disguise.
_PLAIN = re.compile(
    "[\x00-\x7f\xa1-\xac\xae-\u017f\u2010-\u2015\u2018-\u2027\u2030-\u2033\u20ac\u2122\u2190-\u2193]*"
)
# Cheap signs of which a text has one wherever any pattern could match.
_SIGNS = ("<", "[", "&", "%3", "\\u00", "\\U00", "#", "\n\n")
_ROLE_FIRST = re.compile(rf"\s*(?:{_ROLES})", re.IGNORECASE)


@lru_cache(maxsize=REMEMBERED)
def neutralise(text: str) -> Neutralised:
    """Make tags, chat tokens and role headers in a text harmless, and drop hidden characters.

    The same text always gives the same result, and a second pass changes nothing. A text without
    such things comes back as it was.
    """
    if not _signs(text) and (text.isascii() or _PLAIN.fullmatch(text)):
        return Neutralised(text)
    if text.isascii():
        return _replace(text, [])
    flags: list[Flag] = []
    bare = _HIDDEN.sub("", text)
    if bare != text:
        flags.append(Flag.HIDDEN)
    return _replace(bare, flags)


def skeleton(text: str) -> str:
    """A text as a reader sees it: hidden characters dropped, look-alikes as plain small ASCII."""
    return _skeleton(text)[0]


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


def _signs(text: str) -> bool:
    return any(sign in text for sign in _SIGNS) or _ROLE_FIRST.match(text) is not None


def _replace(text: str, flags: list[Flag]) -> Neutralised:
    bones, places = _skeleton(text)
    spans: list[tuple[int, int, Flag]] = []
    for flag, pattern in _LIVE:
        spans += [(match.start(), match.end(), flag) for match in pattern.finditer(bones)]
    for match in _ROLE.finditer(bones):
        if _speaks(match[0], bones, match.start()):
            spans.append((match.start(), match.end(), Flag.ROLE))
    if not spans:
        return Neutralised(text, tuple(flags))
    return _spliced(text, bones, places, (sorted(spans), flags))


def _speaks(header: str, bones: str, start: int) -> bool:
    """Whether a role header opens a turn: a Markdown one, or one after an empty line or at the start."""
    return "#" in header or start == 0 or bones[max(0, start - 2) : start] == "\n\n"


def _spliced(
    text: str, bones: str, places: Sequence[int], found: tuple[list[tuple[int, int, Flag]], list[Flag]]
) -> Neutralised:
    spans, flags = found
    pieces, done = [], 0
    for start, end, flag in spans:
        first, last = places[start], places[end - 1] + 1
        if first < done:
            continue
        written = text[first:last]
        flags += [flag] if written.isascii() else [flag, Flag.DISGUISE]
        pieces += [text[done:first], _harmless(written if written.isascii() else bones[start:end], flag)]
        done = last
    return Neutralised("".join([*pieces, text[done:]]), tuple(dict.fromkeys(flags)))


def _harmless(token: str, flag: Flag) -> str:
    if flag is Flag.ROLE:
        role = token.strip(" #:\t")
        return f"{role} -"
    return f"({_BRACKETS.sub('', token)})"


def _skeleton(text: str) -> tuple[str, Sequence[int]]:
    """The skeleton and, for each of its characters, the place in the text that it came from."""
    if text.isascii():
        return text.lower(), range(len(text))
    if _PLAIN.fullmatch(text):
        return text.translate(_latin()).lower(), range(len(text))
    bones: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for plain in _plain(character):
            bones.append(plain)
            places.append(place)
    return "".join(bones), places


@cache
def _latin() -> dict[int, str]:
    """Plain letters of `_PLAIN`'s characters, one for one, so that places stay as they are."""
    letters = {code: _plain(chr(code)) for code in range(0x80, 0x2194) if _PLAIN.fullmatch(chr(code))}
    return {code: letter if len(letter) == 1 else chr(code) for code, letter in letters.items()}


@cache
def _plain(character: str) -> str:
    if character.isascii():
        return character.lower()
    if character in _DROPPED:
        return ""
    folded = unicodedata.normalize("NFKC", _CONFUSED.get(character, character))
    decomposed = unicodedata.normalize("NFD", folded.lower())
    return "".join(
        _CONFUSED.get(letter, letter) for letter in decomposed if not unicodedata.combining(letter)
    ).lower()
