"""Questions and documents with names that runs write in another way, from sets to measures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import RR, nDCG

Commands = Any  # what the fixture `run` of tests/arena/conftest.py gives
GOLD: Mapping[str, Sequence[str]] = {
    "q 1": ("wiki#12", "my d"),
    "q_1": ("wiki#13",),
    "q2": ("caf\u00e9 d",),
    "q3": ("p2",),
}
FOUND: Mapping[str, Sequence[str]] = {
    "q 1": ("wiki#13", "wiki#12", "other", "my d"),
    "q_1": ("wiki#12", "x", "wiki#13"),
    "q2": ("cafe d", "caf\u00e9 d"),
    "q3": ("p1", "p2"),
}


def _done(run: Commands, *words: object) -> str:
    """Return the output of a command that succeeds."""
    code, output, errors = run(*words)
    assert code == 0, errors
    return str(output)


@pytest.fixture
def asked(run: Commands, tmp_path: Path) -> Commands:
    """Commands over a set of four questions with gold documents."""
    path = tmp_path / "named.jsonl"
    rows = [{"id": key, "question": f"What of {key}?", "gold_doc_ids": gold} for key, gold in GOLD.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    _done(run, "sets", "import", path)
    return run


def _written(name: str) -> str:
    return name.replace(" ", "%20")


def _overall(found: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [row for row in found["rows"] if row["domain"] == "overall"]


@pytest.mark.parametrize("form", ["run", "rows"])
def test_ids_with_spaces_and_numbers_are_found(asked: Commands, form: str, tmp_path: Path) -> None:
    """`wiki#12` is a document, `my%20d` is `my d`, an empty text keeps its rank: as ir_measures computes."""
    path = tmp_path / "found"
    lines = [
        (_written(question), _written(document), 10 - rank)
        for question, documents in FOUND.items()
        for rank, document in enumerate(documents)
    ]
    if form == "run":
        text = "".join(f"{question} Q0 {document} 1 {score} r\n" for question, document, score in lines)
    else:
        rows = [
            {
                "question_id": question,
                "contexts": [{"id": one, "text": "" if one == "p1" else "t"} for one in documents],
            }
            for question, documents in FOUND.items()
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    _done(asked, "submissions", "add", path, "--kind", "contexts", "--set", "named", "--system", form)
    (row,) = _overall(asked.json("retrieval", "score", "--set", "named", "--json"))
    qrels = {question: dict.fromkeys(gold, 1) for question, gold in GOLD.items()}
    run = {
        question: {document: float(-rank) for rank, document in enumerate(documents)}
        for question, documents in FOUND.items()
    }
    for measure in (RR, nDCG @ 10):
        assert row[str(measure)] == pytest.approx(ir_measures.calc_aggregate([measure], qrels, run)[measure])


def test_names_of_qrels_are_those_of_the_set(asked: Commands, tmp_path: Path) -> None:
    """BEIR's judgments by tabs may hold spaces."""
    qrels, path = tmp_path / "qrels.tsv", tmp_path / "run.trec"
    qrels.write_text("query-id\tcorpus-id\tscore\nq 1\tmy d\t2\nq 1\tx#3\t1\n", encoding="utf-8")
    path.write_text("q%201 Q0 my%20d 1 2 r\nq%201 Q0 x#3 2 1 r\n", encoding="utf-8")
    (row,) = _overall(asked.json("retrieval", "score", path, "--set", "named", "--qrels", qrels, "--json"))
    assert (row["nDCG@10"], row["judged"]) == (1, 1)
