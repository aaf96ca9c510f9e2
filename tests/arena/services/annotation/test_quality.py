"""Quality of labels: agreement, gold, people against each other, adjudication, excluded labels, draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from arena.container import Arena
from arena.services.accounts.auth import Caller
from arena.services.annotation.frames import doubt_of
from arena.services.annotation.requests import ChosenItem, TaskRequest
from arena.services.rounds.models import RoundRequest
from data.errors import ForbiddenError, InputError, NotFoundError
from data.records import BlindItem, DrawKind, Outcome, Preference
from data.store.annotation.frames import FrameBattle
from leaderboard.agreement import Resampling

Named = Callable[[str], Caller]
PEOPLE = ("Ada", "Ben", "Cleo")
TASK = TaskRequest(
    name="people", set_name="tiny", systems=("full", "short"), count=12, overlap=3, annotators=PEOPLE
)


def _label(arena: Arena, caller: Caller, say: Callable[[BlindItem], int], task: str = "people") -> None:
    arena.labels.consent(task, caller=caller)
    while (item := arena.labels.next(task, caller=caller)) is not None:
        arena.labels.label(task, item.id, say(item), caller=caller)


def _longer(item: BlindItem) -> int:
    return 2 if len(item.second) > len(item.first) else -2


def _shorter(item: BlindItem) -> int:
    return -_longer(item)


@pytest.mark.long
def test_agreement_tells_the_careful_from_the_contrary(
    people: Callable[..., Arena], database_url: str, ada: Caller, named: Named
) -> None:
    """Alpha, unanimity and each person against the others."""
    arena = people(database_url=database_url)
    arena.annotation.open(TASK, caller=ada)
    _label(arena, named("Ada"), _longer)
    _label(arena, named("Ben"), _longer)
    _label(arena, named("Cleo"), _shorter)
    quality = arena.curation.quality("people", caller=ada)
    assert (quality.labels, quality.complete, quality.unanimous) == (36, 12, 0.0)
    assert quality.alpha.value is not None
    assert quality.alpha.value < 0.1
    by_name = {person.name: person for person in quality.people}
    assert (by_name["Ada"].agreement, by_name["Cleo"].agreement) == (0.5, 0.0)
    assert (by_name["Ada"].compared, by_name["Ada"].labelled) == (24, 12)
    assert {result.majority for result in quality.items} <= {"a", "b"}
    assert quality.disputed == ()


def test_labels_that_are_excluded_count_nowhere_and_their_items_return(
    people: Callable[..., Arena], ada: Caller, named: Named
) -> None:
    """A reason is needed and kept in the audit log; what was excluded can count again."""
    arena = people()
    arena.annotation.open(replace(TASK, annotators=(*PEOPLE, "Dan")), caller=ada)
    for name, say in (("Ada", _longer), ("Ben", _longer), ("Cleo", _shorter)):
        _label(arena, named(name), say)
    with pytest.raises(InputError, match="without a reason"):
        arena.curation.exclude("people", "Cleo", " ", caller=ada)
    with pytest.raises(NotFoundError):
        arena.curation.exclude("people", "Eve", "Why.", caller=ada)
    assert arena.curation.exclude("people", "Cleo", "Answers the opposite.", caller=ada) == 12
    quality = arena.curation.quality("people", caller=ada)
    assert (quality.labels, quality.complete, quality.unanimous) == (24, 0, 1.0)
    assert len(arena.annotation.votes("people")) == 24
    with pytest.raises(ForbiddenError, match="excluded: Answers the opposite"):
        arena.labels.next("people", caller=named("Cleo"))
    _label(arena, named("Dan"), _longer)
    assert arena.curation.quality("people", caller=ada).complete == 12
    (entry,) = arena.store.audit.entries(limit=1)
    assert (entry.action, entry.subject) == ("labels-excluded", "annotation people")
    assert entry.detail["reason"] == "Answers the opposite."
    arena.curation.include("people", "Cleo", caller=ada)
    assert len(arena.annotation.votes("people")) == 48


def test_disputes_are_decided_by_an_adjudicator(
    people: Callable[..., Arena], ada: Caller, named: Named
) -> None:
    """Two who disagree leave an item without a majority; it stays in the queue until somebody decides."""
    arena = people()
    arena.annotation.open(replace(TASK, overlap=2, annotators=("Ben", "Cleo"), count=3), caller=ada)
    _label(arena, named("Ben"), _longer)
    _label(arena, named("Cleo"), _shorter)
    queue = arena.curation.disputed("people", caller=ada)
    assert len(queue) == 3
    assert sorted(label.value or 0 for label in queue[0].labels) == [-2, 2]
    arena.curation.adjudicate("people", queue[0].item.id, 1, caller=ada)
    with pytest.raises(InputError, match="decides nothing"):
        arena.curation.adjudicate("people", queue[1].item.id, 3, caller=ada)
    with pytest.raises(NotFoundError):
        arena.curation.adjudicate("people", 999, 1, caller=ada)
    quality = arena.curation.quality("people", caller=ada)
    assert len(quality.disputed) == 2
    (decided,) = [result for result in quality.items if result.adjudicated]
    assert (decided.result, decided.item.adjudicated_by) == ("b", "Ada")
    arena.curation.adjudicate("people", queue[0].item.id, None, caller=ada)
    assert len(arena.curation.disputed("people", caller=ada)) == 3


def test_gold_items_are_for_everybody_and_count_in_nothing_else(
    people: Callable[..., Arena], ada: Caller, named: Named
) -> None:
    """Each person labels each gold pair; its pass rate is theirs, and no vote comes of it."""
    arena = people()
    gold = tuple(
        ChosenItem(question_id=f"q{number}", system_a="full", system_b="wrong", gold=-2) for number in (1, 2)
    )
    arena.annotation.open(replace(TASK, count=4, overlap=1, gold=gold), caller=ada)
    task = arena.annotation.task("people", caller=ada)
    assert (task.items, task.gold, task.wanted) == (4, 2, 4)
    _label(arena, named("Ben"), _shorter)
    _label(arena, named("Cleo"), _longer)
    quality = arena.curation.quality("people", caller=ada)
    seen = {person.name: (person.gold_seen, person.gold_passed) for person in quality.people}
    assert {name: count for name, (count, _) in seen.items()} == {"Ada": 0, "Ben": 2, "Cleo": 2}
    assert sorted(passed for _, passed in seen.values()) == [0, 0, 2]
    assert (quality.labels, len(quality.items)) == (4, 4)
    assert len(arena.annotation.votes("people")) == 4


def test_battles_of_a_round_are_drawn_by_doubt_and_their_chances_kept(
    people: Callable[..., Arena], ada: Caller, named: Named
) -> None:
    """The votes of a doubt-driven task carry the chances with which its battles were drawn."""
    arena = people()
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="r"))
    arena.rounds.run("r", concurrency=2, report=lambda _progress: None)
    request = TaskRequest(
        name="doubt", round_name="r", draw=DrawKind.DOUBT, count=8, overlap=1, annotators=("Ben",)
    )
    task = arena.annotation.open(request, caller=ada)
    assert (task.round_name, task.set_name) == ("r", "tiny")
    # A gold-free task of chances that add up to what was drawn from all battles.
    battles = arena.store.frames.battles("r")
    assert len(battles) == 12 * 6
    _label(arena, named("Ben"), _longer, task="doubt")
    votes = arena.annotation.votes("doubt")
    assert len(votes) == 8
    assert ((votes.sampling_prob > 0) & (votes.sampling_prob <= 1)).all()
    assert len(np.unique(votes.sampling_prob)) > 1
    with pytest.raises(InputError, match="unsure"):
        replace(TASK, draw=DrawKind.DOUBT)


def test_doubt_is_greatest_where_the_judge_does_not_tell() -> None:
    """Ties, flips and missing verdicts are wholly doubtful, a clear side not at all, a soft one between."""
    clear = FrameBattle(
        question=1, domain="d", a=1, b=2, outcome=Outcome.JUDGED, preference=Preference.A, score=None,
        margin=None, flipped=None,
    )  # fmt: skip
    assert doubt_of(clear) == 0
    assert doubt_of(replace(clear, score=0.75)) == 0.5
    assert doubt_of(replace(clear, margin=-0.75)) == 0.25
    assert doubt_of(replace(clear, preference=Preference.TIE)) == 1
    assert doubt_of(replace(clear, flipped=True)) == doubt_of(replace(clear, preference=None)) == 1


def test_chosen_pairs_have_no_chance_and_unknown_ones_are_refused(
    people: Callable[..., Arena], ada: Caller, named: Named
) -> None:
    """Pairs by hand keep their order and orientation; what does not exist is named."""
    arena = people()
    chosen = (
        ChosenItem(question_id="q3", system_a="wrong", system_b="full"),
        ChosenItem(question_id="q5", system_a="full", system_b="short"),
    )
    task = replace(TASK, systems=(), chosen=chosen, count=None, overlap=1)
    arena.annotation.open(task, caller=ada)
    _label(arena, named("Ben"), _longer)
    votes = arena.annotation.votes("people")
    assert np.isnan(votes.sampling_prob).all()
    assert set(zip(votes.question_id, votes.model_a, votes.model_b, strict=True)) == {
        ("q3", "wrong", "full"),
        ("q5", "full", "short"),
    }
    for bad in (
        replace(chosen[0], question_id="none"),
        replace(chosen[0], system_a="nobody"),
        replace(chosen[0], system_a="full"),
    ):
        with pytest.raises((NotFoundError, InputError)):
            arena.annotation.open(replace(task, name="bad", chosen=(bad,)), caller=ada)


def test_quality_of_an_empty_task_is_unknown(people: Callable[..., Arena], ada: Caller) -> None:
    """Before the first label there is nothing to say, and nothing fails."""
    arena = people()
    arena.annotation.open(TASK, caller=ada)
    quality = arena.curation.quality("people", resampling=Resampling(resamples=0), caller=ada)
    assert (quality.labels, quality.complete, quality.alpha.value, quality.unanimous) == (0, 0, None, None)
    assert all(result.counts == {} for result in quality.items)
