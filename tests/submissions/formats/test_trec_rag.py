"""Answers in the format of TREC's RAG track."""

from __future__ import annotations

from typing import Any

import pytest

from data.errors import FileFormatError
from submissions.formats.harnesses import read_trec
from submissions.question_index import QuestionIndex
from tests.submissions.conftest import asked_of

INDEX = QuestionIndex(asked_of({"2024-1": "When?"}))
ROW: dict[str, Any] = {
    "run_id": "us",
    "topic_id": "2024-1",
    "references": ["gone", "d3", "d1"],
    "answer": [{"text": "It opened in 1905.", "citations": [2]}],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"references": "d1"}, "not a list of ids"),
        ({"answer": [{"citations": [0]}]}, "Sentence 1 of the answer has no text"),
        ({"answer": [{"text": "A.", "citations": [3]}]}, "Sentence 1 cites 3"),
        ({"answer": [{"text": "A.", "citations": [True]}]}, "Sentence 1 cites True"),
        ({"answer": [{"text": "A.", "citations": "0"}]}, "are not a list"),
    ],
)
def test_malformed_row_reports_error(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_trec({**ROW, **change}, INDEX)
