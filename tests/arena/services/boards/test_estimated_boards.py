"""Boards of rounds in waves: what they say, link, export, and that it follows from the files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.boards.verification import verify_folder
from arena.services.people.round_votes import VoteSource
from arena.services.rounds.models import RoundRequest
from arena.site.boards.snapshot_reader import read_board
from data.errors import FileFormatError, InputError
from leaderboard.standings.judged_shares import estimated_sentences
from leaderboard.vocabulary import VoteRule
from tests.arena.conftest import mix


def _quiet(_said: object) -> None:
    """Nobody listens."""


@pytest.fixture
def judged(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], tmp_path: Path
) -> Callable[..., Arena]:
    """An arena with a finished round in waves over 72 battles, of which 30 were judged."""

    def judge(**options: Any) -> Arena:  # noqa: ANN401 - settings of any type
        arena = mix(filled(endpoint=scripted_llm().url, **options), tmp_path)
        request = RoundRequest(
            set_name="tiny",
            judge="reference-free",
            pairs="all",
            name="r",
            canaries=0,
            cheap_judges=("lexical",),
            spend="30",
        )
        arena.rounds.create(request)
        arena.rounds.run("r", concurrency=8, report=_quiet)
        return arena

    return judge


@pytest.mark.long
def test_board_says_what_is_estimated(judged: Callable[..., Arena], database_url: str) -> None:
    """A published board names both judges, how many battles each decided, and the gain with its interval."""
    arena = judged(database_url=database_url)
    board, _ = arena.boards.publish("r", report=_quiet, score=False)
    section = board.standings["estimated"]
    assert (section["judge"], section["cheap_judges"]) == ("reference-free", ["lexical"])
    assert (section["judged"], section["battles"], section["ended"]) == (30, 72, "spend")
    assert section["gain_lower"] < section["gain"] < section["gain_upper"]
    assert board.standings["outcomes"]["estimated"] == 42
    assert not board.standings["partial"]
    first, worth = estimated_sentences(section)
    assert first.startswith("30 of 72 battles judged by reference-free, the others estimated")
    assert ("does as well" in worth) == (section["gain"] < 1.05)
    assert first in read_board(board).partial
    overall = {line["system"]: line for line in board.standings["lines"]["overall"]}
    assert all(line["rating"]["rating"] is not None for line in overall.values())
    for rate in (line["rate"] for line in overall.values() if line["rate"]):
        assert 0 <= rate["lower"] <= rate["win_rate"] <= rate["upper"] <= 1


def test_only_judged_battles_are_linked(judged: Callable[..., Arena]) -> None:
    """Questions show the battles that were judged; an estimated one has no reason that could be read."""
    arena = judged()
    arena.boards.publish("r", report=_quiet, score=False)
    stats = arena.store.question_stats.of_round(arena.store.rounds.get("r").id)
    assert sum(question.battles for question in stats) == 30
    shown = [battle for one in stats for battle in arena.store.verdicts.of_question("r", one.id)]
    assert len(shown) == 30
    assert all(battle.judgments for battle in shown)
    systems = ("full", "short", "wrong", "human")
    assert sum(len(arena.store.question_stats.endings("r", system)) for system in systems) == 60


def test_export_can_be_computed_again(judged: Callable[..., Arena], tmp_path: Path) -> None:
    """The exported chances, shares and verdicts give the board; a changed verdict does not."""
    arena = judged()
    arena.boards.publish("r", report=_quiet, score=False)
    folder = tmp_path / "out"
    assert "estimates.jsonl" in arena.boards.export_round("r", folder)
    assert "estimates.jsonl" in verify_folder(folder).files
    lines = [json.loads(line) for line in (folder / "estimates.jsonl").read_text().splitlines()]
    assert len(lines) == 72
    assert sum(line["verdict"] is not None for line in lines) == 30
    changed = next(line for line in lines if line["verdict"] == 1.0)
    changed["verdict"], changed["winner"] = 0.0, "model_b"
    _rewrite(folder, "".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(FileFormatError, match="The standings give"):
        verify_folder(folder)


def _rewrite(folder: Path, text: str) -> None:
    """Change the estimates, checksum and all."""
    (folder / "estimates.jsonl").write_text(text)
    sums = json.loads((folder / "checksums.json").read_text())
    sums["estimates.jsonl"] = hashlib.sha256(text.encode()).hexdigest()
    (folder / "checksums.json").write_text(json.dumps(sums))


def test_votes_do_not_correct_estimates(judged: Callable[..., Arena], tmp_path: Path) -> None:
    """Votes of people correct verdicts; a board of estimates refuses them with the reason."""
    arena = judged()
    votes = tmp_path / "votes.csv"
    votes.write_text("question_id,model_a,model_b,winner\nq0,full,short,model_a\n")
    source = VoteSource.read(str(votes), VoteRule.MEAN)
    with pytest.raises(InputError, match="not asked about"):
        arena.boards.publish("r", report=_quiet, score=False, people=source)
