"""How people label, as services, routes and commands give it."""

from __future__ import annotations

from pydantic import Field

from arena.models.base import LOWER, UPPER, Value


class EstimateLine(Value):
    """A number with its 95 % interval; null where too little is labelled."""

    value: float | None
    lower: float | None = Field(None, validation_alias=LOWER)
    upper: float | None = Field(None, validation_alias=UPPER)


class PersonLine(Value):
    """How one person labels."""

    name: str
    labelled: int
    skipped: int
    seconds: float | None = Field(description="Median time of a label.")
    agreement: float | None = Field(
        description="Share of others' labels of the same items that say the same."
    )
    compared: int
    alpha: EstimateLine
    gold_seen: int
    gold_passed: int
    gold_rate: float | None
    excluded_reason: str | None = Field(description="Why their labels do not count; null where they do.")
