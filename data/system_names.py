"""Names of systems, as readers tell them apart: no two of a set may look alike."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from data.steering.confusables import confusable_skeleton

RESERVED = (
    "all",
    "anonymous",
    "both",
    "both-bad",
    "bothbad",
    "human",
    "model_a",
    "model_b",
    "none",
    "null",
    "overall",
    "people",
    "reference",
    "tie",
    "unknown",
)
"""What tables, files of battles and pages call something else."""


@lru_cache(4_096)
def name_key(name: str) -> str:
    """The same for all names that look alike: case, look-alikes and outer punctuation make no difference.

    Inner punctuation does: `1.5` is not `15`.
    """
    key = confusable_skeleton(name)
    outer = "".join(sign for sign in key if not sign.isalnum())
    return key.strip(outer) or key


def look_alike(name: str, names: Iterable[str]) -> str | None:
    """The first of some names that looks like this one; None where none does."""
    key = name_key(name)
    return next((other for other in names if name_key(other) == key), None)
