"""Names of systems, questions, domains and judges: one spelling for what is one name."""

from __future__ import annotations

import re
import unicodedata

from leaderboard.vocabulary import OVERALL

MISSING = frozenset({"nan", "na", "n/a", "<na>", "nat", "null", "none"})
"""Spellings of a missing name, in any case: no system can be called so."""
MISSING_IDS = frozenset({"nan", "<na>", "nat"})
"""The same of questions, whose ids are shorter and may be any other word."""
QUESTION, DOMAIN, SYSTEMS = "question_id", "domain", ("model_a", "model_b")

_WHOLE = re.compile(r"\A(-?[0-9]++)\.0+")


def spelled(name: str, column: str) -> str:
    """Return a name in Unicode's form NFC without outer spaces.

    An id of a question that is a whole number is written without decimals: columns of numbers with gaps
    become `1.0` on their way through data frames.
    """
    if not name.isascii():
        name = unicodedata.normalize("NFC", name)
    name = name.strip()
    if column == QUESTION and name.endswith("0") and (whole := _WHOLE.fullmatch(name)):
        return whole[1]
    return name


def fault(name: str, column: str) -> str | None:
    """Return the fault of a spelled name; None where it is valid."""
    if not name:
        return "a name is expected"
    if "\0" in name:
        return "a name without the sign NUL is expected"
    if column == DOMAIN and name.casefold() == OVERALL:
        return f"{OVERALL} is what all domains together are called, so a domain needs another id"
    if name.casefold() in (MISSING_IDS if column == QUESTION else MISSING if column in SYSTEMS else ()):
        return "this is what programs write for a missing value, so a name is expected"
    return None
