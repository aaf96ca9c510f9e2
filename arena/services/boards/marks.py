"""Marks beside a system's name on boards, which cannot change themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from data.models.words import DISQUALIFIED
from data.store import Store
from leaderboard.vocabulary import OVERALL

WITHDRAWN = "withdrawn"
PARTIAL = "partial"


def withdrawn_marks(store: Store, round_name: str) -> Mapping[str, str]:
    """Return a round's systems that were withdrawn or disqualified since, with word and reason."""
    return {
        system: reason if reason.startswith(DISQUALIFIED) else ": ".join(filter(None, (WITHDRAWN, reason)))
        for system, reason in store.submissions.withdrawn_from(round_name).items()
    }


def marks_of(store: Store, round_name: str | None, standings: Mapping[str, Any]) -> Mapping[str, str]:
    """Systems of a board to their marks: a word, then ": " and why; others are left out.

    A system is partial where it answered fewer questions than another.
    """
    answers = {
        line["system"]: line.get("answers") or 0 for line in standings.get("lines", {}).get(OVERALL, ())
    }
    most = max(answers.values(), default=0)
    partial = {
        system: f"{PARTIAL}: it answered {answered:,} of {most:,} questions"
        for system, answered in answers.items()
        if 0 < answered < most and system != standings.get("reference")
    }
    return partial if round_name is None else {**partial, **withdrawn_marks(store, round_name)}
