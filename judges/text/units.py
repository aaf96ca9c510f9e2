"""Units of measure as texts write them: symbols in their own case (mW, MW), names in any.

A closed list, whose factors are Pint's (a test compares them): Pint itself reads whatever it can, and takes
"a" for a year, "us" for a microsecond and "cats" for hundredths of an atmosphere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType

# Dimension to symbols (or names) with their factor; the base unit of a dimension has 1.
_SYMBOLS: Mapping[str, Mapping[str, float]] = {
    "length": {"nm": 1e-9, "µm μm um": 1e-6, "mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, "nmi": 1852.0}
    | {"ft": 0.3048, "yd": 0.9144, "mi": 1609.344, "ly": 9.4607e15},
    "mass": {"µg μg mcg": 1e-6, "mg": 1e-3, "g": 1.0, "kg": 1e3, "t": 1e6, "lb lbs": 453.592, "oz": 28.3495},
    "time": {"ns": 1e-9, "µs μs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h hr": 3600.0, "yr": 31557600.0},
    "temperature": {"°C ℃": 1.0, "°F ℉": 5 / 9, "K": 1.0},
    "volume": {"ml mL": 1e-3, "cl cL": 1e-2, "dl dL": 0.1, "l L": 1.0, "tbsp": 0.015, "tsp": 0.005},
    "area": {"ha": 1e4},
    "speed": {"mph": 0.44704, "kph km/h": 1 / 3.6, "m/s": 1.0, "km/s": 1e3},
    "frequency": {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9},
    "power": {"µW μW": 1e-6, "mW": 1e-3, "W": 1.0, "kW": 1e3, "MW": 1e6, "GW": 1e9, "TW": 1e12},
    "energy": {"mJ": 1e-3, "J": 1.0, "kJ": 1e3, "MJ": 1e6, "GJ": 1e9, "kcal": 4184.0}
    | {"Wh": 3600.0, "kWh": 3.6e6, "MWh": 3.6e9, "GWh": 3.6e12, "TWh": 3.6e15},
    "voltage": {"µV μV": 1e-6, "mV": 1e-3, "V": 1.0, "kV": 1e3, "MV": 1e6},
    "data": {
        "kbit": 125.0,
        "Mbit Mb": 1.25e5,
        "Gbit Gb": 1.25e8,
        "kB KB": 1e3,
        "MB": 1e6,
        "GB": 1e9,
        "TB": 1e12,
    },
    "share": {"%": 1.0},
    "money": {"$ € £ ¥ ₹ USD EUR GBP": 1.0},
    "angle": {"°": 1.0},
}
_NAMES: Mapping[str, Mapping[str, float]] = {
    "length": {
        "nanometre nanometer": 1e-9,
        "micron micrometre micrometer": 1e-6,
        "millimetre millimeter": 1e-3,
    }
    | {"centimetre centimeter": 1e-2, "metre meter": 1.0, "kilometre kilometer": 1e3, "inch inches": 0.0254}
    | {"foot feet": 0.3048, "yard": 0.9144, "mile": 1609.344, "lightyear": 9.4607e15},
    "mass": {"microgram": 1e-6, "milligram": 1e-3, "gram gramme": 1.0, "kilogram kilo kilogramme": 1e3}
    | {"tonne ton": 1e6, "pound": 453.592, "ounce": 28.3495},
    "time": {"nanosecond": 1e-9, "microsecond": 1e-6, "millisecond": 1e-3, "sec second": 1.0, "minute": 60.0}
    | {"hour": 3600.0, "day": 86400.0, "week": 604800.0, "month": 2629800.0, "year": 31557600.0}
    | {"decade": 315576000.0, "century centuries": 3155760000.0},
    "temperature": {"celsius centigrade": 1.0, "fahrenheit": 5 / 9, "kelvin": 1.0},
    "volume": {"millilitre milliliter": 1e-3, "centilitre centiliter": 1e-2, "decilitre deciliter": 0.1}
    | {
        "litre liter": 1.0,
        "gallon": 3.78541,
        "pint": 0.473176,
        "cup": 0.24,
        "tablespoon": 0.015,
        "teaspoon": 0.005,
    },
    "area": {"hectare": 1e4, "acre": 4046.86},
    "speed": {"knot": 0.514444},
    "frequency": {"hertz": 1.0, "kilohertz": 1e3, "megahertz": 1e6, "gigahertz": 1e9},
    "power": {"milliwatt": 1e-3, "watt": 1.0, "kilowatt": 1e3, "megawatt": 1e6, "gigawatt": 1e9},
    "energy": {"joule": 1.0, "kilojoule": 1e3, "megajoule": 1e6, "calorie": 4184.0, "kilowatt-hour": 3.6e6},
    "voltage": {"millivolt": 1e-3, "volt": 1.0, "kilovolt": 1e3},
    "data": {"bit": 0.125, "byte": 1.0, "kb kilobyte": 1e3, "mb megabyte": 1e6, "gb gigabyte": 1e9}
    | {"tb terabyte": 1e12},
    "share": {"percent percentage": 1.0},
    "money": {"dollar euro yen rupee": 1.0},
    "angle": {"degree": 1.0},
}
SCALES: Mapping[str, float] = MappingProxyType(
    {
        "bn": 1e9,
        "mn": 1e6,
        "mln": 1e6,
        "mio": 1e6,
        "tn": 1e12,
        "trn": 1e12,
        "m": 1e6,
        "k": 1e3,
        "b": 1e9,
        "t": 1e12,
    }
)
"""What the letters after a sum mean: £3bn, $5m."""
FAHRENHEIT_ZERO, KELVIN_ZERO = 32.0, 273.15

Unit = tuple[str, float, float]
"""A dimension, the factor to its base unit, and the value that is 0 there."""


def _read(table: Mapping[str, Mapping[str, float]]) -> dict[str, Unit]:
    return {
        word: (dimension, factor, _zero(word))
        for dimension, entries in table.items()
        for written, factor in entries.items()
        for word in written.split()
    }


def _zero(unit: str) -> float:
    return {
        **dict.fromkeys(("°F", "℉", "fahrenheit"), FAHRENHEIT_ZERO),
        **dict.fromkeys(("K", "kelvin"), KELVIN_ZERO),
    }.get(unit, 0.0)


SYMBOLS: Mapping[str, Unit] = MappingProxyType(_read(_SYMBOLS))
NAMES: Mapping[str, Unit] = MappingProxyType(_read(_NAMES))


def _in_any_case() -> dict[str, Unit]:
    """Symbols of two letters and more whose case decides nothing: khz, KM, but not mw."""
    found: defaultdict[str, set[Unit]] = defaultdict(set)
    for symbol, unit in SYMBOLS.items():
        found[symbol.casefold()].add(unit)
    return {word: units.pop() for word, units in found.items() if len(units) == 1 and len(word) > 1}


_ANY_CASE = MappingProxyType(_in_any_case())


def unit_of(word: str) -> Unit | None:
    """The unit that a word names, singular or plural; None where it names none, or two by its case."""
    symbol = SYMBOLS.get(word)
    if symbol is not None:
        return symbol
    folded = word.casefold()
    for form in (folded, folded.removesuffix("s")):
        found = NAMES.get(form) or _ANY_CASE.get(form)
        if found is not None:
            return found
    return None
