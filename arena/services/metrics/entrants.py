"""Whose answers a metric is about."""

from __future__ import annotations

from collections.abc import Sequence

from data.errors import NotFoundError
from data.records import Submission
from data.store import Store


def entrants_of(store: Store, set_name: str, systems: Sequence[str] = ()) -> tuple[Submission, ...]:
    """The newest submissions of a set; the reference is among them only where it is named.

    Raises:
        NotFoundError: There is no such set or system.
    """
    store.sets.summary(set_name)
    live = store.submissions.find(set_name=set_name, newest=True)
    if not systems:
        return live
    reference = store.submissions.reference(set_name)
    by_system = {entrant.system: entrant for entrant in (*live, reference)}
    unknown = [system for system in systems if system not in by_system]
    if unknown:
        message = f"{', '.join(unknown)} did not submit to {set_name}."
        raise NotFoundError(message, advice=f"There are: {', '.join(by_system)}.")
    return tuple(by_system[system] for system in dict.fromkeys(systems))
