"""Question sets as files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data.errors import FileFormatError
from data.files.question_sets.lfrqa import citations_of
from data.files.question_sets.registry import load_set
from data.files.question_sets.rows import content_hash, question_to_json, write_set
from data.files.text_files import ReadLimits
from data.models import Importance, Nugget
from tests.data.conftest import make_set, problems_of, write_lines

TORN_GZIP = gzip.compress(b'{"id": "a", "domain": "d", "question": "Why?"}\n' * 50, mtime=0)[:-9]
LFRQA = Path(__file__).parents[3].parent / "shared" / "data" / "lfrqa"


def test_exported_set_imports_with_same_hash(tmp_path: Path) -> None:
    question_set = make_set()
    write_set(question_set, tmp_path / "out")
    loaded = load_set(tmp_path / "out").questions
    assert loaded == question_set
    assert content_hash(loaded) == content_hash(question_set) == content_hash(make_set("other"))
    assert content_hash(question_set) != content_hash(make_set(count=5))


def test_all_problems_are_reported_with_lines(tmp_path: Path) -> None:
    lines = [
        b'{"id": "a", "domain": "d", "question": "Why?"}',
        b'{"id": "a", "domain": "d", "question": "Again?"}',
        b"not json",
        b'{"id": "b", "domain": "d"}',
        b'{"id": "c", "domain": "d", "question": "  "}',
        b'{"id": "d", "domain": "d", "question": 5}',
        b'{"id": "e", "domain": "d", "question": "NaN?", "score": NaN}',
        b'{"id": "f", "domain": "d", "question": "\xff"}',
        b'{"id": "g", "id": "h", "domain": "d", "question": "Twice?"}',
        b"[1]",
        b'{"id": "i", "domain": "d", "question": "P?", "passages": [{"title": "no text"}]}',
        b'{"id": "j", "domain": "d", "question": "S?", "split": "train"}',
    ]
    (tmp_path / "questions.jsonl").write_bytes(b"\n".join(lines))
    assert [(problem.line, problem.code) for problem in problems_of(tmp_path)] == [
        (2, "duplicate-question"),
        (3, "not-json"),
        (4, "missing-field"),
        (5, "empty-field"),
        (6, "wrong-type"),
        (7, "not-finite"),
        (8, "not-utf8"),
        (9, "duplicate-key"),
        (10, "not-object"),
        (11, "bad-passage"),
        (12, "wrong-value"),
    ]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty-file"),
        (b"\n\n", "empty-file"),
        (b"\xff\xfe{\x00", "not-utf8"),
        (TORN_GZIP, "truncated-gzip"),
        (b'{"id": "a", "domain": "d", "question": "\\ud800"}', "not-utf8"),
        (b'{"id": ' + b"[" * 100_000 + b"\n{}\n{}", "too-deep"),
    ],
    ids=["empty", "blank", "utf-16", "torn-gzip", "surrogate", "deep"],
)
def test_unreadable_file_is_refused_with_code(tmp_path: Path, content: bytes, code: str) -> None:
    (tmp_path / "questions.jsonl").write_bytes(content)
    assert code in {problem.code for problem in problems_of(tmp_path)}


def test_gzip_bomb_stops_at_limit(tmp_path: Path) -> None:
    line = json.dumps({"id": "a", "domain": "d", "question": "x" * 1000}).encode() + b"\n"
    (tmp_path / "questions.jsonl").write_bytes(gzip.compress(line * 20_000))
    assert "too-large" in {
        problem.code for problem in problems_of(tmp_path, ReadLimits(file_bytes=1_000_000))
    }


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("title = ", "set.toml"),
        ('name = 5\ntitle = "x"', "name"),
        ('name = "n"\ntitle = "t"\ndomains = 3', "domains"),
        ('name = "n"\ntitle = "t"\n[domains]\nx = "Ex"\n', "not declare: d"),
    ],
)
def test_invalid_set_file_is_reported(tmp_path: Path, head: str, message: str) -> None:
    (tmp_path / "set.toml").write_text(head)
    (tmp_path / "questions.jsonl").write_text('{"id": "a", "domain": "d", "question": "Why?"}')
    assert message in " ".join(problem.message for problem in problems_of(tmp_path))


def test_missing_path_is_error(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="There is no"):
        load_set(tmp_path / "nowhere")


@pytest.mark.slow
@pytest.mark.skipif(not LFRQA.is_dir(), reason="NO LFRQA FILES next to the checkout")
def test_lfrqa_files_are_imported() -> None:
    loaded = load_set(LFRQA)
    assert len(loaded.questions.questions) == 14_020
    names = ("fiqa", "lifestyle", "recreation", "science", "technology", "writing")
    assert set(loaded.questions.domains) == set(names)
    empty = [warning for warning in loaded.warnings if warning.code == "empty-reference"]
    assert len(empty) == 4
    first = loaded.questions.by_id["fiqa-1093"]
    assert first.gold_doc_ids == ("261024", "99679", "285502", "59687", "359465")
    assert first.reference is not None
    assert first.reference.startswith("For current pricing")
    cited = [question for question in loaded.questions.questions if question.citations]
    assert len(cited) == 13_970
    named = [documents for question in cited for documents in question.citations if documents]
    assert sum(len(documents) > 1 for documents in named) / len(named) == pytest.approx(0.149, abs=0.0005)
    assert all(
        set(cited_ids) <= set(question.gold_doc_ids) for question in cited for cited_ids in question.citations
    )
    left = [warning for warning in loaded.warnings if warning.code == "citations-left-out"]
    assert sum(int(warning.message.split(" for ")[1].split()[0]) for warning in left) == 46


NUGGETS = (
    Nugget("Opened in 1905."),
    Nugget("Two towers.", Importance.VITAL),
    Nugget("Red.", Importance.OKAY),
)


def test_nuggets_are_part_of_question() -> None:
    plain = make_set()
    first, *rest = plain.questions
    with_nuggets = plain.with_questions([replace(first, nuggets=NUGGETS), *rest])
    assert question_to_json(with_nuggets.questions[0])["nuggets"] == [
        "Opened in 1905.",
        {"text": "Two towers.", "importance": "vital"},
        {"text": "Red.", "importance": "okay"},
    ]
    assert content_hash(with_nuggets) != content_hash(plain)
    assert all("nuggets" not in question_to_json(question) for question in plain.questions)


def written_beside(folder: Path, *topics: Mapping[str, Any]) -> Path:
    rows = [{"id": key, "domain": "d", "question": f"When is {key}?"} for key in ("12", "13")]
    write_lines(folder / "questions.jsonl", *rows)
    write_lines(folder / "nuggets.jsonl", *topics)
    return folder


def test_nuggets_file_in_folder_of_questions_is_read(tmp_path: Path) -> None:
    graded = {"text": "Red.", "importance": "okay", "assignment": "partial_support"}
    failed = {"text": "Green.", "importance": "failed"}
    folder = written_beside(
        tmp_path,
        {
            "query": "When?",
            "qid": 12,
            "nuggets": [graded, failed, {"text": "Two towers.", "importance": "vital"}],
        },
        {"query": "Who?", "qid": "99", "nuggets": []},
    )
    loaded = load_set(folder)
    assert loaded.questions.by_id["12"].nuggets == (NUGGETS[2], NUGGETS[1])
    assert loaded.questions.by_id["13"].nuggets == ()
    ungraded, unknown = loaded.warnings
    assert "1 nugget with the importance 'failed' skipped" in ungraded.message
    assert unknown.message.startswith("nuggets.jsonl: Topics without a question of this set are skipped: 1")


@pytest.mark.parametrize(
    ("topic", "code"),
    [
        ({"qid": "12", "nuggets": [{"text": "Red.", "importance": "great"}]}, "wrong-value"),
        ({"qid": "12", "nuggets": [{"importance": "okay"}]}, "bad-nugget"),
        ({"qid": "12", "nuggets": ["Red.", "Red."]}, "duplicate-nugget"),
        ({"qid": "12", "nuggets": "Red."}, "wrong-type"),
        ({"qid": "12"}, "missing-field"),
        ({"nuggets": ["Red."]}, "missing-field"),
    ],
)
def test_unusable_nuggets_are_problems_of_their_file(
    tmp_path: Path, topic: dict[str, Any], code: str
) -> None:
    (problem,) = problems_of(written_beside(tmp_path, {"qid": "13", "nuggets": ["Blue."]}, topic))
    assert (problem.line, problem.code) == (2, code)
    assert problem.message.startswith("nuggets.jsonl: ")


def test_repeated_nuggets_are_refused(tmp_path: Path) -> None:
    topic = {"qid": "12", "nuggets": ["Red."]}
    assert len(problems_of(written_beside(tmp_path, topic, topic))) == 1


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
def test_each_sentence_has_documents_of_its_brackets(
    cited: str, reference: str, citations: tuple[tuple[str, ...], ...]
) -> None:
    assert citations_of(cited, reference, DOCUMENTS) == citations


@pytest.mark.parametrize(
    ("cited", "reference"),
    [("One. [4]", "One."), ("One. [0]", "One."), ("One. [1]\nTwo. [1]", "One."), ("S[n] = x. [1]", "S = x.")],
    ids=["no-such-document", "from-zero", "more-text", "other-text"],
)
def test_mismatched_citations_are_none(cited: str, reference: str) -> None:
    assert citations_of(cited, reference, DOCUMENTS) is None


def _file(folder: Path, *rows: dict[str, Any]) -> Path:
    return write_lines(folder / "annotations_fiqa_with_citation.jsonl", *rows)


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


def test_import_counts_questions_without_citations(tmp_path: Path) -> None:
    good, bad = "One. [1]\nTwo. [1, 2]", "One. [1]\nTwo. [3]"
    loaded = load_set(_file(tmp_path, _row(1, good), *(_row(n, bad) for n in range(2, 9)), _row(9, "")))
    assert loaded.questions.by_id["fiqa-1"].citations == (("17",), ("17", "23"))
    assert loaded.questions.by_id["fiqa-2"].citations == ()
    assert loaded.questions.by_id["fiqa-2"].citation_numbers == ((1,), (1,))
    (warning,) = loaded.warnings
    assert (warning.code, warning.line) == ("citations-left-out", 2)
    assert "for 8 questions: 2, 3, 4, 5, 6 and 3 more." in warning.message
