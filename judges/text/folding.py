"""One form for the characters of a text."""

from __future__ import annotations

import re
import unicodedata

ACCENTS = re.compile("[\u0300-\u036f]")


def fold(text: str) -> str:
    """Return the text in one form: compatibility characters, case and accents removed."""
    if text.isascii():
        return text.lower()
    return ACCENTS.sub("", unicodedata.normalize("NFKD", text)).casefold()
