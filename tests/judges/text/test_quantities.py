"""Quantities: sign, case, fractions, powers of ten, thousands; factors as Pint has them."""

from __future__ import annotations

import pint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.text.contradictions import ContradictionFinder
from judges.text.quantities import quantities
from judges.text.statements import read_statements
from judges.text.term_weights import TermWeights
from judges.text.units import NAMES, SYMBOLS, unit_of

YEAR = 31_557_600


@pytest.mark.parametrize(
    ("text", "value", "dimension"),
    [
        ("The low was -5 °C.", -5, "temperature"),
        ("The low was \u22125 °C.", -5, "temperature"),
        ("minus five degrees Celsius", -5, "temperature"),
        ("Profit was -3 million dollars", -3e6, "money"),
        ("a loss of -$5 million", -5e6, "money"),
        ("a loss of $\u22125 million", -5e6, "money"),
        ("5 mW", 0.005, "power"),
        ("5 MW", 5e6, "power"),
        ("5 mJ", 0.005, "energy"),
        ("£3bn", 3e9, "money"),
        ("$5m", 5e6, "money"),
        ("$5 million", 5e6, "money"),
        ("US$5m", 5e6, "money"),
        ("€2.5 bn", 2.5e9, "money"),
        ("$100K", 1e5, "money"),
        ("5 m people", 5e6, "count"),
        ("5bn people", 5e9, "count"),
        ("5 m high", 5, "length"),
        ("10,5 kg", 10_500, "mass"),
        ("10,500 kg", 10_500_000, "mass"),
        ("0,125 kg", 125, "mass"),
        ("10\u202f500 kg", 10_500_000, "mass"),
        ("20 200 km", 20_200_000, "length"),
        ("10'000 people", 10_000, "count"),
        ("1,00,000 people", 100_000, "count"),
        ("1.234.567 people", 1_234_567, "count"),
        ("3 × 10^8 m/s", 3e8, "speed"),
        ("3 x 10⁸ m/s", 3e8, "speed"),
        ("3·10\u207b\u00b3 kg", 3, "mass"),
        ("3e8 m/s", 3e8, "speed"),
        ("10^8 years", 1e8 * YEAR, "time"),
        ("1/2 cup", 0.12, "volume"),
        ("1 1/2 cups", 0.36, "volume"),
        ("½ cup", 0.12, "volume"),
        ("2½ cups", 0.6, "volume"),
        ("twenty twenty-four", 2024, "year"),
        ("nineteen eighty-four", 1984, "year"),
        ("two and a half years", 2.5 * YEAR, "time"),
        ("2 and a half million people", 2.5e6, "count"),
        ("half a million people", 5e5, "count"),
        ("two hundred and fifty people", 250, "count"),
        ("10 km²", 1e7, "area"),
        ("10 km2", 1e7, "area"),
        ("10 square kilometres", 1e7, "area"),
        ("2 m³", 2000, "volume"),
        ("100 km per hour", 100 / 3.6, "speed"),
        ("98.6 degrees Fahrenheit", 37, "temperature"),
        ("300 K", 26.85, "temperature"),
        ("5 Gb", 6.25e8, "data"),
        ("2 thousand people", 2000, "count"),
    ],
)
def test_a_quantity_is_what_is_written(text: str, value: float, dimension: str) -> None:
    """Sign, case, fraction, power of ten, marks of thousands and letters of sums are part of the figure."""
    found = quantities(text)
    assert [each.dimension for each in found] == [dimension]
    assert found[0].value == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("5-10 days", [5 * 86_400, 10 * 86_400]),
        ("between 1990 -1995", [1990, 1995]),
        ("COVID-19", [19]),
        ("the 9/11 attacks", [9, 11]),
        ("open 24/7", [24, 7]),
        ("on 1/2/2020", [1, 2, 2020]),
        ("two hundred and three hundred people", [200, 300]),
        ("in 2019 300 people", [2019, 300]),
        ("$10,000, or £5,000.", [10_000, 5_000]),
        ("-10 to -5 °C", [-10, -5]),
    ],
)
def test_what_looks_alike_is_not_taken_for_one(text: str, values: list[float]) -> None:
    """Ranges, dates, names and lists keep their numbers apart."""
    assert [each.value for each in quantities(text)] == pytest.approx(values)


@pytest.mark.parametrize(
    ("ground_truth", "statement", "contradicts"),
    [
        (
            "The coldest night at the station reached -5 °C.",
            "The coldest night at the station reached 5 °C.",
            True,
        ),
        ("The laser pointer sold there has 5 mW.", "The laser pointer sold there has 5 MW.", True),
        ("The company lost $5m on the project.", "The company lost $5 million on the project.", False),
        (
            "The company earned £3bn from the project.",
            "The company earned £3 billion from the project.",
            False,
        ),
        ("The company earned £3bn from the project.", "The company earned £3 from the project.", True),
    ],
)
def test_the_judge_contradicts_by_what_is_written(
    ground_truth: str, statement: str, *, contradicts: bool
) -> None:
    """Another sign, prefix or scale is a contradiction; another way to write one figure is none."""
    known, said = read_statements(ground_truth), read_statements(statement)
    finder = ContradictionFinder(known, TermWeights.fit([ground_truth]))
    assert bool(finder.find(said[0])) is contradicts


def test_factors_are_pints() -> None:
    """Every unit that Pint knows has Pint's factor."""
    registry: pint.UnitRegistry[float] = pint.UnitRegistry(autoconvert_offset_to_baseunit=True)
    base = {
        "length": "m",
        "mass": "g",
        "time": "s",
        "volume": "l",
        "area": "m^2",
        "frequency": "1/s",
        "power": "W",
        "energy": "J",
        "voltage": "V",
        "data": "byte",
    }
    # Chosen otherwise in print (a cup of recipes, a food calorie), or letters that Pint reads otherwise.
    other = {
        "cup",
        "calorie",
        "ton",
        "kilo",
        "tbsp",
        "tsp",
        "tablespoon",
        "teaspoon",
        "Mb",
        "Gb",
        "KB",
        "kb",
        "mb",
        "gb",
        "tb",
    }
    compared = 0
    for word, (dimension, factor, _) in {**SYMBOLS, **NAMES}.items():
        if dimension not in base or word in other:
            continue
        try:
            theirs = registry.Quantity(1.0, word).to(base[dimension]).magnitude
        except (pint.errors.PintError, TypeError):
            continue
        assert theirs == pytest.approx(factor, rel=1e-3), word
        compared += 1
    assert compared > 80


def test_case_tells_units_apart() -> None:
    """What only its case tells from another unit is none in a third case."""
    assert unit_of("mw") is None
    assert unit_of("KHZ") == unit_of("kHz")


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    """No text makes the reader fail, and every quantity begins within it."""
    assert all(found.start >= 0 for found in quantities(text))
