"""Names and cards of systems; names in a set must not look alike."""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from functools import lru_cache
from types import MappingProxyType

RESERVED = (
    *("all", "anonymous", "both", "both-bad", "bothbad", "human", "model_a", "model_b", "n/a", "na"),
    *("nan", "none", "null", "overall", "people", "reference", "tie", "unknown"),
)
"""Names with a meaning in tables, files of battles and pages."""
_UNSAFE = re.compile(rb"[^A-Za-z0-9._+-]")


def confusable_skeleton(text: str) -> str:
    """Return a key that is equal for texts that look alike in any case; only for comparison.

    Hidden characters are dropped, runs of spaces are one space, and punctuation is kept. I, i, l and 1 are
    equal, and so are 0 and O, and rn and m.

    Source: Unicode Technical Standard #39, section 4.
    """
    from disarm import skeleton_key  # noqa: PLC0415 - only needed for new names

    return skeleton_key(text, digit_policy="tr39").replace("i", "l").replace("rn", "m")


def file_name_of(name: str) -> str:
    """Escape a name, uniquely, for file names and URLs.

    Letters, digits, `.`, `_`, `+` and `-` are kept; other bytes of UTF-8 are `~` and two hexadecimal digits.
    """
    return _UNSAFE.sub(lambda match: b"~%02X" % match.group()[0], name.encode()).decode()


@lru_cache(4_096)
def name_key(name: str) -> str:
    """Return an equal key for names that look alike: case, look-alikes and outer punctuation are ignored.

    Inner punctuation counts: `1.5` is not `15`.
    """
    key = confusable_skeleton(name)
    outer = "".join(sign for sign in key if not sign.isalnum())
    return key.strip(outer) or key


def look_alike(name: str, names: Iterable[str]) -> str | None:
    """Return the first of the names that looks like this one, or None."""
    key = name_key(name)
    return next((other for other in names if name_key(other) == key), None)


WEIGHTS: Mapping[str, str] = MappingProxyType({"yes": "yes", "true": "yes", "no": "no", "false": "no"})
UNITS: Mapping[str, float] = MappingProxyType({"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12})
_PARAMETERS = re.compile(r"([0-9]{1,16}(?:\.[0-9]{1,6})?) ?([KMBT]?)", re.IGNORECASE)
_RELEASED = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
MAX_PARAMETERS = 1e16


def weights_of(text: str) -> str | None:
    """Parse a card's value for open weights to `yes` or `no`; None for anything else."""
    return WEIGHTS.get(text.casefold())


def parameters_of(text: str) -> float | None:
    """Parse a number of parameters such as `70B`, `7.5B`, `300M` or `124000000`; None for anything else."""
    matched = _PARAMETERS.fullmatch(text)
    if matched is None:
        return None
    count = float(matched.group(1)) * UNITS[matched.group(2).upper()]
    return count if 0 < count <= MAX_PARAMETERS else None


def is_release(text: str) -> bool:
    """Return whether a text is a year, a month or a day in ISO 8601."""
    matched = _RELEASED.fullmatch(text)
    if matched is None:
        return False
    year, month, day = matched.groups()
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return False
    return True
