"""Boards corrected by people's votes: a new snapshot that keeps the previous one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, PUBLIC
from arena.services.boards.people import VoteSource
from data.errors import RecordError, RetractedError
from data.models import Board
from leaderboard.formats.reading import read_battles
from leaderboard.people.correct import correct
from leaderboard.people.votes import read_votes
from tests.arena.conftest import Commands, Fill, play
from tests.opened_pages import html_of, page_of

PAIRS = (("full", "short"), ("short", "wrong"), ("wrong", "full"))
WORDS = ("model_b", "tie", "model_a", "model_b", "tie")


def write_votes(path: Path, *, shift: int = 0, questions: int = 12) -> Path:
    """Write votes of three people on every pair of systems on some questions."""
    rows = [
        {
            "question_id": f"q{number}",
            "model_a": one,
            "model_b": other,
            "winner": WORDS[(number + 2 * place + person + shift) % len(WORDS)],
            "annotator": f"person{person}",
        }
        for number in range(questions)
        for place, (one, other) in enumerate(PAIRS)
        for person in range(3)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def publish(arena: Arena, people: VoteSource | None = None) -> tuple[Board, bool]:
    """Publish the round without scoring."""
    return arena.boards.publish("tiny", report=lambda _line: None, score=False, people=people)


@pytest.fixture
def arena(filled: Fill, database_url: str) -> Arena:
    """An arena with a judged round named `tiny`, on either engine."""
    opened = filled(database_url=database_url)
    play(opened, "tiny")
    return opened


def test_corrected_board_keeps_earlier_snapshot(arena: Arena, tmp_path: Path) -> None:
    """A corrected board has its own hash and unchanged figures of the judge; the old one is NAME@HASH."""
    before, _ = publish(arena)
    votes = write_votes(tmp_path / "votes.jsonl")
    after, changed = publish(arena, VoteSource.of_file(votes))
    assert changed
    assert after.content_hash != before.content_hash
    assert {key: after.standings[key] for key in before.standings} == before.standings
    section = after.standings["people"]
    assert (section["votes"], section["annotators"], section["labelled_battles"]) == (108, 3, 36)
    assert "person0" not in json.dumps(section)
    address = f"tiny@{before.content_hash[:12]}"
    former = arena.boards.get(address, caller=PUBLIC)
    assert (former.standings, former.content_hash) == (before.standings, before.content_hash)
    assert former.replaced_at is not None
    assert arena.boards.get(f"tiny@{after.content_hash[:10]}").content_hash == after.content_hash
    assert [board.name for board in arena.boards.heads()] == ["tiny"]
    assert [board.name for board in (*arena.boards.heads(), *arena.boards.former())] == ["tiny", address]


def test_corrected_figures_match_command(arena: Arena, tmp_path: Path) -> None:
    """The figures equal those of `battles rate --people` for the round's battles."""
    votes = write_votes(tmp_path / "votes.jsonl", questions=8)
    board, created = publish(arena, VoteSource.of_file(votes))
    assert created
    assert [board.name for board in (*arena.boards.heads(), *arena.boards.former())] == ["tiny"]
    assert board.standings["people"]["source"] == {"kind": "file", "name": "votes.jsonl"}
    arena.boards.export_round("tiny", tmp_path / "out", caller=OPERATOR)
    table = correct(read_battles(tmp_path / "out" / "battles.jsonl").table, read_votes(votes))
    section = board.standings["people"]
    for row, wanted in zip(section["ratings"], table["ratings"], strict=True):
        assert row == pytest.approx(wanted)
    judged = {line["system"]: line["rating"]["rating"] for line in board.standings["lines"]["overall"]}
    for row in section["ratings"]:
        assert row["judge_rating"] == pytest.approx(judged[row["system"]])


def test_identical_votes_restore_earlier_snapshot(arena: Arena, tmp_path: Path) -> None:
    """Publishing twice creates one snapshot; the earlier board is restored under its own hash."""
    publish(arena)
    one, other = (write_votes(tmp_path / f"{shift}.jsonl", shift=shift) for shift in (0, 1))
    first, _ = publish(arena, VoteSource.of_file(one))
    assert publish(arena, VoteSource.of_file(one)) == (first, False)
    second, changed = publish(arena, VoteSource.of_file(other))
    assert changed
    assert second.content_hash != first.content_hash
    again, changed = publish(arena, VoteSource.of_file(one))
    assert changed
    assert again.content_hash == first.content_hash
    assert len(arena.boards.former()) == 2
    assert publish(arena)[0].content_hash == first.content_hash


