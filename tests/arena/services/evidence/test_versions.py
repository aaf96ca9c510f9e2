"""Versions side by side: what changed since an earlier version of a system."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, PUBLIC
from arena.services.evidence.versions import VersionChange
from arena.services.rounds.models import RoundRequest
from data.errors import ConflictError, InputError, NotFoundError
from tests.arena.conftest import write_many

QUESTIONS = 30
GOOD = "Item {n} weighs {w} grams and is blue."
BAD = "I couldn't find an answer."
Texts = Callable[[int], str]


class Rounds:
    """An arena with a set of 30 questions, and rounds of versions on it."""

    def __init__(self, arena: Arena, folder: Path) -> None:
        self.arena, self._folder = arena, folder
        arena.sets.import_from(write_many(folder / "many", QUESTIONS))

    def send(self, system: str, texts: Texts) -> int:
        """Submit a version; gives its number."""
        path = self._folder / "answers.jsonl"
        rows = [
            {"question_id": f"q{n:02}", "answer": texts(n).format(n=n, w=n + 10)} for n in range(QUESTIONS)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return self.arena.submissions.add(path, "many", system=system, team="alpha").submission.id

    def judge(self, name: str, *, publish: bool = True) -> None:
        """Judge a round of all systems, and publish it."""
        self.arena.rounds.create(RoundRequest(set_name="many", judge="lexical", pairs="all", name=name))
        self.arena.rounds.run(name, concurrency=2, report=lambda _progress: None)
        if publish:
            self.arena.boards.publish(name, report=lambda _line: None, score=False)


@pytest.fixture
def rounds(make_arena: Callable[..., Arena], tmp_path: Path) -> Rounds:
    """Version 1 of `sys` finds every third answer not, version 2 the first six; `other` stays as it is."""
    made = Rounds(make_arena(), tmp_path)
    made.send("sys", lambda n: BAD if n % 3 == 0 else GOOD)
    made.send("other", lambda _n: "Item {n} weighs {w} grams.")
    made.judge("first")
    made.send("sys", lambda n: BAD if n < 6 else GOOD)
    made.judge("second")
    return made


def test_questions_won_and_lost_are_those_that_changed(rounds: Rounds) -> None:
    """Answers found since are won, answers lost since are lost, and all others differ by nothing."""
    change = rounds.arena.versions.compare("second", "sys")
    assert (change.new.version, change.old.version) == (2, 1)
    assert (change.new.round_name, change.old.round_name) == ("second", "first")
    assert change.opponents == ("human", "other")
    assert {one.id for one in change.won} == {f"q{n:02}" for n in range(6, 30, 3)}
    assert {one.id for one in change.lost} == {f"q{n:02}" for n in (1, 2, 4, 5)}
    assert change.same_judge
    overall = change.overall
    assert (overall.questions, overall.ahead, overall.behind) == (QUESTIONS, 8, 4)
    assert overall.interval is not None
    assert overall.difference is not None
    assert overall.difference in overall.interval
    assert [share.domain for share in change.shares] == ["overall", "d0", "d1"]


def test_opponents_of_another_version_count_nowhere(rounds: Rounds) -> None:
    """An opponent that changed too says nothing of what changed in the system."""
    rounds.send("other", lambda _n: BAD)
    rounds.send("sys", lambda _n: GOOD)
    rounds.judge("third")
    change = rounds.arena.versions.compare("third", "sys", against="1")
    assert change.left_out == ("other",)
    assert change.opponents == ("human",)
    assert any("other" in note for note in change.notes)


def test_last_is_the_version_before(rounds: Rounds) -> None:
    """`last` is the newest earlier version that was judged; numbers and ids name others."""
    number = rounds.send("sys", lambda _n: GOOD)
    rounds.judge("third")
    versions = rounds.arena.versions
    assert [one.version for one in versions.earlier("third", "sys")] == [2, 1]
    assert versions.of_submission(number, caller=OPERATOR).old.version == 2
    assert versions.compare("third", "sys", against="1").old.version == 1
    by_id = versions.compare("third", "sys", against="1").old.submission
    assert versions.compare("third", "sys", against=f"id:{by_id}").old.version == 1
    with pytest.raises(NotFoundError):
        versions.compare("third", "sys", against="9")
    with pytest.raises(InputError):
        versions.compare("third", "sys", against="first")


def test_a_first_version_has_nothing_before_it(rounds: Rounds) -> None:
    """The first version, the reference, and a system of one version have no earlier one."""
    versions = rounds.arena.versions
    assert versions.earlier("first", "sys") == ()
    assert versions.earlier("second", "human") == ()
    with pytest.raises(NotFoundError, match="No earlier version"):
        versions.compare("second", "other")


def test_rounds_that_are_not_published_are_not_told_of(rounds: Rounds) -> None:
    """Visitors compare published versions alone; organisers any that was judged."""
    number = rounds.send("sys", lambda _n: GOOD)
    rounds.judge("third", publish=False)
    versions = rounds.arena.versions
    with pytest.raises(NotFoundError):
        versions.compare("third", "sys", caller=PUBLIC)
    with pytest.raises(ConflictError, match="no report yet"):
        versions.of_submission(number, caller=PUBLIC)
    assert versions.compare("third", "sys", caller=OPERATOR).old.version == 2
    rounds.arena.submissions.withdraw(number, reason="wrong file")
    with pytest.raises(ConflictError):
        versions.of_submission(number, caller=OPERATOR)


def test_swapping_versions_turns_the_difference(rounds: Rounds) -> None:
    """A third version with the texts of the first loses what the second had won."""
    rounds.send("sys", lambda n: BAD if n % 3 == 0 else GOOD + " ")
    rounds.judge("third")
    forth: VersionChange = rounds.arena.versions.compare("second", "sys")
    back: VersionChange = rounds.arena.versions.compare("third", "sys")
    assert back.overall.difference == pytest.approx(-(forth.overall.difference or 0.0))
    assert {one.id for one in back.lost} == {one.id for one in forth.won}


def test_json_has_everything(rounds: Rounds) -> None:
    """What the command prints is plain JSON with notes."""
    fields = json.loads(json.dumps(rounds.arena.versions.compare("second", "sys").as_json()))
    assert fields["new"]["version"] == 2
    assert len(fields["won"]) == 8
    assert fields["shares"][0]["domain"] == "overall"
    assert fields["notes"]
