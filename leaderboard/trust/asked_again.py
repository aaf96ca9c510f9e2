"""What a board's JSON says of asking its judge again, and sentences about it for readers.

The sections stand under keys of their own, and boards of which nothing was asked again have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from leaderboard.trust.sections import Section


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


class DriftState(StrEnum):
    """What control battles say of a judge."""

    SAME = "same"
    CHANGED = "changed"
    UNKNOWN = "unknown"


def drift_sentence(section: Mapping[str, Any]) -> str:
    """What a drift section says, in a sentence."""
    controls, repeats = section["controls"], section["repeats"]
    if not controls["comparisons"]:
        return "No control battle was judged, so nothing is known of drift."
    changed = (
        f"{controls['changed']} of {controls['comparisons']} control battles changed their verdict "
        f"({share_text(controls)})"
    )
    usual = f"asking the same again changes {share_text(repeats)}" if repeats["comparisons"] else ""
    match DriftState(section["state"]):
        case DriftState.CHANGED:
            return f"Today's judge is not the one that judged before: {changed}, where {usual}."
        case DriftState.SAME:
            return f"No sign of another judge than before: {changed}; {usual}."
        case DriftState.UNKNOWN:
            return f"Not enough to say whether this is the judge that judged before: {changed}; " + (
                f"{usual}." if usual else "how much asking the same again changes is not known."
            )


def drift_warning(standings: Mapping[str, Any]) -> str:
    """The warning that a board's judge is not the one that judged before; empty where nothing says so."""
    section = standings.get(Section.DRIFT)
    if section is None or section["state"] != DriftState.CHANGED:
        return ""
    return drift_sentence(section)


def share_text(share: Mapping[str, Any]) -> str:
    """A changed share with its interval."""
    if share["share"] is None:
        return "nothing compared"
    lower, upper = 100 * share["lower"], 100 * share["upper"]
    return f"{100 * share['share']:.1f} %, {lower:.1f}–{upper:.1f} %"
