from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.text.contradictions import ContradictionFinder
from judges.text.overlap import TermWeights
from judges.text.statements import quantities, read_statements


@pytest.mark.parametrize(
    ("text", "value", "dimension"),
    [
        ("Profit was -3 million dollars", -3e6, "count"),
        ("5 mW", 0.005, "power"),
        ("5 MW", 5e6, "power"),
        ("£3bn", 3e9, "money"),
        ("$5m", 5e6, "money"),
        ("US$5 million", 5e6, "money"),
        ("5bn people", 5e9, "count"),
        ("10,500 kg", 10_500_000, "mass"),
        ("10\u202f500 kg", 10_500_000, "mass"),
        ("10'000 people", 10_000, "count"),
        ("two hundred fifty people", 250, "count"),
        ("25 %", 25, "share"),
        ("2 thousand people", 2000, "count"),
    ],
)
def test_quantity_is_as_written(text: str, value: float, dimension: str) -> None:
    found = quantities(text)
    assert [each.dimension for each in found] == [dimension]
    assert found[0].value == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize(
    ("ground_truth", "statement", "contradicts"),
    [
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
    known, said = read_statements(ground_truth), read_statements(statement)
    finder = ContradictionFinder(known, TermWeights.fit([each.terms for each in known]))
    assert bool(finder.find(said[0])) is contradicts


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert all(found.start >= 0 for found in quantities(text))
