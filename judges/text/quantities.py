"""Find the numbers of a text with their units, and tell whether two of them say the same.

Only what is needed to notice that two statements give different figures for one thing: values in one
unit a dimension, years, percentages, money, and counts with the word they count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from judges.text.folding import fold
from judges.text.numbers import NUMBER_WORDS, SCALES
from judges.text.tokens import is_content, stem

UNITS: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        alias: (dimension, factor)
        for dimension, entries in {
            "length": {
                "nm nanometre nanometer": 1e-9,
                "µm μm um micron micrometre micrometer": 1e-6,
                "mm millimetre millimeter": 1e-3,
                "cm centimetre centimeter": 1e-2,
                "m metre meter": 1.0,
                "km kilometre kilometer": 1e3,
                "inch": 0.0254,
                "ft foot feet": 0.3048,
                "yd yard": 0.9144,
                "mi mile": 1609.344,
                "nmi": 1852.0,
                "ly lightyear": 9.4607e15,
            },
            "mass": {
                "µg μg mcg microgram": 1e-6,
                "mg milligram": 1e-3,
                "g gram gramme": 1.0,
                "kg kilogram kilo kilogramme": 1e3,
                "t tonne ton": 1e6,
                "lb lbs pound": 453.592,
                "oz ounce": 28.3495,
            },
            "time": {
                "ns nanosecond": 1e-9,
                "µs μs microsecond": 1e-6,
                "ms millisecond": 1e-3,
                "s sec second": 1.0,
                "min minute": 60.0,
                "h hr hour": 3600.0,
                "day": 86400.0,
                "week": 604800.0,
                "month": 2629800.0,
                "yr year": 31557600.0,
                "decade": 315576000.0,
                "century centuries": 3155760000.0,
            },
            "temperature": {"°c celsius centigrade": 1.0, "°f fahrenheit": 5 / 9, "k kelvin": 1.0},
            "volume": {
                "ml millilitre milliliter": 1e-3,
                "cl centilitre centiliter": 1e-2,
                "dl decilitre deciliter": 0.1,
                "l litre liter": 1.0,
                "gallon": 3.78541,
                "pint": 0.473176,
                "cup": 0.24,
                "tablespoon tbsp": 0.015,
                "teaspoon tsp": 0.005,
            },
            "area": {"hectare ha": 1e4, "acre": 4046.86},
            "speed": {"mph": 0.44704, "kph km/h": 1 / 3.6, "m/s": 1.0, "km/s": 1e3, "knot": 0.514444},
            "frequency": {"hz hertz": 1.0, "khz kilohertz": 1e3, "mhz megahertz": 1e6, "ghz gigahertz": 1e9},
            "power": {"w watt": 1.0, "kw kilowatt": 1e3, "mw megawatt": 1e6, "gw gigawatt": 1e9},
            "energy": {"j joule": 1.0, "kj": 1e3, "kcal calorie": 4184.0, "wh": 3600.0, "kwh": 3.6e6},
            "voltage": {"v volt": 1.0, "kv kilovolt": 1e3, "mv millivolt": 1e-3},
            "data": {
                "bit": 0.125,
                "byte": 1.0,
                "kb kilobyte": 1e3,
                "mb megabyte": 1e6,
                "gb gigabyte": 1e9,
                "tb terabyte": 1e12,
            },
            "share": {"% percent percentage": 1.0},
            "money": {"$ dollar usd": 1.0, "€ euro eur": 1.0, "£ gbp": 1.0},
            "angle": {"° degree": 1.0},
        }.items()
        for aliases, factor in entries.items()
        for alias in aliases.split()
    }
)
WORDS = "|".join(sorted(set(NUMBER_WORDS) - {"one", "zero"}, key=len, reverse=True))
SCALE = "|".join(SCALES)
MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    "oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
NUMBER = re.compile(
    r"(?<![\w.])(?P<currency>[$€£]\s?)?(?:(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)|"
    rf"(?P<word>(?:(?:one|a) (?:{SCALE})|{WORDS})\b(?:[-\s](?:{WORDS}|{SCALE})\b)*))"
)
SCALED = re.compile(rf"[\s-]?({SCALE})\b")
RANGE = re.compile(r"\s?(?:to|and|or|-|–)\s?")
DAY_BEFORE_MONTH = re.compile(rf"\s(?:of )?(?:{MONTHS})\b")
DAY_AFTER_MONTH = re.compile(rf"\b(?:{MONTHS})\s$")
CITATION = re.compile(
    r"\([^()]{0,80}?\b(?:et al|[^\W\d_]{1,30},)[^()]{0,80}?\b(?:1[89]|20)\d\d[a-z]?[^()]{0,80}\)"
)
UNIT = re.compile(r"[\s\-\u00a0]{0,2}(°\s?[cf]\b|%|°|(?:k?m/[sh])\b|[µμ]?[^\W\d_]+)")
LONGEST_MONTH = 11
FIRST_YEAR, LAST_YEAR, LAST_DAY = 1000, 2100, 31
FAHRENHEIT_ZERO, KELVIN_ZERO = 32.0, 273.15
CACHED_TEXTS = 1 << 13
CACHED_WORDS = 1 << 15


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as a statement uses it.

    Attributes:
        value: In the base unit of its dimension.
        figure: The plain number, scale words applied.
        dimension: `length`, `time`, `share`, …; `year` for years; `count` where no unit is known.
        noun: For a count, the stem of the word it counts; else empty.
        text: As written.
        start: Where it begins in the text.
    """

    value: float
    figure: float
    dimension: str
    noun: str
    text: str
    start: int


