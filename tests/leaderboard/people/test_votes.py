from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.errors import FileFormatError, RecordError
from leaderboard.people.votes import Vote, read_votes, votes_of

ROWS = [
    {"question_id": "q1", "model_a": "b", "model_b": "a", "winner": "model_a", "annotator": "ann"},
    {"question_id": "q1", "model_a": "a", "model_b": "b", "winner": "tie", "annotator": "bob"},
]


def facts(votes: list[Vote]) -> list[tuple[object, ...]]:
    return [(vote.battle, vote.share, vote.chance, vote.annotator) for vote in votes]


def test_votes_are_read_from_file(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    assert facts(read_votes(path)) == [
        (("q1", "a", "b"), 0.0, None, "ann"),
        (("q1", "a", "b"), 0.5, None, "bob"),
    ]


def test_scores_and_chances_are_read_and_written(tmp_path: Path) -> None:
    row = {"question_id": "q", "model_a": "a", "model_b": "b", "score": 0.75, "chance": 0.2}
    older = {"question_id": "q", "model_a": "a", "model_b": "b", "winner": "model_b", "sampling_prob": "0.5"}
    votes = votes_of([row, older])
    assert facts(votes) == [(("q", "a", "b"), 0.75, 0.2, ""), (("q", "a", "b"), 0.0, 0.5, "")]
    path = tmp_path / "votes.jsonl"
    path.write_text("\n".join(json.dumps(vote.as_json()) for vote in votes))
    assert facts(read_votes(path)) == facts(votes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"winner": "x"}, 'row 1, column "winner"'),
        ({"winner": None}, "a winner or a score"),
        ({"model_b": "b"}, "is on both sides"),
        ({"chance": 0}, "probability"),
        ({"chance": 1.5}, "probability"),
        ({"winner": "model_a", "score": 0.1}, "the score 0.1"),
        ({"score": 2, "winner": ""}, "between 0 and 1"),
    ],
)
def test_invalid_votes_report_error(change: dict[str, object], message: str) -> None:
    with pytest.raises((RecordError, FileFormatError), match=message):
        votes_of([{**ROWS[0], **change}])


def test_file_without_votes_or_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_text('{"question_id": "q", "model_a": "a", "winner": "tie"}\n')
    with pytest.raises(FileFormatError, match="model_b"):
        read_votes(path)
    path.write_text("\n")
    with pytest.raises(FileFormatError):
        read_votes(path)
