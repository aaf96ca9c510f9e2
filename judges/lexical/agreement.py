"""How far the embedded judge agrees with people, as measured; without imports, for whoever only says so."""

AGREEMENT = (
    "Measured on half of QA-Feedback's human preferences, by Pearson's r with its 95 % interval. Between "
    "systems, held against the reference: 0.37 (0.31 to 0.44). Where an answer meets the reference, held "
    "against the passages: 0.23 (0.15 to 0.30), the weaker of its two uses."
)
"""Printed by `benchmarks/lexical_agreement.py`."""
