"""Planned battles as judges see them, before anything is stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from data.records import PlannedBattle, Question
from data.store import Store
from judges.base import Contest

if TYPE_CHECKING:
    from arena.services.rounds import PlannedRound


def contests_of(store: Store, planned: PlannedRound, some: Sequence[PlannedBattle]) -> Iterator[Contest]:
    """Yield some battles of a planned round with their texts."""
    reference = store.submissions.reference(planned.request.set_name).id
    questions: Mapping[int, Question] = dict(store.sets.numbered(planned.summary.id))
    texts = store.submissions.texts(
        [(side, battle.question) for battle in some for side in (battle.a, battle.b)]
    )
    for battle in some:
        yield Contest(
            battle_id=battle.key,
            question=questions[battle.question],
            answer_a=texts[battle.a, battle.question],
            answer_b=texts[battle.b, battle.question],
            reference_side={battle.a: "a", battle.b: "b"}.get(reference),
        )
