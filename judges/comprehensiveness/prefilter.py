"""Skip pairs of claims that share nothing, so that an LLM is asked about fewer.

Off by default (similarity 0). What it loses is measured in `benchmarks/comprehensiveness.py`.
"""

from __future__ import annotations

from judges.text.tokens import kin, terms


def hopeful(premise: str, hypothesis: str, similarity: float) -> bool:
    """Whether two claims share at least a share of the smaller one's terms, related words included."""
    if similarity <= 0:
        return True
    one, other = ({kin(term) for term in terms(text)} for text in (premise, hypothesis))
    smaller = min(len(one), len(other))
    return not smaller or len(one & other) / smaller >= similarity
