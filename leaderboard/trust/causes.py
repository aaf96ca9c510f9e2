"""What differs between two verdicts of a judge on one battle, and words for it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from data.percent import percent


class Cause(StrEnum):
    """What differs between two verdicts on one battle, beside chance."""

    SAME = "same-request"
    ORDER = "other-order"
    WORDING = "other-wording"
    DAY = "other-day"


CAUSES: Mapping[Cause, str] = {
    Cause.SAME: "the same request",
    Cause.ORDER: "the other order",
    Cause.WORDING: "other words",
    Cause.DAY: "another day",
}


def share_text(share: Mapping[str, Any]) -> str:
    """A changed share with its interval."""
    if share["share"] is None:
        return "nothing compared"
    lower, upper = 100 * share["lower"], 100 * share["upper"]
    return f"{percent(share['share'])}, {lower:.1f}–{upper:.1f} %"
