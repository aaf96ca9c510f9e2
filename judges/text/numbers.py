"""Numbers written as words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from judges.text.lexicon import TENS, UNITS

NUMBER_WORDS: Mapping[str, float] = MappingProxyType(
    {word: float(value) for value, word in enumerate(UNITS.split())}
    | {word: 10.0 * place for place, word in enumerate(TENS.split(), start=2)}
    | {"dozen": 12.0, "half": 0.5}
)
SCALES: Mapping[str, float] = MappingProxyType(
    {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
)
