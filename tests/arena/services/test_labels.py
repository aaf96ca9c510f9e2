from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, PUBLIC, Caller, CallerKind
from arena.services.judging.calibration import labelled_pairs
from arena.services.labels import file_of, names_system, votes_of_round
from arena.services.rounds.models import RoundRequest
from data.errors import AccessError, ClosedError, ConflictError, ForbiddenError, InputError, NotFoundError
from data.models import SystemCard, TokenScope
from data.models.words import LabelValue
from tests.arena.conftest import Fill, answers_file, play, quiet
from tests.narrow import known

BEN = Caller(kind=CallerKind.SESSION, name="Ben", scopes=frozenset({TokenScope.READ}), account="Ben")
CLEO = replace(BEN, name="Cleo", account="Cleo")
BATTLES = 36
"""Pairs of three systems on twelve questions."""


def planned(arena: Arena, systems: tuple[str, ...] = ("full", "short", "wrong")) -> Arena:
    """Add accounts and a judged round without the reference."""
    for name in ("Ben", "Cleo"):
        arena.teams.add_account(name, caller=OPERATOR)
    play(arena, pairs="complete:12", systems=systems)
    return arena


@pytest.fixture
def arena(filled: Fill) -> Arena:
    """Arena with a round that Ben may label."""
    arena = planned(filled())
    arena.labels.open("r", ["Ben"])
    return arena


def drawn(arena: Arena, caller: Caller, value: LabelValue = LabelValue.TIE, session: str = "") -> int:
    """Label the next pair of a person, and return its battle."""
    pair = known(arena.labels.next("r", caller=caller, session=session))
    arena.labels.label("r", pair.battle, value, caller=caller, session=session)
    return pair.battle


def test_pairs_with_fewest_labels_come_first(arena: Arena) -> None:
    arena.labels.open("r", ["Cleo"])
    first = {drawn(arena, BEN, LabelValue.SKIP) for _ in range(BATTLES // 2)}
    second = {drawn(arena, CLEO) for _ in range(BATTLES // 2)}
    assert not first & second


def test_label_is_stored_for_displayed_side(arena: Arena) -> None:
    displayed = {}
    while (pair := arena.labels.next("r", caller=BEN)) is not None:
        displayed[pair.battle] = pair.first
        arena.labels.label("r", pair.battle, LabelValue.A, caller=BEN)
    rows = arena.labels.export("r")
    assert len(rows) == len(displayed) == BATTLES
    for row in rows:
        assert row["winner"] == f"model_{row['shown_first']}"
        assert row[f"answer_{row['shown_first']}"] in displayed.values()
    assert 6 < Counter(row["shown_first"] for row in rows)["b"] < BATTLES - 6
    assert {row["annotator"] for row in rows} == {"Ben"}
    assert all(row["labelled_at"] for row in rows)


def test_pair_is_blind_and_labelled_once(arena: Arena) -> None:
    pair = known(arena.labels.next("r", caller=BEN))
    assert pair.question.reference
    assert len(pair.question.passages) == 2
    assert "full" not in str(pair)
    battle = drawn(arena, BEN)
    with pytest.raises(ConflictError, match="labelled this pair"):
        arena.labels.label("r", battle, LabelValue.B, caller=BEN)
    with pytest.raises(NotFoundError):
        arena.labels.label("r", 10_000, LabelValue.B, caller=BEN)


def test_labelling_requires_invitation(arena: Arena) -> None:
    for caller in (CLEO, PUBLIC, replace(BEN, account=None)):
        with pytest.raises(ForbiddenError, match="not invited"):
            arena.labels.next("r", caller=caller, session="x")
    assert arena.labels.open_to(CLEO) == ()
    assert arena.labels.open_to(BEN) == ("r",)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="other"))
    arena.rounds.run("other", concurrency=8, report=quiet)
    for people, error, words in (
        ([], InputError, "No account is invited"),
        (["Dan"], NotFoundError, "Unknown account: Dan"),
    ):
        with pytest.raises(error, match=words):
            arena.labels.open("other", people)
    with pytest.raises(NotFoundError, match="has no labels"):
        arena.labels.show("other")
    with pytest.raises(AccessError):
        arena.labels.open("other", ["Ben"], caller=PUBLIC)


def test_closed_round_keeps_labels_and_refuses_new_ones(arena: Arena) -> None:
    battle = drawn(arena, BEN)
    assert not arena.labels.close("r").open
    with pytest.raises(ClosedError):
        arena.labels.label("r", battle, LabelValue.A, caller=BEN)
    assert arena.labels.show("r")["labels"]["tie"] == 1
    assert arena.labels.open("r").people == ("Ben",)


def test_visitors_label_published_round_by_session(arena: Arena) -> None:
    with pytest.raises(ConflictError, match="published"):
        arena.labels.open("r", everybody=True)
    arena.boards.publish("r", report=quiet, score=False)
    arena.labels.open("r", everybody=True)
    drawn(arena, PUBLIC, session="one")
    drawn(arena, PUBLIC, session="one")
    drawn(arena, PUBLIC, session="two")
    people = arena.labels.show("r")["people"]
    assert sorted(people.values()) == [1, 2]
    assert all(name.startswith("visitor-") and "one" not in name for name in people)
    arena.boards.retract("r", "Wrong.")
    with pytest.raises(ForbiddenError):
        arena.labels.next("r", caller=PUBLIC, session="one")


def test_visitors_cannot_label_private_texts(arena: Arena) -> None:
    arena.boards.publish("r", report=quiet, score=False)
    arena.labels.open("r", everybody=True)
    arena.policies.show_texts("tiny", public=False)
    assert arena.labels.open_to(PUBLIC) == ()
    with pytest.raises(InputError, match="not public"):
        arena.labels.open("r", everybody=True)


def test_answers_naming_their_system_are_skipped(filled: Fill, tmp_path: Path) -> None:
    arena = filled()
    arena.teams.add("kettle", title="Team Kettle", caller=OPERATOR)
    texts = {
        "selfbot-9": "I am SelfBot 9: {word}.",
        "plain": "By Team  Kettle! {word}.",
        "m": "As Lumo-3, {word}.",
    }
    for system, text in texts.items():
        card = SystemCard(model="lumo-3")
        arena.submissions.add(
            answers_file(tmp_path, system, text), "tiny", system=system, team="kettle", card=card
        )
    planned(arena, ("full", "short", *texts))
    arena.labels.open("r", ["Ben"])
    while arena.labels.next("r", caller=BEN) is not None:
        drawn(arena, BEN)
    systems = {row[side] for row in arena.labels.export("r") for side in ("model_a", "model_b")}
    assert systems == {"full", "short"}


def test_names_match_whole_words() -> None:
    assert not names_system("A bluish sky.", ("blue sky", "sk"))


def test_reference_is_hidden_in_its_own_pairs(filled: Fill) -> None:
    arena = filled()
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="reference", name="r"))
    arena.teams.add_account("Ben", caller=OPERATOR)
    arena.labels.open("r", ["Ben"])
    assert known(arena.labels.next("r", caller=BEN)).question.reference is None
    arena.policies.hide_references("tiny", hidden=True)
    assert arena.labels.next("r", caller=BEN) is None


