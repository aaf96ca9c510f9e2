"""`arena metrics meta-evaluate` over the files that the papers' authors published, and over others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ATOMS = {
    "input": "Tell me about the bridge.",
    "output": "It opened in 1905.",
    "atoms": [
        {"id": "a0", "text": "The bridge opened in 1905.", "label": "S"},
        {"id": "a1", "text": "The bridge is green.", "label": "NS"},
    ],
    "contexts": [{"id": "c0", "title": "Bridge", "text": "The bridge opened in 1905."}],
}


@pytest.mark.parametrize("shape", ["object", "list", "by model", "lines"])
def test_meta_evaluation_reads_the_authors_own_json(run: Any, tmp_path: Path, shape: str) -> None:  # noqa: ANN401 - the class stands in a conftest
    """E15: one JSON value on many lines is read as what it is, and not as hundreds of broken lines."""
    values = {"object": ATOMS, "list": [ATOMS, ATOMS], "by model": {"one": [ATOMS], "two": [ATOMS]}}
    path = tmp_path / "authors.json"
    path.write_text(json.dumps(values.get(shape, ATOMS), indent=None if shape == "lines" else 4))
    found = run.json("metrics", "meta-evaluate", path, "--metric", "factuality-fr1")
    assert found["metrics"][0]["claims"] == (2 if shape in {"object", "lines"} else 4)
    code, _, said = run("metrics", "meta-evaluate", path)
    assert (code, len(said.splitlines())) == (1, 1)
    assert "--metric factuality-fr3" in said


def test_what_cannot_be_evaluated_on_is_told_in_one_line(run: Any, tmp_path: Path) -> None:  # noqa: ANN401 - as above
    """E15: a file of another kind makes one line, with what is wrong and which kinds are read."""
    path = tmp_path / "other.json"
    path.write_text(json.dumps([{"id": number, "text": "x"} for number in range(535)], indent=1))
    code, _, said = run("metrics", "meta-evaluate", path, "--metric", "factuality-fr1")
    lines = said.splitlines()
    assert (code, len(lines)) == (1, 1)
    assert "none of its 535 rows can be used; row 1: question is missing" in lines[0]
    assert "Rows have id, question, passages and claims" in lines[0]
    path.write_text("{\n\n" * 535)
    code, _, said = run("metrics", "meta-evaluate", path)
    assert (code, len(said.splitlines())) == (1, 1)
    assert "neither JSON lines nor one JSON value" in said
