"""Answers in the format of TREC's RAG track."""

from __future__ import annotations

from typing import Any

import pytest

from data.errors import FileFormatError
from data.models import Passage, Question, QuestionSet
from submissions.formats.registry import format_of
from submissions.formats.trec_rag import read_trec
from submissions.question_index import QuestionIndex

QUESTION = Question(
    id="2024-1",
    domain="bridges",
    question="When?",
    passages=(Passage("d1", "Opened 1905.", "Bridge"), Passage("d3", "Closed.")),
)
ROW: dict[str, Any] = {
    "run_id": "us",
    "topic_id": "2024-1",
    "references": ["gone", "d3", "d1"],
    "answer": [
        {"text": "It opened in 1905.", "citations": [2]},
        {"text": "It closed.", "citations": [1, 0]},
        {"text": "It is red.", "citations": []},
    ],
}


INDEX = QuestionIndex(
    QuestionSet(name="topics", title="Topics", domains={"bridges": "Bridges"}, questions=(QUESTION,))
)


def test_the_topic_of_2025_and_rows_of_ours_are_told_apart() -> None:
    row = {**ROW, "metadata": {"narrative_id": "2024-1"}}
    del row["topic_id"]
    assert read_trec(row, INDEX).ids == ["2024-1"]
    assert not format_of({"question_id": "x", "answer": "It opened.", "references": []})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"references": "d1"}, "no list of ids"),
        ({"answer": [{"citations": [0]}]}, "Sentence 1 of the answer has no text"),
        ({"answer": [{"text": "A.", "citations": [3]}]}, "Sentence 1 cites 3"),
        ({"answer": [{"text": "A.", "citations": [True]}]}, "Sentence 1 cites True"),
        ({"answer": [{"text": "A.", "citations": "0"}]}, "are no list"),
    ],
)
def test_another_shape_is_told(change: dict[str, Any], said: str) -> None:
    with pytest.raises(FileFormatError, match=said):
        read_trec({**ROW, **change}, INDEX)
