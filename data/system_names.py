"""Names of systems, as readers tell them apart: no two of a set may look alike."""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from functools import lru_cache
from types import MappingProxyType

RESERVED = (
    *("all", "anonymous", "both", "both-bad", "bothbad", "human", "model_a", "model_b", "n/a", "na"),
    *("nan", "none", "null", "overall", "people", "reference", "tie", "unknown"),
)
"""Names that tables, files of battles and pages use for something else."""
_UNSAFE = re.compile(rb"[^A-Za-z0-9._+-]")


def confusable_skeleton(text: str) -> str:
    """Return the same key for all texts that a reader could take for one another, whatever their case.

    Hidden characters are dropped, runs of spaces are one space, and punctuation stays. A capital I looks
    like a small l and folds to a small i, so the three are one letter, and so is the digit 1; 0 is O; rn
    is m. The key is for comparing, never for showing.

    Source: Unicode Technical Standard #39, section 4.
    """
    from disarm import skeleton_key  # noqa: PLC0415 - the store needs it for new names alone

    return skeleton_key(text, digit_policy="tr39").replace("i", "l").replace("rn", "m")


def file_name_of(name: str) -> str:
    """Return a name as it stands in file names and addresses; no two names have one.

    Letters, digits, `.`, `_`, `+` and `-` stay; every other byte of UTF-8 is `~` and two hexadecimal digits.
    """
    return _UNSAFE.sub(lambda match: b"~%02X" % match.group()[0], name.encode()).decode()


@lru_cache(4_096)
def name_key(name: str) -> str:
    """Return one key for names that look alike: case, look-alikes and outer punctuation are folded.

    Inner punctuation does: `1.5` is not `15`.
    """
    key = confusable_skeleton(name)
    outer = "".join(sign for sign in key if not sign.isalnum())
    return key.strip(outer) or key


def look_alike(name: str, names: Iterable[str]) -> str | None:
    """Return the first of some names that looks like this one; None where none does."""
    key = name_key(name)
    return next((other for other in names if name_key(other) == key), None)


WEIGHTS: Mapping[str, str] = MappingProxyType({"yes": "yes", "true": "yes", "no": "no", "false": "no"})
UNITS: Mapping[str, float] = MappingProxyType({"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12})
_PARAMETERS = re.compile(r"([0-9]{1,16}(?:\.[0-9]{1,6})?) ?([KMBT]?)", re.IGNORECASE)
_RELEASED = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
MOST_PARAMETERS = 1e16


def weights_of(text: str) -> str | None:
    """`yes` or `no` for what a card says of open weights; None where it is neither."""
    return WEIGHTS.get(text.casefold())


def parameters_of(text: str) -> float | None:
    """Parse a number of parameters such as `70B`, `7.5B`, `300M` or `124000000`; None for anything else."""
    matched = _PARAMETERS.fullmatch(text)
    if matched is None:
        return None
    count = float(matched.group(1)) * UNITS[matched.group(2).upper()]
    return count if 0 < count <= MOST_PARAMETERS else None


def is_release(text: str) -> bool:
    """Return whether a text is a year, a month or a day as in ISO 8601: such texts sort by time."""
    matched = _RELEASED.fullmatch(text)
    if matched is None:
        return False
    year, month, day = matched.groups()
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return False
    return True
