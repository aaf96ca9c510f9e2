"""Embedded judge: compares answers with a ground truth, deterministic and without a network."""

from judges.lexical.judge import LexicalJudge

AGREEMENT = (
    "Measured on half of QA-Feedback's human preferences, as Pearson's r with its 95 % interval. If it "
    "compares two systems with the reference: 0.38 (0.32 to 0.44). If it compares an answer and the "
    "reference with the passages: 0.23 (0.16 to 0.31), the weaker of its two uses."
)
"""Printed by `benchmarks/lexical_agreement.py`."""
__all__ = ["AGREEMENT", "LexicalJudge"]
