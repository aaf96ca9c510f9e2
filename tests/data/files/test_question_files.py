"""Question sets as files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.errors import FileFormatError, InvalidFileError
from data.files.question_sets.registry import load_set
from data.files.question_sets.rows import content_hash, write_set
from data.files.text_files import ReadLimits
from data.models import Question, QuestionSet
from tests.data.conftest import problems_of

TORN_GZIP = gzip.compress(b'{"id": "a", "domain": "d", "question": "Why?"}\n' * 50, mtime=0)[:-9]
LFRQA = Path(__file__).parents[3].parent / "shared" / "data" / "lfrqa"
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1).filter(
    lambda text: bool(text.strip())
)


def test_exported_set_imports_with_the_same_hash(
    make_set: Callable[..., QuestionSet], tmp_path: Path
) -> None:
    """Writing a set and loading the folder gives the same records and the same content hash."""
    written = make_set()
    write_set(written, tmp_path / "out")
    loaded = load_set(tmp_path / "out").questions
    assert loaded == written
    assert content_hash(loaded) == content_hash(written)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(title=TEXT, question=TEXT, reference=TEXT, label=TEXT)
def test_any_text_survives_export_and_import(
    tmp_path: Path, title: str, question: str, reference: str, label: str
) -> None:
    """No character of a title, label, question or reference is lost in set.toml or questions.jsonl."""
    only = Question(id="q", domain="d", question=question, reference=reference)
    written = QuestionSet(name="any", title=title, domains={"d": label}, questions=(only,))
    write_set(written, tmp_path)
    assert load_set(tmp_path).questions == written


def test_renamed_copy_has_the_same_hash(make_set: Callable[..., QuestionSet]) -> None:
    """The hash is of the content, so another name does not change it, and another question does."""
    assert content_hash(make_set("one")) == content_hash(make_set("two"))
    assert content_hash(make_set(count=5)) != content_hash(make_set(count=6))


def test_every_problem_is_reported_at_once_with_its_line(tmp_path: Path) -> None:
    """A file with many faults is refused with all of them listed, each with line and code."""
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
        (b'{"id": "a", "domain": "d", "question": "a\\u0000"}', "not-utf8"),
        (b'{"id": ' + b"[" * 100_000 + b"\n{}\n{}", "too-deep"),
    ],
    ids=["empty", "blank", "utf-16", "torn-gzip", "surrogate", "nul", "deep"],
)
def test_unreadable_file_is_refused_with_a_code(tmp_path: Path, content: bytes, code: str) -> None:
    """Empty, mis-encoded and cut-off files are problems, never tracebacks."""
    (tmp_path / "questions.jsonl").write_bytes(content)
    assert code in {problem.code for problem in problems_of(tmp_path)}


def test_gzip_bomb_stops_at_the_limit(tmp_path: Path) -> None:
    """What counts is the size after decompression, and reading stops there."""
    line = json.dumps({"id": "a", "domain": "d", "question": "x" * 1000}).encode() + b"\n"
    (tmp_path / "questions.jsonl").write_bytes(gzip.compress(line * 20_000))
    assert "too-large" in {one.code for one in problems_of(tmp_path, ReadLimits(file_bytes=1_000_000))}


def test_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    """Files saved by editors that write a UTF-8 byte order mark load like others."""
    (tmp_path / "questions.jsonl").write_bytes(b'\xef\xbb\xbf{"id": "a", "domain": "d", "question": "Why?"}')
    assert load_set(tmp_path).questions.questions[0].id == "a"


@pytest.mark.parametrize("head", ["title = ", 'name = 5\ntitle = "x"', 'name = "n"\ntitle="t"\ndomains = 3'])
def test_broken_head_is_a_problem(tmp_path: Path, head: str) -> None:
    """A set.toml that is no TOML, or of other types, is reported and nothing is loaded."""
    (tmp_path / "set.toml").write_text(head)
    (tmp_path / "questions.jsonl").write_text('{"id": "a", "domain": "d", "question": "Why?"}')
    assert {problem.code for problem in problems_of(tmp_path)} <= {"bad-toml", "wrong-type"}


def test_undeclared_domain_is_a_problem(tmp_path: Path) -> None:
    """A question in a domain that set.toml does not declare is refused by name."""
    (tmp_path / "set.toml").write_text('name = "n"\ntitle = "t"\n[domains]\nx = "Ex"\n')
    (tmp_path / "questions.jsonl").write_text('{"id": "a", "domain": "y", "question": "Why?"}')
    with pytest.raises(InvalidFileError, match="1 problem") as caught:
        load_set(tmp_path)
    assert "y" in caught.value.problems[0].message


def test_missing_path_says_so(tmp_path: Path) -> None:
    """A path that does not exist is one clear error."""
    with pytest.raises(FileFormatError, match="There is no"):
        load_set(tmp_path / "nowhere")


@pytest.mark.long
@pytest.mark.skipif(not LFRQA.is_dir(), reason="NO LFRQA FILES beside the checkout")
def test_lfrqa_files_import_as_they_are() -> None:
    """The published annotation files give 14,020 questions over six domains; four lack a reference."""
    loaded = load_set(LFRQA)
    assert len(loaded.questions.questions) == 14_020
    assert set(loaded.questions.domains) == {
        "fiqa",
        "lifestyle",
        "recreation",
        "science",
        "technology",
        "writing",
    }
    empty = [warning for warning in loaded.warnings if warning.code == "empty-reference"]
    assert len(empty) == 4
    first = loaded.questions.by_id["fiqa-1093"]
    assert first.gold_doc_ids == ("261024", "99679", "285502", "59687", "359465")
    assert first.reference is not None
    assert first.reference.startswith("For current pricing")