@pytest.mark.parametrize("form", ["csv", "json"])
def test_exported_labels_calibrate_judges_and_can_be_imported(
    filled: Fill, tmp_path: Path, form: str
) -> None:
    arena = planned(filled())
    arena.labels.open("r", ["Ben", "Cleo"])
    for value in LabelValue:
        drawn(arena, BEN, value)
        drawn(arena, CLEO, value)
    rows = arena.labels.export("r")
    assert len(rows) == 8
    path = tmp_path / f"labels.{form}"
    path.write_text(file_of(rows, as_csv=form == "csv"))
    read = labelled_pairs(path)
    assert sum(len(pair.labels) for pair in read.pairs) == 8
    assert read.pairs[0].first.passages
    job = arena.calibrations.start(path, ["lexical"], budget_usd=None, caller=OPERATOR)
    assert job.payload["labels"].count("\n") == 8
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="again"))
    assert arena.labels.import_file("again", path) == (8, {})
    assert arena.labels.export("again") == rows
    assert arena.labels.import_file("again", path) == (0, {"given before": 8})


def test_import_swaps_pairs_and_counts_excluded_labels(arena: Arena, tmp_path: Path) -> None:
    pair = {"question_id": "q1", "model_a": "short", "model_b": "full", "annotator": "ann"}
    rows = [
        {**pair, "winner": "model_a", "shown_first": "a"},
        {**pair, "question_id": "q99", "winner": "tie"},
        {**pair, "winner": "tie", "annotator": ""},
        {**pair, "winner": "skip", "annotator": "bob"},
    ]
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(rows))
    new, left_out = arena.labels.import_file("r", path)
    assert new == 1
    assert left_out == {"skipped": 1, "on no battle of the round": 1, "without a usable annotator": 1}
    (row,) = arena.labels.export("r")
    winner = "model_a" if row["model_a"] == "short" else "model_b"
    assert row["winner"] == winner
    assert row["shown_first"] == winner[-1]


def test_votes_omit_skips_and_count_both_bad_as_tie(arena: Arena) -> None:
    for value in LabelValue:
        drawn(arena, BEN, value)
    votes = votes_of_round(arena.store, "r")
    words = Counter(vote["winner"].removesuffix("_a").removesuffix("_b") for vote in votes)
    assert words == {"model": 2, "tie": 1, "tie (bothbad)": 1}
    assert votes_of_round(arena.store, "nothing") == []
