"""Words by which inference is chosen; commands read them without loading an engine."""

from __future__ import annotations

from enum import StrEnum


class FactorTables(StrEnum):
    """Which factor a relation becomes."""

    TABLE1 = "table1"
    REFERENCE_CODE = "reference-code"


class Inference(StrEnum):
    """Engines; `auto` is exact where memory allows, and weighted mini-buckets beyond."""

    AUTO = "auto"
    EXACT = "exact"
    WMB = "wmb"
