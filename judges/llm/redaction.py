"""Redaction of API keys in replies and errors before they are stored or displayed."""

import base64
import re
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from data.models import Reply

HIDDEN = "***"
MIN_SECRET = 8
"""Shorter keys are placeholders such as `none`."""
MIN_PART = 16
"""Minimum length of a key that is recognised by its first or last three quarters."""
NAMES = tuple(field.name for field in fields(Reply) if field.name not in {"key", "endpoint", "model"})


class Redaction:
    """Hides keys, even in other letter case, in base64, or without their first or last characters."""

    def __init__(self, keys: Iterable[str]) -> None:
        parts = [part for key in keys if len(key) >= MIN_SECRET for part in _parts(key)]
        ordered = sorted(set(parts), key=len, reverse=True)
        self._pattern = re.compile("|".join(ordered), re.IGNORECASE) if ordered else None

    def text(self, text: str) -> str:
        """Return a text without keys."""
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def reply(self, reply: Reply) -> Reply:
        """Return a reply without keys; changes also drop log probabilities, which spell the key."""
        if self._pattern is None:
            return reply
        texts = {name: value for name in NAMES if isinstance(value := getattr(reply, name), str)}
        changed: dict[str, Any] = {
            name: new for name, text in texts.items() if (new := self.text(text)) != text
        }
        if "text" in changed:
            changed["logprobs"] = None
        return replace(reply, **changed) if changed else reply


def _parts(key: str) -> Iterable[str]:
    size = len(key) * 3 // 4 if len(key) >= MIN_PART else len(key)
    rest = f"[\\w+/=-]{{0,{len(key)}}}"
    yield f"{re.escape(key[:size])}{rest}"
    yield re.escape(key[-size:])
    for shift in range(3):
        # Base64 spells the same bytes in three ways, depending on their offset; the ends depend on
        # neighbours.
        spelling = base64.b64encode(b" " * shift + key.encode()).decode()[2 * shift :].rstrip("=")
        yield f"{re.escape(spelling[: max(MIN_SECRET, len(spelling) * 3 // 4)])}{rest}"
