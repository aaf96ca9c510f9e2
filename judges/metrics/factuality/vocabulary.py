"""Words by which inference is chosen; commands read them without loading an engine."""

from __future__ import annotations

from enum import StrEnum


class FactorTables(StrEnum):
    """Which factor a relation becomes."""

    TABLE1 = "table1"
    REFERENCE_CODE = "reference-code"


class Inference(StrEnum):
    """What the caller asks for; `auto` is exact where memory allows and sampled beyond."""

    AUTO = "auto"
    EXACT = "exact"
    WMB = "wmb"
