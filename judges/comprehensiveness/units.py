"""Compare two physical quantities in whatever units they are written: a tool for LLMs and for code."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

TOLERANCE = 0.02
QUANTITY = re.compile(r"^\D*?(?P<number>-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)\s*(?P<unit>[^\d(;]*)")
BOUND_WORDS = re.compile(
    r"\b(?:about|around|approximately|approx|roughly|nearly|almost|some|circa|ca)\b\.?", re.IGNORECASE
)
UNUSABLE = re.compile(r"[^A-Za-z°µμ%/*^ 0-9-]")
PER_CENT = "%"


class Comparison(StrEnum):
    """How two quantities stand to each other."""

    EQUAL = "equal"
    SMALLER = "smaller"
    LARGER = "larger"
    INCOMPARABLE = "incomparable"


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison and a sentence that says what was compared, for an LLM to read."""

    comparison: Comparison
    text: str


def compare_quantities(first: str, second: str) -> Compared:
    """Compare two quantities after converting their units (Pint); rounding within 2 % is equal.

    Quantities that cannot be read or have different dimensions are incomparable.
    """
    a, b = _read(first), _read(second)
    if a is None or b is None or a.dimensionality != b.dimensionality:
        return Compared(Comparison.INCOMPARABLE, f"{first!r} and {second!r} cannot be compared.")
    left, right = (float(each.to_base_units().magnitude) for each in (a, b))
    if math.isclose(left, right, rel_tol=TOLERANCE):
        comparison = Comparison.EQUAL
    else:
        comparison = Comparison.SMALLER if left < right else Comparison.LARGER
    word = {Comparison.EQUAL: "equal to"}.get(comparison, f"{comparison.value} than")
    return Compared(comparison, f"{first} is {word} {second} ({left:g} and {right:g} in the same unit).")


@lru_cache(maxsize=1)
def _registry() -> Any:  # noqa: ANN401 - Pint's types are not exported
    import pint  # noqa: PLC0415 - takes a while to load and only some answers need it

    return pint.UnitRegistry(autoconvert_offset_to_baseunit=True)


@lru_cache(maxsize=1 << 12)
def _read(text: str) -> Any | None:  # noqa: ANN401 - as above
    import pint  # noqa: PLC0415 - as above

    match = QUANTITY.match(BOUND_WORDS.sub(" ", text).replace("\u2212", "-"))
    if match is None:
        return None
    unit = UNUSABLE.sub("", match["unit"]).strip().replace("°C", "degC").replace("°F", "degF")
    number = float(match["number"].replace(",", ""))
    try:
        return _registry().Quantity(number, unit.replace(PER_CENT, "percent") or "dimensionless")
    except (pint.errors.PintError, AttributeError, ValueError, TypeError, AssertionError):
        return None
