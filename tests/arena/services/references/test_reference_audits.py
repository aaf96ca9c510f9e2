"""Batches and rework on both engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.annotation.requests import TaskRequest
from data.errors import ConflictError, ForbiddenError, InputError, NotFoundError
from data.records import TaskKind
from data.records.references import Failure, ReferenceState

TASK = TaskRequest(name="refs", set_name="tiny", kind=TaskKind.REFERENCES, annotators=("ann", "bob"), count=4)
ANN, BOB = (replace(OPERATOR, name=name, account=name) for name in ("ann", "bob"))
STRANGER = replace(ANN, name="eve", account="eve", organiser=False)


@pytest.fixture
def arena(make_arena: Callable[..., Arena], database_url: str, set_folder: Path) -> Arena:
    """An arena with the small set, and a task of four questions for ann and bob."""
    made = make_arena(database_url=database_url)
    made.sets.import_from(set_folder)
    for name in ("ann", "bob", "eve"):
        made.teams.add_account(name, caller=OPERATOR)
    made.annotation.open(TASK, caller=OPERATOR)
    for caller in (ANN, BOB):
        made.labels.consent("refs", caller=caller)
    return made


def test_a_batch_goes_back_and_is_accepted_after_rework(arena: Arena) -> None:
    """States follow the audit: written, in audit, returned, written again, accepted; later texts wait."""

    def states() -> list[ReferenceState]:
        return [
            text.state for text in arena.store.references.written(arena.store.annotations.task("refs").id)
        ]

    first = arena.labels.next("refs", caller=ANN)
    assert first is not None
    arena.labels.label("refs", first.id, text="It is light [1].", caller=ANN)
    batch = arena.reference_audits.draw("refs", caller=OPERATOR)
    assert batch is not None
    assert states() == [ReferenceState.IN_AUDIT]
    with pytest.raises(ConflictError, match="being audited"):
        arena.labels.label("refs", first.id, text="It is heavy [1].", caller=ANN)
    with pytest.raises(ConflictError, match="being audited"):
        arena.labels.skip("refs", first.id, "too hard", caller=ANN)
    second = arena.labels.next("refs", caller=BOB)
    assert second is not None
    arena.labels.label("refs", second.id, text="It is light [2].", caller=BOB)
    with pytest.raises(ConflictError, match="Batch 1 is being audited"):
        arena.reference_audits.draw("refs", caller=OPERATOR)
    item = arena.reference_audits.audit_next("refs", caller=OPERATOR)
    assert item is not None
    with pytest.raises(ForbiddenError):
        arena.reference_audits.decide("refs", item.number, caller=ANN)
    failures = (Failure.CITATION_ERROR, Failure.INCOMPLETENESS)
    ended = arena.reference_audits.decide("refs", item.number, failures, remark="[1]?", caller=OPERATOR)
    assert ended.accepted is False
    assert sorted(states()) == [ReferenceState.RETURNED, ReferenceState.WRITTEN]
    with pytest.raises(ConflictError, match="is decided"):
        arena.reference_audits.decide("refs", item.number, caller=OPERATOR)
    again = arena.labels.next("refs", caller=ANN)
    assert again is not None
    assert again.written is not None
    assert (again.id, again.written.failures, again.written.remark) == (first.id, failures, "[1]?")
    arena.labels.label("refs", first.id, text="It is light [2].", caller=ANN)
    second_batch = arena.reference_audits.draw("refs", share=1.0, caller=OPERATOR)
    assert second_batch is not None
    assert (second_batch.number, second_batch.texts, second_batch.drawn) == (2, 2, 2)
    while item := arena.reference_audits.audit_next("refs", caller=OPERATOR):
        ended = arena.reference_audits.decide("refs", item.number, caller=OPERATOR)
    assert ended.accepted is True
    assert set(states()) == {ReferenceState.ACCEPTED}
    assert arena.reference_audits.draw("refs", caller=OPERATOR) is None


def test_a_sample_follows_from_its_seed(arena: Arena) -> None:
    """A tenth of a batch is drawn, rounded up, by the seed and the texts alone."""
    while item := arena.labels.next("refs", caller=ANN):
        arena.labels.label("refs", item.id, text="It is light [1].", caller=ANN)
    batch = arena.reference_audits.draw("refs", share=0.3, seed=7, caller=OPERATOR)
    assert batch is not None
    assert (batch.texts, batch.drawn, batch.seed, batch.accepted) == (4, 2, 7, None)
    assert arena.reference_audits.audit_next("refs", caller=ANN) is None
    for share in (0.0, 1.1):
        with pytest.raises(InputError):
            arena.reference_audits.draw("refs", share=share, caller=OPERATOR)


def test_who_was_not_asked_sees_nothing(arena: Arena) -> None:
    """Others find no task; people without an organiser's rights cannot start, audit, export or measure."""
    assert arena.annotation.open_to(STRANGER, TaskKind.REFERENCES) == ()
    assert arena.annotation.tasks(caller=STRANGER) == ()
    with pytest.raises(NotFoundError):
        arena.labels.next("refs", caller=STRANGER)
    with pytest.raises(NotFoundError):
        arena.labels.label("refs", 1, text="It is light [1].", caller=STRANGER)
    for attempt in (
        lambda: arena.annotation.open(replace(TASK, name="more"), caller=STRANGER),
        lambda: arena.reference_audits.draw("refs", caller=STRANGER),
        lambda: arena.reference_audits.audit_next("refs", caller=STRANGER),
        lambda: arena.reference_audits.decide("refs", 1, caller=STRANGER),
        lambda: arena.reference_audits.status("refs", caller=STRANGER),
        lambda: arena.reference_exports.export("refs", Path("/nowhere"), caller=STRANGER),
        lambda: arena.reference_exports.measure_set("tiny", caller=STRANGER),
    ):
        with pytest.raises(ForbiddenError):
            attempt()
