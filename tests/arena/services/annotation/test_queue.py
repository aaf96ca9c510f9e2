"""The queue of a task: consent, overlap, blindness, expiry, going back, skipping, leaving."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import update

from arena.container import Arena
from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.annotation.requests import ChosenItem, TaskRequest
from data.errors import ConflictError, ForbiddenError, InputError, NotFoundError
from data.records import BlindItem, LabelScale, TaskKind
from data.tables.annotation import annotation_labels

TASK = TaskRequest(
    name="people",
    set_name="tiny",
    systems=("full", "short", "human"),
    count=6,
    overlap=2,
    annotators=("Ada", "Ben", "Cleo"),
)
Named = Callable[[str], Caller]


def _agree(arena: Arena, task: str, *callers: Caller) -> None:
    for caller in callers:
        arena.labels.consent(task, caller=caller)


def _label_all(arena: Arena, task: str, caller: Caller, say: Callable[[BlindItem], int]) -> int:
    count = 0
    while (item := arena.labels.next(task, caller=caller)) is not None:
        arena.labels.label(task, item.id, say(item), caller=caller)
        count += 1
    return count


def _longer(item: BlindItem) -> int:
    return 2 if len(item.second) > len(item.first) else -2


def test_every_item_is_labelled_as_often_as_asked_and_blindly(
    people: Callable[..., Arena], database_url: str, ada: Caller, named: Named
) -> None:
    """Each pair gets its overlap and no more; orders are drawn for each person and turned back in votes."""
    arena = people(database_url=database_url)
    task = arena.annotation.open(TASK, caller=ada)
    assert (task.items, task.wanted, task.done) == (6, 12, 0)
    orders = set()
    counts = []
    for name in TASK.annotators:
        caller = named(name)
        _agree(arena, "people", caller)

        def say(item: BlindItem) -> int:
            orders.add(_longer(item))
            return _longer(item)

        counts.append(_label_all(arena, "people", caller, say))
    assert counts == [6, 6, 0]
    assert orders == {-2, 2}
    votes = arena.annotation.votes("people", caller=ada)
    assert len(votes) == 12
    assert set(votes.sampling_prob) == {6 / 36}
    length = {"short": 0, "full": 1, "human": 2}
    assert all(
        (share == 1.0) == (length[a] > length[b])
        for a, b, share in zip(votes.model_a, votes.model_b, votes.share, strict=True)
        if {a, b} != {"full", "human"}
    )


def test_nothing_is_labelled_before_its_terms_are_agreed_to(
    people: Callable[..., Arena], ada: Caller, named: Named
) -> None:
    """Consent comes first; whoever was not asked does not see the task."""
    arena = people()
    arena.annotation.open(TASK, caller=ada)
    with pytest.raises(ForbiddenError, match="has not agreed"):
        arena.labels.next("people", caller=named("Ben"))
    _agree(arena, "people", named("Ben"))
    assert arena.labels.next("people", caller=named("Ben")) is not None
    with pytest.raises(NotFoundError):
        arena.labels.consent("people", caller=named("Dan"))
    assert arena.annotation.tasks(caller=named("Dan")) == ()
    assert arena.annotation.open_to(named("Dan")) == arena.annotation.open_to(PUBLIC) == ()
    assert [task.name for task in arena.annotation.open_to(named("Ben"))] == ["people"]


def test_items_that_are_held_go_to_nobody_else_until_the_hold_runs_out(
    people: Callable[..., Arena], database_url: str, ada: Caller, named: Named
) -> None:
    """An item is held for whoever got it; when that has run out, others get it."""
    arena = people(database_url=database_url)
    arena.annotation.open(replace(TASK, count=1, overlap=1), caller=ada)
    ben, cleo = named("Ben"), named("Cleo")
    _agree(arena, "people", ben, cleo)
    item = arena.labels.next("people", caller=ben)
    assert item is not None
    assert arena.labels.next("people", caller=cleo) is None
    with arena.store.database.begin() as connection:
        connection.execute(update(annotation_labels).values(held_until=0.0))
    again = arena.labels.next("people", caller=cleo)
    assert again is not None
    with pytest.raises(ConflictError, match="Others have labelled"):
        arena.labels.label("people", item.id, 1, caller=ben)
    arena.labels.label("people", again.id, 1, caller=cleo)
    assert arena.labels.next("people", caller=ben) is None
    assert arena.annotation.task("people", caller=ada).done == 1


def test_late_label_is_kept_where_nobody_took_the_item(
    people: Callable[..., Arena], ada: Caller, named: Named
) -> None:
    """Work is not lost to the clock alone."""
    arena = people()
    arena.annotation.open(replace(TASK, count=1, overlap=1), caller=ada)
    _agree(arena, "people", named("Ben"))
    item = arena.labels.next("people", caller=named("Ben"))
    assert item is not None
    with arena.store.database.begin() as connection:
        connection.execute(update(annotation_labels).values(held_until=0.0))
    arena.labels.label("people", item.id, 1, caller=named("Ben"))
    assert arena.annotation.task("people", caller=ada).done == 1


@pytest.mark.long
def test_many_at_once_never_label_an_item_too_often(
    people: Callable[..., Arena], database_url: str, ada: Caller, named: Named
) -> None:
    """Eight threads of four people who label as fast as they can fill every item exactly."""
    arena = people(database_url=database_url)
    names = ("Ada", "Ben", "Cleo", "Dan")
    arena.annotation.open(replace(TASK, count=20, annotators=names, overlap=2), caller=ada)
    _agree(arena, "people", *map(named, names))
    wrong: list[Exception] = []

    def work(caller: Caller) -> None:
        try:
            while (item := arena.labels.next("people", caller=caller)) is not None:
                try:
                    arena.labels.label("people", item.id, 1, caller=caller)
                except ConflictError:
                    continue
        except Exception as error:  # noqa: BLE001 - shown below, since threads swallow theirs
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(named(name),)) for name in names * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    given = arena.store.labels.given(arena.annotation.task("people", caller=ada).id)
    assert set(Counter(label.item for label in given).values()) == {2}
    assert len(given) == 40


def test_labels_can_be_changed_until_the_task_is_closed(
    people: Callable[..., Arena], ada: Caller, named: Named
) -> None:
    """Going back shows what was said, in the same order; a closed task takes nothing more."""
    arena = people()
    arena.annotation.open(TASK, caller=ada)
    ben = named("Ben")
    _agree(arena, "people", ben)
    item = arena.labels.next("people", caller=ben)
    assert item is not None
    arena.labels.label("people", item.id, -1, comment="Close.", caller=ben)
    shown = arena.labels.item("people", item.id, caller=ben)
    assert (shown.value, shown.comment, shown.first) == (-1, "Close.", item.first)
    arena.labels.label("people", item.id, 2, caller=ben)
    assert arena.labels.item("people", item.id, caller=ben).value == 2
    progress = arena.labels.progress("people", caller=ben)
    assert (progress.labelled, progress.left, progress.total, progress.labels) == (1, 5, 6, (item.id,))
    with pytest.raises(NotFoundError, match="not given to you"):
        arena.labels.label("people", item.id, 1, caller=_agreed(arena, named("Cleo")))
    arena.annotation.close("people", caller=ada)
    assert arena.labels.next("people", caller=ben) is None
    assert arena.annotation.open_to(ben) == ()
    with pytest.raises(ConflictError, match="closed"):
        arena.labels.label("people", item.id, 1, caller=ben)


def _agreed(arena: Arena, caller: Caller) -> Caller:
    arena.labels.consent("people", caller=caller)
    return caller


def test_skipped_items_go_to_others_with_a_reason(
    people: Callable[..., Arena], ada: Caller, named: Named
) -> None:
    """Skipping needs a reason, and leaves room for somebody else; the skipper does not get it again."""
    arena = people()
    arena.annotation.open(replace(TASK, count=1, overlap=1), caller=ada)
    ben, cleo = _agreed(arena, named("Ben")), _agreed(arena, named("Cleo"))
    item = arena.labels.next("people", caller=ben)
    assert item is not None
    with pytest.raises(InputError, match="without a reason"):
        arena.labels.skip("people", item.id, " ", caller=ben)
    arena.labels.skip("people", item.id, "I wrote one of them.", caller=ben)
    assert arena.labels.next("people", caller=ben) is None
    assert _label_all(arena, "people", cleo, lambda _: 0) == 1
    assert arena.labels.item("people", item.id, caller=ben).skip_reason == "I wrote one of them."
    # Once somebody else has labelled it, there is no room for a change of mind.
    with pytest.raises(ConflictError):
        arena.labels.label("people", item.id, 1, caller=ben)


def test_time_of_labels_is_kept(people: Callable[..., Arena], ada: Caller, named: Named) -> None:
    """The seconds between being shown and being labelled, looks at it later added."""
    arena = people()
    arena.annotation.open(TASK, caller=ada)
    ben = _agreed(arena, named("Ben"))
    item = arena.labels.next("people", caller=ben)
    assert item is not None
    with arena.store.database.begin() as connection:
        moment = annotation_labels.c.shown_at - 30
        connection.execute(update(annotation_labels).values(shown_at=moment))
    arena.labels.label("people", item.id, 1, caller=ben)
    (given,) = arena.store.labels.given(1)
    assert 30 <= given.seconds < 60
    arena.labels.item("people", item.id, caller=ben)
    arena.labels.label("people", item.id, 0, caller=ben)
    (later,) = arena.store.labels.given(1)
    assert given.seconds <= later.seconds < 60


def test_leaving_deletes_everything_somebody_said(
    people: Callable[..., Arena], ada: Caller, named: Named
) -> None:
    """Labels are deleted on request, their items return to the queue, and the log says so."""
    arena = people()
    arena.annotation.open(replace(TASK, count=2, overlap=1), caller=ada)
    ben = _agreed(arena, named("Ben"))
    assert _label_all(arena, "people", ben, lambda _: 1) == 2
    assert arena.labels.withdraw("people", caller=ben) == 2
    assert arena.annotation.task("people", caller=ada).done == 0
    assert len(arena.annotation.votes("people")) == 0
    assert _label_all(arena, "people", _agreed(arena, named("Cleo")), lambda _: 1) == 2
    with pytest.raises(ForbiddenError, match="has not agreed"):
        arena.labels.next("people", caller=ben)
    assert any(entry.action == "labels-deleted" for entry in arena.store.audit.entries(limit=20))


def test_task_open_to_all_takes_whoever_has_an_account(
    people: Callable[..., Arena], ada: Caller, named: Named
) -> None:
    """Nobody needs to be named, and overlap holds all the same."""
    arena = people()
    arena.annotation.open(replace(TASK, annotators=(), open_to_all=True, count=3, overlap=1), caller=ada)
    dan = _agreed(arena, named("Dan"))
    assert [task.name for task in arena.annotation.open_to(dan)] == ["people"]
    assert _label_all(arena, "people", dan, lambda _: 1) == 3
    with pytest.raises(ForbiddenError, match="team's token"):
        arena.labels.next("people", caller=replace(dan, account=None))


def test_reference_is_shown_only_where_the_task_says_so(
    people: Callable[..., Arena], ada: Caller, named: Named
) -> None:
    """Nothing that tells of the reference reaches annotators unless asked for, and never of a hidden one."""
    arena = people()
    pair = replace(TASK, systems=("full", "short"))
    arena.annotation.open(pair, caller=ada)
    item = arena.labels.next("people", caller=_agreed(arena, named("Ben")))
    assert item is not None
    assert item.question.reference is None
    assert item.question.passages
    arena.annotation.open(replace(pair, name="with", shows_reference=True), caller=ada)
    arena.labels.consent("with", caller=ada)
    shown = arena.labels.next("with", caller=ada)
    assert shown is not None
    assert "weighs" in (shown.question.reference or "")
    with pytest.raises(InputError, match="whose answer it is"):
        arena.annotation.open(replace(TASK, name="self", shows_reference=True), caller=ada)
    arena.policies.hide_references("tiny", hidden=True, caller=ada)
    with pytest.raises(InputError, match="hides its references"):
        arena.annotation.open(replace(pair, name="hidden", shows_reference=True), caller=ada)
    with pytest.raises(InputError, match="hides its references"):
        arena.annotation.open(replace(TASK, name="hidden"), caller=ada)


def test_labels_must_be_of_the_scale(people: Callable[..., Arena], ada: Caller, named: Named) -> None:
    """Five grades reach from -2 to 2, sides from -1 to 1, and comments have an end."""
    arena = people()
    arena.annotation.open(replace(TASK, scale=LabelScale.SIDES), caller=ada)
    ben = _agreed(arena, named("Ben"))
    item = arena.labels.next("people", caller=ben)
    assert item is not None
    with pytest.raises(InputError, match="no label"):
        arena.labels.label("people", item.id, 2, caller=ben)
    with pytest.raises(InputError, match="NUL"):
        arena.labels.label("people", item.id, 1, comment="\x00", caller=ben)
    with pytest.raises(InputError, match="too long"):
        arena.labels.label("people", item.id, 1, comment="x" * 3000, caller=ben)
    arena.labels.label("people", item.id, 1, caller=ben)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"systems": ("full",)}, "needs two systems"),
        ({"systems": ()}, "from one place"),
        ({"overlap": 4}, "cannot label each item"),
        ({"count": 0}, "cannot be drawn"),
        ({"kind": TaskKind.REFERENCES}, "passages of its set"),
        ({"kind": TaskKind.REFERENCES, "systems": (), "overlap": 3}, "labelled 3 times"),
        ({"hold_minutes": 0}, "cannot be held"),
        ({"consent": "\x00"}, "NUL"),
        ({"gold": (ChosenItem(question_id="q1", system_a="full", system_b="short"),)}, "has the value None"),
    ],
)
def test_tasks_that_make_no_sense_are_refused(changed: dict[str, Any], said: str) -> None:
    """Each refusal says what to do, before anything is stored."""
    with pytest.raises(InputError, match=said):
        replace(TASK, **changed)
