"""Ids that look like chunks', and TREC files as they are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from data.corpora.chunking import Documents
from data.corpora.documents import content_hash, read_documents
from data.records import Passage, ProblemList


@pytest.mark.parametrize(
    ("known", "name", "document"),
    [
        ({"wiki#12"}, "wiki#12", "wiki#12"),
        ({"wiki#12"}, "wiki#13", "wiki#13"),
        ({"wiki#12"}, "wiki#12#3", "wiki#12"),
        ({"wiki"}, "wiki#13", "wiki"),
        ({"wiki"}, "other#1", "other"),
        ({"wiki", "a#1"}, "wiki#2", "wiki"),
        ({"a"}, "a", "a"),
        (set(), "a#1", "a"),
        ({"my d"}, "my%20d", "my d"),
        ({"my d"}, "my%20d#2", "my d"),
        ({"my d", "my%20d"}, "my%20d", "my%20d"),
        ({"a%20b"}, "a%20b", "a%20b"),
        ({"a%20b"}, "a%2520b", "a%20b"),
        ({"caf\u00e9"}, "cafe\u0301#1", "caf\u00e9"),
        ({"cafe\u0301"}, "caf\u00e9", "cafe\u0301"),
    ],
)
def test_a_known_id_is_never_taken_apart(known: set[str], name: str, document: str) -> None:
    """MIRACL's passages (`462221#4`) are documents where they are judged."""
    assert Documents(known).of(name) == document


def _read(path: Path) -> tuple[list[Passage], ProblemList]:
    problems = ProblemList()
    return list(read_documents(path, problems)), problems


def test_several_documents_stand_on_one_line(tmp_path: Path) -> None:
    """TREC documents end where they end, and not at the end of a line; a sign of less is no tag."""
    path = tmp_path / "x.trec"
    path.write_text(
        "<DOC><DOCNO>D2</DOCNO><TEXT>3 < 4 and 5 > 2</TEXT></DOC><DOC><DOCNO>D3</DOCNO><TEXT>beta\n"
        "<P>wombat</P></TEXT></DOC> <doc><docno>D4</docno><text>gamma</text></doc>\n"
    )
    found, problems = _read(path)
    assert [(each.id, " ".join(each.text.split())) for each in found] == [
        ("D2", "3 < 4 and 5 > 2"),
        ("D3", "beta wombat"),
        ("D4", "gamma"),
    ]
    assert problems.errors == 0


def test_trec_files_of_another_encoding_are_refused_with_their_line(tmp_path: Path) -> None:
    """A Latin-1 file is named, and no letter is replaced in silence."""
    path = tmp_path / "x.trec"
    path.write_bytes("<DOC>\n<DOCNO>D1</DOCNO>\ncaf\xe9</DOC>\n".encode("latin-1"))
    found, problems = _read(path)
    assert found == []
    assert [(each.line, each.code) for each in problems.result()] == [(3, "not-utf8")]


def test_every_unreadable_file_of_a_folder_is_listed_with_its_path(tmp_path: Path) -> None:
    """An empty file does not hide the others, and each is named as it stands in the folder."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "empty.txt").write_bytes(b"")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "utf16.txt").write_bytes("text".encode("utf-16"))
    (tmp_path / "fine.txt").write_text("text")
    assert len(content_hash(tmp_path)) == 64
    found, problems = _read(tmp_path)
    assert [each.id for each in found] == ["fine.txt"]
    messages = " ".join(each.message for each in problems.result())
    assert problems.errors == 3
    assert all(name in messages for name in ("deep/empty.txt", "latin.txt", "utf16.txt"))
