"""What teams say of their systems in closed forms: open weights, number of parameters, day of release."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from types import MappingProxyType

WEIGHTS: Mapping[str, str] = MappingProxyType({"yes": "yes", "true": "yes", "no": "no", "false": "no"})
UNITS: Mapping[str, float] = MappingProxyType({"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12})
_PARAMETERS = re.compile(r"([0-9]{1,16}(?:\.[0-9]{1,6})?) ?([KMBT]?)", re.IGNORECASE)
_RELEASED = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
MOST_PARAMETERS = 1e16


def weights_of(text: str) -> str | None:
    """`yes` or `no` for what a card says of open weights; None where it is neither."""
    return WEIGHTS.get(text.casefold())


def parameters_of(text: str) -> float | None:
    """How many parameters `70B`, `7.5B`, `300M` or `124000000` are; None where it is no such number."""
    matched = _PARAMETERS.fullmatch(text)
    if matched is None:
        return None
    count = float(matched.group(1)) * UNITS[matched.group(2).upper()]
    return count if 0 < count <= MOST_PARAMETERS else None


def is_release(text: str) -> bool:
    """Whether a text is a year, a month or a day as in ISO 8601: such texts sort as their moments do."""
    matched = _RELEASED.fullmatch(text)
    if matched is None:
        return False
    year, month, day = matched.groups()
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return False
    return True
