"""Shares as text."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.text import percent, percent_figure

ROOT = Path(__file__).parents[2]
OWN_WAY = re.compile(r"\.\d%\}|\{100 \* [^{}]*:\.\df\} %")


@pytest.mark.parametrize(
    ("share", "decimals", "text"),
    [
        (0.005, 0, "1 %"),
        (0.0005, 1, "0.1 %"),
        (0.0015, 1, "0.2 %"),
        (0.0025, 1, "0.3 %"),
        (0.025, 0, "3 %"),
        (0.125, 0, "13 %"),
        (0.285, 0, "29 %"),
        (0.12345, 1, "12.3 %"),
        (0.00049, 1, "0.0 %"),
        (-0.00049, 1, "0.0 %"),
        (-0.005, 0, "\u22121 %"),
        (1.0, 1, "100.0 %"),
        (None, 1, "–"),
    ],
)
def test_shares_are_rounded_half_away_from_zero(share: float | None, decimals: int, text: str) -> None:
    """A half is rounded up, as people do, whatever the float beneath; nought has no sign."""
    assert percent(share, decimals=decimals) == text


@given(st.integers(-100_000, 100_000), st.sampled_from([0, 1, 2]))
def test_rounding_is_that_of_decimal_figures(hundred_thousandths: int, decimals: int) -> None:
    """Every share of five places is rounded as its decimal figure is."""
    exact = (Decimal(hundred_thousandths) / 1_000).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    shown = percent_figure(hundred_thousandths / 100_000, decimals=decimals).replace("\u2212", "-")
    assert Decimal(shown) == exact


def test_nothing_rounds_shares_its_own_way() -> None:
    """Pages, commands, reports and exports take their per cent from one function."""
    for room in ("arena", "data", "judges", "leaderboard", "submissions"):
        for path in sorted((ROOT / room).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            assert not OWN_WAY.search(source), path
