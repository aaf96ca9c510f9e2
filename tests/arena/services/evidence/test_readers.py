from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.evidence.question_lists import QuestionFilter, Result
from arena.services.rounds.models import RoundRequest
from data.errors import InputError, NotFoundError
from data.models import Preference
from tests.arena.conftest import mix
from tests.served import published


@pytest.fixture
def reading() -> Iterator[Arena]:
    """The published boards."""
    arena = Arena(published())
    yield arena
    arena.close()


@pytest.fixture
def judged(filled: Callable[..., Arena]) -> Arena:
    """An arena with a judged round named `one`."""
    arena = filled()
    _judge(arena, "one")
    return arena


def _judge(arena: Arena, name: str) -> None:
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name=name))
    arena.rounds.run(name, concurrency=2, report=lambda _progress: None)


def _publish(arena: Arena, name: str) -> None:
    arena.boards.publish(name, report=lambda _line: None, score=False)


def test_counts_kept_at_publishing_are_those_of_the_battles(
    filled: Callable[..., Arena], database_url: str
) -> None:
    judged = filled(database_url=database_url)
    _judge(judged, "one")
    before = judged.question_lists.of("one", caller=OPERATOR).questions
    _publish(judged, "one")
    after = judged.question_lists.of("one").questions
    assert after == before
    battles = list(judged.store.verdicts.battles("one"))
    assert sum(one.battles for one in after) == len(battles)
    assert sum(one.ties for one in after) == sum(one.preference is Preference.TIE for one in battles)
    assert [one.id for one in after] == [f"q{number}" for number in range(12)]


def test_questions_of_a_pair_are_those_with_such_a_battle(reading: Arena) -> None:
    questions = reading.question_lists.of("tiny")
    endings = reading.question_lists.endings("tiny", "full", "short")
    assert len(endings) == 12
    pair = QuestionFilter(system="full", opponent="short")
    found = {
        result: {one.id for one in questions.matching(replace(pair, result=result), endings=endings)}
        for result in Result
    }
    assert sum(map(len, found.values())) == 12
    turned = reading.question_lists.endings("tiny", "short", "full")
    lost = questions.matching(QuestionFilter(system="short", result=Result.LOST), endings=turned)
    assert {one.id for one in lost} == found[Result.WON] != set()


def test_comparison_names_the_questions_on_which_systems_differ(reading: Arena) -> None:
    found = reading.systems.compare("tiny", ["full", "short", "human"])
    assert list(found.paired) == ["short", "human"]
    assert [one.domain for one in found.paired["short"]] == ["overall", "d0", "d1", "d2"]
    spreads = [max(one.shares.values()) - min(one.shares.values()) for one in found.questions]
    assert spreads == sorted(spreads, reverse=True)
    assert set(found.questions[0].shares) == {"full", "short", "human"}


@pytest.mark.parametrize("systems", [["full"], ["full", "full"], ["a", "b", "c", "d", "e"]])
def test_comparison_takes_two_to_four_systems(reading: Arena, systems: list[str]) -> None:
    with pytest.raises(InputError, match="two, three or four"):
        reading.systems.compare("tiny", systems)


def test_history_tells_what_changed_and_what_was_retracted(
    filled: Callable[..., Arena], tmp_path: Path
) -> None:
    judged = mix(filled(), tmp_path)
    _judge(judged, "one")
    _publish(judged, "one")
    _judge(judged, "two")
    _publish(judged, "two")
    newest, oldest = judged.boards.history()
    assert (newest.board.name, newest.previous, oldest.previous) == ("two", "one", None)
    assert newest.changes is not None
    assert not any(change.moved for change in newest.changes.systems)
    judged.boards.retract("one", "The wrong answers were judged.")
    newest, oldest = judged.boards.history()
    assert newest.previous is None
    assert (oldest.board.retracted, oldest.board.notice) == (True, "The wrong answers were judged.")
    assert oldest.changes is None


def test_board_tells_its_judges_health(judged: Arena, tmp_path: Path) -> None:
    report = tmp_path / "agreement.json"
    report.write_text(
        json.dumps({"judge": "lexical", "pairs": 40, "decisive_accuracy": 0.8, "by_domain": {}})
    )
    judged.boards.publish("one", report=lambda _line: None, score=False, calibration=report)
    health = judged.boards.get("one").standings["health"]
    battles = list(judged.store.verdicts.battles("one"))
    assert health["planned"] == len(battles)
    assert health["flips"] == sum(one.flipped is True for one in battles)
    assert health["agreement"] == {"pairs": 40, "decisive_accuracy": 0.8}


def test_calibration_of_another_judge_is_refused(judged: Arena, tmp_path: Path) -> None:
    report = tmp_path / "agreement.json"
    report.write_text(json.dumps([{"judge": "other", "pairs": 40}]))
    with pytest.raises(InputError, match="nothing of the judge lexical, but of other"):
        judged.boards.publish("one", report=lambda _line: None, score=False, calibration=report)


def test_nothing_is_told_of_a_round_before_it_is_published(judged: Arena) -> None:
    for ask in (
        lambda: judged.question_lists.of("one"),
        lambda: judged.question_lists.endings("one", "full", "short"),
        lambda: judged.systems.compare("one", ["full", "short"]),
    ):
        with pytest.raises(NotFoundError, match="no round"):
            ask()
