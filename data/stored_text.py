"""Text as every database can keep it."""

from __future__ import annotations

import json
import re

REPLACEMENT = "\ufffd"
_UNSTORABLE = re.compile("[\ud800-\udfff\x00]")
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


def storable(text: str) -> str:
    """The text with U+FFFD in place of lone surrogates, which UTF-8 has no form for, and of NUL characters.

    JSON may hold both: a model that is cut off within an emoji leaves half of a character pair.
    """
    if text.isascii() and "\x00" not in text:
        return text
    return _UNSTORABLE.sub(REPLACEMENT, text)


def json_text(value: object) -> str:
    """A JSON value as text that every database can keep, its texts made storable."""
    text = json.dumps(value)
    if "\\ud" not in text and "\\u0000" not in text:
        return text
    return _NUL.sub(rf"\1{REPLACEMENT}", storable(json.dumps(value, ensure_ascii=False)))
