"""What a text looks like to a reader: look-alikes of every script as one form (Unicode, UTS #39)."""

from __future__ import annotations

_MERGED = str.maketrans({"i": "l"})


def confusable_skeleton(text: str) -> str:
    """The same key for all texts that a reader could take for one another, whatever their case.

    Hidden characters are dropped, runs of spaces are one space, and punctuation stays. A capital I looks
    like a small l and folds to a small i, so the three are one letter, and so is the digit 1; 0 is O; rn
    is m. The key is for comparing, never for showing.

    Source: Unicode Technical Standard #39, section 4.
    """
    from disarm import skeleton_key  # noqa: PLC0415 - the store needs it for new names alone

    key = skeleton_key(text, digit_policy="tr39").translate(_MERGED)
    return key.replace("rn", "m")


def look_of(character: str) -> str:
    """The Latin letters, digits or signs that a character looks like; itself where there are none."""
    from disarm import normalize_confusables  # noqa: PLC0415 - as above

    return normalize_confusables(character)
