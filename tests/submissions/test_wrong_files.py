from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.models import Question, QuestionSet
from submissions.check import check_answers

GOLDEN = Path(__file__).parents[1] / "golden" / "wrong_files.json"
HEAD = b"question_id,answer\n"
USUAL = {"unanswered-questions", "no-contexts", "missing-contexts"}
THEIR_WORDS = (
    "Errno",
    "Expecting",
    "pydantic",
    "validation error",
    "Traceback",
    "unexpected end of",
    "Arrow",
)


def _parquet(**columns: list[str]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def _zip(**members: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return sink.getvalue()


def _tar(compression: str) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode=f"w:{compression}") as archive:  # type: ignore[call-overload]
        member = tarfile.TarInfo("a.jsonl")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"{}\n"))
    return sink.getvalue()


WRONG: Mapping[str, bytes | Callable[[], bytes]] = {
    "empty": b"",
    "blank": b"\n \n",
    "header only": HEAD,
    "utf-16": (HEAD.decode() + "1,A\n").encode("utf-16"),
    "utf-16 without a mark": (HEAD.decode() + "1,A\n").encode("utf-16-le"),
    "utf-32": (HEAD.decode() + "1,A\n").encode("utf-32"),
    "utf-32 without a mark": (HEAD.decode() + "1,A\n").encode("utf-32-be"),
    "latin-1": (HEAD.decode() + "1,é\n").encode("latin-1"),
    "nul": (HEAD.decode() + "1,a\0b\n").encode(),
    "tar": _tar(""),
    "tar.gz": _tar("gz"),
    "git lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    "form": b'--X\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n{}\r\n--X--\r\n',
    "pdf": b"%PDF-1.7\n",
    "html": b"<!DOCTYPE html><html></html>",
    "xml": b'<?xml version="1.0"?><a/>',
    "sqlite": b"SQLite format 3\0" + b"\0" * 90,
    "pickle": b"\x80\x04\x95\x01\x00\x00",
    "xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 50,
    "npy": b"\x93NUMPY\x01\x00v\x00",
    "parquet in gzip": gzip.compress(_parquet(question_id=["1"], answer=["A"])),
    "gzip in gzip": gzip.compress(gzip.compress(b"{}")),
    "cut gzip": gzip.compress(HEAD * 9)[:-9],
    "cut zstd": pa.compress((HEAD.decode() + "1,A\n").encode(), codec="zstd", asbytes=True)[:-4],
    "cut xz": lzma.compress(HEAD)[:-9],
    "cut bzip2": bz2.compress(HEAD)[:-9],
    "cut parquet": _parquet(question_id=["1"], answer=["A"])[:-20],
    "cut zip": _zip(a_jsonl=b"{}")[:-9],
    "zip in zip": _zip(a_zip=_zip(a_jsonl=b"{}")),
    "zip of two": _zip(a_jsonl=b"{}", b_jsonl=b"{}"),
    "prose": b"Dear all here are the answers\n",
    "tsv of others": b"a\tb\n1\t2\n",
    "unknown columns": b"name,words\n1,A\n",
    "no question column": b"answer,score\nA,1\n",
    "no answer column": b"question_id,words\n1,A\n",
    "wide": b"prompt,llama,gpt\nWhat is 1?,A,B\n",
    "long": b"model,prompt,response\na,What is 1?,A\nb,What is 1?,B\n",
    "column twice": b"question_id,answer,answer\n1,A,B\n",
    "promptfoo": b"question,[m] {{question}},Named Scores,Grader Reason\nWhat is 1?,A,,\n",
    "too many cells": (HEAD.decode() + "1,A,B\n").encode(),
    "open quote": (HEAD.decode() + '1,"A\n').encode(),
    "quote in a cell": (HEAD.decode() + '1,"A" B\n').encode(),
    "parquet without columns": _parquet(name=["1"], words=["A"]),
    "json cut": b'[{"question_id": "1", "answer": "A"}',
    "json trailing": b'[{"question_id": "1", "answer": "A"}] x',
    "json comma": b'[{"question_id": "1", "answer": "A"},]',
    "jsonl cut": b'{"question_id": "1", "answer": "A"}\n{"question_id": "2", "ans',
    "jsonl comma": b'{"question_id": "1", "answer": "A"}\n{"question_id": "2", "answer": "B"},',
    "single quotes": b"{'question_id': '1', 'answer': 'A'}\n",
    "NaN": b'{"question_id": "1", "answer": NaN}\n',
    "two fields": b'{"answer": "a", "answer": "b"}\n',
    "spread": b'{\n"question_id": "1"\n}\n{\n"question_id": "2"\n}',
    "no table": b'{"model": {"a": 1}, "n": 3}',
    "list rows": b'[["1", "A"]]',
    "strings": b'"A"\n',
    "id is a list": b'{"question_id": ["1"], "answer": "A"}\n',
    "id is a fraction": b'{"question_id": 1.5, "answer": "A"}\n',
    "id is true": b'{"question_id": true, "answer": "A"}\n',
    "answer is a number": b'{"question_id": "1", "answer": 5}\n',
    "answer is null": b'{"question_id": "1", "answer": null}\n',
    "answer is a list": b'{"question_id": "1", "answer": ["A"]}\n',
    "no answer": b'{"question_id": "1", "words": "A"}\n',
    "no id": b'{"answer": "A"}\n',
    "unknown id": b'{"question_id": "22", "answer": "A"}\n',
    "near id": b'{"question_id": "question-11", "answer": "A"}\n',
    "unknown text": b'{"question": "Why?", "answer": "A"}\n',
    "slipped": b'{"question_id": "1", "question": "What is 2?", "answer": "A"}\n',
    "contexts as text": b'{"question_id": "1", "answer": "A", "contexts": "p"}\n',
    "context of a number": b'{"question_id": "1", "answer": "A", "contexts": [5]}\n',
    "context without a text": b'{"question_id": "1", "answer": "A", "contexts": [{"id": "d"}]}\n',
    "ids of contexts twice": b'{"question_id": "1", "answer": "A", "contexts": [{"id": "d", "text": "a"}, '
    b'{"doc_id": "d", "text": "b"}]}\n',
    "cell is no list": (b"question_id,answer,contexts\n1,A,p\n"),
    "list with dots": b"question_id,answer,contexts\n1,A,\"['a' ... 'b']\"\n",
    "twice": b'{"question_id": "1", "answer": "A"}\n{"question_id": 1.0, "answer": "B"}\n',
    "all missing": (HEAD.decode() + "1,NA\n2,None\n").encode(),
    "figure": b'{"question_id": "1", "answer": "A", "usd": "x"}\n',
    "run": b"1 Q0 d1 1 2.5 x\n",
}


@pytest.fixture(scope="module")
def asked() -> QuestionSet:
    questions = [Question(id=f"{at}", domain="d", question=f"What is {at}?") for at in (1, 2, 3, 4)]
    questions.append(Question(id="question-1", domain="d", question="What?"))
    return QuestionSet(name="s", title="S", domains={"d": "D"}, questions=tuple(questions))


def _first(name: str, asked: QuestionSet, tmp_path: Path) -> str:
    path = tmp_path / "f"
    content = WRONG[name]
    path.write_bytes(content if isinstance(content, bytes) else content())
    problem = next(one for one in check_answers(path, asked).problems if one.code not in USUAL)
    return f"line {problem.line}: {problem.code}: {problem.message} {problem.advice}"


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_told_in_one_line(name: str, asked: QuestionSet, tmp_path: Path) -> None:
    expected = json.loads(GOLDEN.read_text(encoding="utf-8"))
    told = _first(name, asked, tmp_path)
    assert told == expected[name]
    assert "\n" not in told
    assert not any(word in told for word in THEIR_WORDS)


def test_each_kind_of_wrong_file_has_its_line() -> None:
    assert set(json.loads(GOLDEN.read_text(encoding="utf-8"))) == set(WRONG)
    assert len(WRONG) >= 60
