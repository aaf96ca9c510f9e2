"""How far the embedded judge agrees with people, as measured; without imports, for whoever only says so."""

AGREEMENT = (
    "On half of QA-Feedback's human preferences, Pearson's r is 0.37 (95 %: 0.31 to 0.44) between systems, "
    "held against the reference, and 0.23 (0.15 to 0.30) where an answer meets the reference, held against "
    "the passages: the weaker of its two uses."
)
"""Printed by `benchmarks/lexical_agreement.py`."""
