"""Our tags and chat tokens in untrusted text, sanitised in every disguise; the rest is untouched.

A text is read through its skeleton: hidden characters dropped, escapes undone, look-alike letters and
brackets as ASCII. What the skeleton shows to be one of our tags or a chat token is replaced in the text by
the same words in round brackets, `</answer 1>` by `(/answer 1)`. Honest HTML, code and `[1]` citations are
no such tokens and stay as they are, byte for byte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from data.steering.disguises import Flag, live_tokens, role_in
from data.steering.rules import skeleton_of

_PASSES = 4


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


@lru_cache(maxsize=4096)
def sanitise(text: str) -> Sanitised:
    """Sanitise tags, chat tokens and role headers in a text, and drop hidden characters.

    The same text always gives the same result, and a second pass changes nothing. A text without
    such things comes back as it was.
    """
    bare = _HIDDEN.sub("", text)
    flags = [Flag.HIDDEN] if bare != text else []
    # A removal may join what stood apart.
    for _ in range(_PASSES):
        read = skeleton_of(bare)
        spans = sorted(live_tokens(read.text))
        if not spans:
            break
        pieces, position = [], 0
        for start, end, token in spans:
            first, last = read.span(start, end)
            if first < position:
                continue
            written, folded = bare[first:last], read.text[start:end]
            flags += [token] if written.isascii() else [token, Flag.DISGUISE]
            visible = written if written.lower() == folded else folded
            harmless = f"({visible.translate(_BRACKETS)})"
            pieces += [bare[position:first], f"{role_in(visible)} -" if token is Flag.ROLE else harmless]
            position = last
        bare = "".join([*pieces, bare[position:]])
    return Sanitised(bare, tuple(dict.fromkeys(flags)))
