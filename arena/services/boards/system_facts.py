"""What teams say of the systems of a board: from their cards, and from what their answers report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from data.records import Submission, SubmissionState
from data.store import Store
from data.system_facts import parameters_of
from leaderboard.standings.systems import TEXTS, Figure, Mean, SystemFacts


def facts_of_systems(store: Store, entrants: Sequence[Submission]) -> Mapping[str, SystemFacts]:
    """What is said of each system by name, those of which something is said alone.

    Cards of withdrawn submissions are shown nowhere, and so they say nothing here.
    """
    said = {entrant.system: _facts(store, entrant) for entrant in entrants}
    return {name: facts for name, facts in sorted(said.items()) if not facts.is_empty}


def _facts(store: Store, entrant: Submission) -> SystemFacts:
    if entrant.state is SubmissionState.WITHDRAWN:
        return SystemFacts()
    card = entrant.card
    figures = store.submissions.figures(entrant.id)
    return SystemFacts(
        texts={name: value for name in TEXTS if (value := getattr(card, name))},
        parameter_count=parameters_of(card.parameters),
        figures={
            Figure(name): Mean(mean, count) for name, (mean, count) in figures.items() if mean is not None
        },
        answers=entrant.answers,
    )
