"""LFRQA's annotation files: what each sentence of a reference cites is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from data.errors import InvalidFileError
from data.files.question_sets.lfrqa import citations_of
from data.files.question_sets.registry import load_set
from data.files.question_sets.rows import write_set

LFRQA = Path(__file__).parents[3].parent / "shared" / "data" / "lfrqa"
DOCUMENTS = ("d1", "d2", "d3")


@pytest.mark.parametrize(
    ("cited", "reference", "citations"),
    [
        ("One. [1]\nTwo. [1, 3]", "One. \nTwo.", (("d1",), ("d1", "d3"))),
        ("One. [2] Two [3]. Three. [1]", "One.  Two . Three.", (("d2",), ("d3",), ("d1",))),
        ("One. [1] [2]\nTwo.\nThree. [2,2]", "One.\nTwo.\nThree.", (("d1", "d2"), (), ("d2",))),
        (
            "One. [3\nTwo. [1. 2]\nThree [x] [...]. [*1]",
            "One. [3*\nTwo.\nThree [x] [...].",
            (("d3",), ("d1", "d2"), ("d1",)),
        ),
        ("", "", ()),
    ],
    ids=["lines", "one-line", "in-a-row-and-none", "careless", "nothing"],
)
def test_each_sentence_has_the_documents_of_its_brackets(
    cited: str, reference: str, citations: tuple[tuple[str, ...], ...]
) -> None:
    """D2: numbers count the documents from 1; a sentence ends at its brackets, or with its line."""
    assert citations_of(cited, reference, DOCUMENTS) == citations


@pytest.mark.parametrize(
    ("cited", "reference"),
    [("One. [4]", "One."), ("One. [0]", "One."), ("One. [1]\nTwo. [1]", "One."), ("S[n] = x. [1]", "S = x.")],
    ids=["no-such-document", "from-zero", "more-text", "other-text"],
)
def test_citations_that_do_not_line_up_are_none(cited: str, reference: str) -> None:
    """D2: no citation is guessed where a number counts no document or the texts differ."""
    assert citations_of(cited, reference, DOCUMENTS) is None


def _file(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "annotations_fiqa_with_citation.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _row(qid: int, cited: str, **fields: object) -> dict[str, Any]:
    return {
        "qid": qid,
        "question": "Why?",
        "answer": "One. \nTwo.",
        "citation_numbers": [[1], [1]],
        "faithful_answer_w_citation": cited,
        "gold_doc_ids": [17, 23],
        **fields,
    }


def test_questions_left_without_citations_are_counted_in_the_import(tmp_path: Path) -> None:
    """D2: one warning a file says how many questions have no citations, and names the first of them."""
    good, bad = "One. [1]\nTwo. [1, 2]", "One. [1]\nTwo. [3]"
    loaded = load_set(_file(tmp_path, _row(1, good), *(_row(n, bad) for n in range(2, 9)), _row(9, "")))
    assert loaded.questions.by_id["fiqa-1"].citations == (("17",), ("17", "23"))
    assert loaded.questions.by_id["fiqa-2"].citations == ()
    assert loaded.questions.by_id["fiqa-2"].citation_numbers == ((1,), (1,))
    (warning,) = loaded.warnings
    assert (warning.code, warning.line) == ("citations-left-out", 2)
    assert "for 8 questions: 2, 3, 4, 5, 6 and 3 more." in warning.message


def test_citations_survive_an_export(tmp_path: Path) -> None:
    """D2: a set written as a folder and read again has the same citations."""
    loaded = load_set(_file(tmp_path, _row(1, "One. [2, 1]\nTwo.")))
    write_set(loaded.questions, tmp_path / "out")
    again = load_set(tmp_path / "out")
    assert again.questions.questions == loaded.questions.questions
    assert again.questions.by_id["fiqa-1"].citations == (("23", "17"), ())


@pytest.mark.parametrize("value", ["d1", ["d1"], [[None]], [[""]], [{"d1": 1}]])
def test_malformed_citations_are_a_problem(tmp_path: Path, value: object) -> None:
    """D2: citations of another shape are refused by name."""
    row = {"id": "a", "domain": "d", "question": "Why?", "citations": value}
    (tmp_path / "questions.jsonl").write_text(json.dumps(row))
    with pytest.raises(InvalidFileError, match="1 problem") as caught:
        load_set(tmp_path)
    assert "citations" in caught.value.problems[0].message


@pytest.mark.long
@pytest.mark.skipif(not LFRQA.is_dir(), reason="NO LFRQA FILES beside the checkout")
def test_the_published_files_keep_brackets_that_name_several_documents() -> None:
    """D2: 13,970 of 14,020 questions have citations, 14.9 % of whose sentences name several documents."""
    loaded = load_set(LFRQA)
    cited = [question for question in loaded.questions.questions if question.citations]
    assert len(cited) == 13_970
    named = [documents for question in cited for documents in question.citations if documents]
    assert sum(len(documents) > 1 for documents in named) / len(named) == pytest.approx(0.149, abs=0.0005)
    assert all(set(one) <= set(question.gold_doc_ids) for question in cited for one in question.citations)
    left = [warning for warning in loaded.warnings if warning.code == "citations-left-out"]
    assert sum(int(warning.message.split(" for ")[1].split()[0]) for warning in left) == 46
