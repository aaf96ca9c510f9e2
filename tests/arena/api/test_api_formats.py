"""Files of other tools by the API, over real HTTP."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable

import httpx
import pyarrow as pa
import pyarrow.parquet as pq

Submit = Callable[..., httpx.Response]


def rows(word: str) -> list[dict[str, str]]:
    """Answers to the tiny set."""
    return [{"question_id": f"q{number}", "answer": f"Item {number} is {word}."} for number in range(12)]


def zipped(members: dict[str, bytes]) -> bytes:
    """A zip file."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return content.getvalue()


def test_zip_files_are_checked_and_submitted(alpha: httpx.Client, submit: Submit) -> None:
    """A single file brings a folder; the report says what was recognised."""
    table = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows("blue")), table)
    dataset = zipped({"mine/data/test-00000-of-00001.parquet": table.getvalue(), "mine/README.md": b"# M"})
    report = alpha.post("/sets/tiny/check", content=dataset, params={"file_name": "mine.zip"}).json()
    assert (report["format"], report["layout"]) == ("parquet", "arena")
    assert (report["answers"], report["errors"]) == (12, 0)
    added = submit(alpha, dataset, system="from-a-dataset")
    assert (added.status_code, added.json()["answers"]) == (201, 12)
    samples = {
        f"samples/{row['question_id']}_epoch_1.json": json.dumps(
            {"id": row["question_id"], "epoch": 1, "input": "", "output": {"completion": row["answer"]}}
        ).encode()
        for row in rows("red")
    }
    added = submit(alpha, zipped({"header.json": b"{}", **samples}), system="from-a-log")
    assert (added.status_code, added.json()["answers"]) == (201, 12)


def test_hostile_files_are_one_line(alpha: httpx.Client) -> None:
    """A path outwards and a damaged table are problems of the file, and no error of the server."""
    for content, code in (
        (zipped({"../a.jsonl": b"{}"}), "bad-archive"),
        (b"PAR1" + b"\x00" * 40 + b"PAR1", "damaged-file"),
        (b"\xff\xff\xff\xff\x10\x00\x00\x00" + b"\x7f" * 40, "damaged-file"),
    ):
        response = alpha.post("/sets/tiny/check", content=content)
        assert response.status_code == 200
        (problem,) = (one for one in response.json()["problems"] if one["severity"] == "error")
        assert problem["code"] == code


def test_a_bomb_takes_its_own_process_no_further(alpha: httpx.Client) -> None:
    """A row of 190,000 contexts that a dictionary repeats is refused for its memory; the server goes on."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 190_000, pa.int32()), ["x" * 100_000])
    offsets = pa.array([0] * 1_000 + [190_000], pa.int32())
    table = pa.table(
        {
            "question_id": ["q1"] * 1_000,
            "answer": ["It is."] * 1_000,
            "contexts": pa.ListArray.from_arrays(offsets, texts),
        }
    )
    content = io.BytesIO()
    pq.write_table(table, content)
    assert len(content.getvalue()) < 100_000
    report = alpha.post("/sets/tiny/check", content=content.getvalue()).json()
    assert "too-large" in {one["code"] for one in report["problems"] if one["line"] == 0}
    assert alpha.get("/sets/tiny").status_code == 200