@lru_cache(maxsize=CACHED_TEXTS)
def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text in order; ordinals, citations and version numbers are left out."""
    folded = fold(text)
    if "(" in folded:
        folded = CITATION.sub(lambda cited: " " * len(cited[0]), folded)
    return tuple(_quantity(folded, match) for match in NUMBER.finditer(folded) if _counts(folded, match))


@lru_cache(maxsize=CACHED_WORDS)
def is_unit(word: str) -> bool:
    """Whether a folded word is a unit of measure that is spelt out or has two letters at least."""
    return len(word) > 1 and (word in UNITS or word.removesuffix("s") in UNITS)


def _counts(text: str, match: re.Match[str]) -> bool:
    """Whether a match is a number in its own right: no ordinal, citation or part of a name."""
    after = text[match.end() : match.end() + 2]
    if match["digits"] and (after in {"st", "nd", "rd", "th"} or re.match(r"\.\d", after)):
        return False
    return not (text[match.start() - 1 : match.start()] == "[" and after[:1] in {"]", ","})


def _quantity(text: str, match: re.Match[str]) -> Quantity:
    value, end = _value(text, match)
    unit, shown_to = _unit(text, end)
    upper = NUMBER.match(text, between.end()) if (between := RANGE.match(text, end)) else None
    if upper and unit is None:
        _, upper_end = _value(text, upper)
        scale = SCALED.search(text, upper.start(), upper_end)
        value *= SCALES[scale[1]] if scale and value < SCALES[scale[1]] else 1.0
        unit, _ = _unit(text, upper_end)
        end = upper_end
    written = text[match.start() : shown_to].strip()
    if match["currency"]:
        return Quantity(value, value, "money", "", written, match.start())
    if unit:
        return Quantity(_in_base(value, unit), value, UNITS[unit][0], "", written, match.start())
    return Quantity(value, value, *_unmeasured(text, match, value, end), written, match.start())


def _value(text: str, match: re.Match[str]) -> tuple[float, int]:
    """The value of a number with the scale word after it, and where that ends."""
    if not match["digits"]:
        return _worded(match["word"].removeprefix("one ").removeprefix("a ")), match.end()
    value = float(match["digits"].replace(",", ""))
    scale = SCALED.match(text, match.end())
    return (value * SCALES[scale[1]], scale.end()) if scale else (value, match.end())


def _unit(text: str, at: int) -> tuple[str | None, int]:
    """The known unit that begins at a place, and where it ends."""
    match = UNIT.match(text, at)
    name = match[1].replace(" ", "") if match else ""
    decade = name == "s" and match is not None and match.end() == at + 1 and text[at - 1 : at] == "0"
    for singular in () if decade else (name, name.removesuffix("s")):
        if match and singular in UNITS:
            return singular, match.end()
    return None, at


def _unmeasured(text: str, match: re.Match[str], value: float, end: int) -> tuple[str, str]:
    """The dimension of a number without a unit, and the stem of what it counts."""
    near_month = DAY_BEFORE_MONTH.match(text, match.end()) or DAY_AFTER_MONTH.search(
        text[max(0, match.start() - LONGEST_MONTH) : match.start()]
    )
    if near_month and value <= LAST_DAY:
        return "day of a month", ""
    if match["digits"] and value.is_integer() and FIRST_YEAR <= value <= LAST_YEAR and "," not in match[0]:
        return "year", ""
    following = UNIT.match(text, end)
    name = following[1] if following else ""
    return "count", stem(name) if name and is_content(name) else ""


def _worded(text: str) -> float:
    """The value of a number written in words: `two hundred`, `forty-five`."""
    total = current = 0.0
    for word in re.split(r"[-\s]+", text):
        if word not in SCALES:
            current += NUMBER_WORDS[word]
        elif word == "hundred":
            current = max(current, 1.0) * SCALES[word]
        else:
            total, current = total + max(current, 1.0) * SCALES[word], 0.0
    return total + current


def _in_base(value: float, unit: str) -> float:
    if UNITS[unit][0] != "temperature":
        return value * UNITS[unit][1]
    if unit in {"°f", "fahrenheit"}:
        return (value - FAHRENHEIT_ZERO) * UNITS[unit][1]
    return value - KELVIN_ZERO if unit in {"k", "kelvin"} else value
