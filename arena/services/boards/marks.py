"""What is marked beside a system's name wherever its board is shown, now that the board cannot change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.services.rounds.models import entrants_of
from data.records import Outcome, SubmissionState
from data.store import Store
from leaderboard.vocabulary import OVERALL

DISQUALIFIED = "disqualified"
WITHDRAWN = "withdrawn"
PARTIAL = "partial"


def withdrawn_marks(store: Store, round_name: str) -> Mapping[str, str]:
    """The systems of a round that were withdrawn or disqualified since, with that word and the reason."""
    entrants = entrants_of(store, store.rounds.get(round_name))
    gone = [one for one in entrants if one.state is SubmissionState.WITHDRAWN]
    disqualified = store.concerns.disqualified([one.id for one in gone]) if gone else ()
    return {
        one.system: ": ".join(
            filter(None, (DISQUALIFIED if one.id in disqualified else WITHDRAWN, one.withdrawn_reason))
        )
        for one in gone
    }


def marks_of(store: Store, round_name: str | None, standings: Mapping[str, Any]) -> Mapping[str, str]:
    """Systems of a board to their marks: a word, then ": " and why; others are left out.

    A system is partial where it did not answer every question that it was to be judged on.
    """
    partial = {
        line["system"]: f"{PARTIAL}: {missing:,} of {sum(outcomes.values()):,} battles lack its answer"
        for line in standings.get("lines", {}).get(OVERALL, ())
        if line["system"] != standings.get("reference")
        and (outcomes := line.get("outcomes") or {})
        and (missing := outcomes.get(Outcome.MISSING, 0))
    }
    return partial if round_name is None else {**partial, **withdrawn_marks(store, round_name)}
