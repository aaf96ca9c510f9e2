"""What a board says of how its metrics agree, and of the bounds of its set, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.web.figures import percent

AGREEMENT = "agreement"
ANSWER = "answer-crux"
BEST_ANSWER = "oracle answer"


def agreement_notes(standings: Mapping[str, Any]) -> tuple[str, ...]:
    """The sentences; none where the board was published without them."""
    found = standings.get(AGREEMENT)
    if not isinstance(found, Mapping):
        return ()
    return tuple(filter(None, (_bounds(found["bounds"]), _order(found["systems"]))))


def _bounds(bounds: Mapping[str, Any]) -> str:
    answer = bounds.get(BEST_ANSWER, {}).get(ANSWER, {})
    if answer.get("mean") is None:
        return ""
    return (
        "What is within reach with this rater: the fewest sufficient passages answer all of these "
        f"sub-questions, the reference {percent(answer['mean'])} ({answer['questions']:,} questions)."
    )


def _order(systems: Mapping[str, Any]) -> str:
    several = len(systems["systems"])
    tau = systems["correlations"].get("kendall", {})
    if tau.get("value") is None:
        reason = systems["undefined"] or "Their means do not differ."
        return f"Whether better contexts go with better answers over systems is not known. {reason}"
    interval = "" if tau["lower"] is None else f" ({tau['lower']:.2f} to {tau['upper']:.2f})"
    return (
        f"Over {several} systems and {systems['questions']:,} questions, context and answer scores rank "
        f"systems alike with Kendall's τ {tau['value']:.2f}{interval}."
    )