def test_votes_on_unplanned_battles_are_refused(arena: Arena, tmp_path: Path) -> None:
    before, _ = publish(arena)
    votes = write_votes(tmp_path / "votes.jsonl")
    votes.write_text(votes.read_text().replace('"q3"', '"q99"', 1), encoding="utf-8")
    with pytest.raises(RecordError, match=r"line 28.*'q99' is unknown"):
        publish(arena, VoteSource.of_file(votes))
    assert arena.boards.get("tiny") == before


def test_retraction_and_notice_apply_to_every_snapshot(arena: Arena, tmp_path: Path) -> None:
    before, _ = publish(arena)
    publish(arena, VoteSource.of_file(write_votes(tmp_path / "votes.jsonl")))
    address = f"tiny@{before.content_hash[:12]}"
    arena.boards.put_notice("tiny", "Mind q3.")
    assert arena.boards.get(address).notice == "Mind q3."
    arena.boards.retract("tiny", "Wrong files.")
    assert arena.boards.get(address, caller=PUBLIC).standings == {}
    with pytest.raises(RetractedError):
        arena.boards.write_file(address, tmp_path / "board.csv", caller=PUBLIC)


@pytest.mark.slow
def test_pages_show_human_column_and_unapplied_votes(filled: Fill, tmp_path: Path) -> None:
    arena = filled()
    play(arena, "tiny")
    before, _ = publish(arena)
    publish(arena, VoteSource.of_file(write_votes(tmp_path / "votes.jsonl")))

    def text(**query: str) -> str:
        page = page_of(arena.settings, "boards.leaderboard_page", **query).run()
        assert not page.exception, page.exception
        return html_of(page)

    overall, domain, former = text(), text(domain="d1"), text(board=f"tiny@{before.content_hash[:12]}")
    assert "108 votes of 3 people, not applied here" in overall
    assert "aa-c-corrected-rating" in overall
    assert "only the overall ratings, not these" in domain
    assert "aa-c-corrected-rating" not in domain
    assert "not checked by people" in former
    assert "aa-c-corrected-rating" not in former


def test_commands_correct_show_and_list_boards(run: Commands, filled: Fill, tmp_path: Path) -> None:
    arena = filled()
    play(arena, "tiny")
    before, _ = publish(arena)
    arena.close()
    votes = write_votes(tmp_path / "votes.jsonl")
    report = run.json("rounds", "publish", "tiny", "--people", votes, "--no-metrics", "--json")
    assert report["created"]
    assert report["content_hash"] != before.content_hash
    assert (report["votes"], report["annotators"], report["votes_left_out"]) == (108, 3, 0)
    code, out, _ = run("leaderboard", "show", "tiny")
    assert code == 0
    assert "108 votes of 3 people correct the column “People would say”" in out
    assert "people would say" in out
    assert "only the overall ratings, not these" in run("leaderboard", "show", "tiny", "--domain", "d0")[1]
    former = f"tiny@{before.content_hash[:12]}"
    out = run("leaderboard", "show", former)[1]
    assert "Not checked by people." in out
    assert "people would say" not in out
    names = [board["name"] for board in run.json("leaderboard", "list", "--snapshots", "--json")]
    assert names == ["tiny", former]
    assert len(run.json("leaderboard", "list", "--json")) == 1


def test_labels_of_round_correct_its_board(run: Commands, filled: Fill, tmp_path: Path) -> None:
    arena = filled()
    play(arena, "tiny")
    publish(arena)
    arena.close()
    code, _, err = run("rounds", "publish", "tiny", "--people", "labels")
    assert code == 1
    assert "tiny has no labels" in err
    run("labels", "open", "tiny", "--everybody")
    rows = [json.loads(line) for line in write_votes(tmp_path / "v.jsonl").read_text().splitlines()]
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    assert run("labels", "import", "tiny", path)[0] == 0
    report = run.json("rounds", "publish", "tiny", "--people", "labels", "--no-metrics", "--json")
    assert (report["votes"], report["annotators"]) == (108, 3)
