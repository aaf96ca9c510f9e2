"""A share as text, the one way in which pages, commands, reports and exports say it."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

MINUS = "\u2212"


def percent(share: float | None, *, decimals: int = 1, signed: bool = False) -> str:
    """A share in per cent, rounded half away from zero: 0.0005 is 0.1 %; a dash where there is none.

    `signed` puts a plus before what is not negative. The share is read as it is written: 0.0015, which a
    float holds a little below, is 0.2 %.
    """
    if share is None:
        return "–"
    figure = percent_figure(share, decimals=decimals)
    return f"{'+' if signed and not figure.startswith(MINUS) else ''}{figure} %"


def percent_figure(share: float, *, decimals: int = 1) -> str:
    """The same without the sign for per cent, as the lower end of an interval has it."""
    exact = Decimal(repr(float(share)))
    if not exact.is_finite():
        return str(exact)
    rounded = exact.scaleb(2).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return f"{abs(rounded) if rounded.is_zero() else rounded:f}".replace("-", MINUS)
