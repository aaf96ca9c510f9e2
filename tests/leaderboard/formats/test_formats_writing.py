"""Battle files come back from every format as they went in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.errors import FileFormatError
from data.files.zip_files import atomic_text
from leaderboard.columns import fault, spelled
from leaderboard.formats.reading import read_chunks
from leaderboard.formats.rows import COLUMNS, BattleRows, Place
from leaderboard.formats.writing import convert, write_chunks

WORDS = ["model_a", "model_b", "tie", "tie (bothbad)"]
NAMES = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
    .map(lambda name: spelled(name, "question_id"))
    .filter(lambda name: fault(name, "model_a") is None and fault(name, "question_id") is None)
)
PAIRS = st.tuples(NAMES, NAMES).filter(lambda pair: pair[0] != pair[1])
SOFT = {"model_a": (0.53125, 0.75, 1.0), "model_b": (0.0, 0.25, 0.46875)}
VERDICTS = st.sampled_from(WORDS).flatmap(
    lambda word: st.tuples(st.just(word), st.none() | st.sampled_from(SOFT.get(word, (0.5, 0.4375, 0.625))))
)
ROWS = st.lists(
    st.tuples(NAMES, PAIRS, VERDICTS, st.sampled_from(["ab", "ba"])).map(
        lambda row: (*row[:2], *row[2], row[3])
    ),
    min_size=1,
    max_size=12,
)
Row = tuple[str, tuple[str, str], str, float | None, str]
RELAXED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def battles(rows: list[Row]) -> BattleRows:
    return BattleRows(
        place=Place(file="made", first_row=1),
        question_id=[row[0] for row in rows],
        domain=["fiqa" for _ in rows],
        model_a=[row[1][0] for row in rows],
        model_b=[row[1][1] for row in rows],
        winner=[row[2] for row in rows],
        score=[row[3] for row in rows],
        weight=[float(1 + index) for index, _ in enumerate(rows)],
        judge=["lexical" for _ in rows],
        order=[row[4] for row in rows],
    )


def columns(chunks: list[BattleRows]) -> dict[str, list[object]]:
    return {
        name: [value for chunk in chunks for value in (getattr(chunk, name) or [None] * len(chunk))]
        for name in COLUMNS
    }


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "jsonl.gz", "csv.gz"])
@RELAXED
@given(rows=ROWS)
def test_native_files_keep_every_column(tmp_path: Path, suffix: str, rows: list[Row]) -> None:
    made = battles(rows)
    path = tmp_path / f"battles.{suffix}"
    assert write_chunks([made], path).rows == len(made)
    assert columns(list(read_chunks(path))) == columns([made])


@pytest.mark.parametrize("kind", ["alpaca-eval", "arena-hard", "rag-qa-arena-eval"])
def test_other_arenas_read_back_what_was_written(tmp_path: Path, kind: str) -> None:
    """Plain verdicts go through AlpacaEval's, Arena-Hard's and RAG-QA Arena's records unchanged."""
    made = BattleRows(
        place=Place(file="made", first_row=1),
        question_id=["q1", "q1", "q2"],
        domain=["fiqa"] * 3,
        model_a=["m"] * 3,
        model_b=["base"] * 3,
        winner=["model_a", "model_b", "tie"],
        order=["ab", "ba", "ab"],
    )
    path = tmp_path / "out.json"
    write_chunks([made], path, write_as=kind)
    back = columns(list(read_chunks(path, kind)))
    if kind == "rag-qa-arena-eval":
        assert back["model_a"] == ["m", "base", "m"]
        assert back["winner"] == ["model_a", "model_a", "tie"]
        return
    order = [1, 0, 2] if kind == "arena-hard" else [0, 1, 2]
    for name in ("question_id", "domain", "model_a", "model_b", "winner"):
        assert back[name] == [columns([made])[name][index] for index in order]


def test_what_a_format_cannot_hold_is_refused_and_no_half_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    made = battles([("q", ("x", "y"), "model_a", 0.6, "ab")])
    with pytest.raises(FileFormatError, match="cannot hold the score"):
        write_chunks([made], path, write_as="rag-qa-arena-eval")
    with pytest.raises(FileFormatError, match="cannot be written as CSV"):
        write_chunks([made], tmp_path / "out.csv", write_as="alpaca-eval")
    assert list(tmp_path.iterdir()) == []


def test_a_file_holds_what_its_name_says_or_is_not_written(tmp_path: Path) -> None:
    made = battles([("q", ("x", "y"), "model_a", 0.6, "ab")])
    write_chunks([made], tmp_path / "out.JSON")
    assert [row["winner"] for row in json.loads((tmp_path / "out.JSON").read_text())] == ["model_a"]
    write_chunks([made], tmp_path / "out.CSV")
    assert (tmp_path / "out.CSV").read_text().startswith("question_id,domain,model_a,")
    for name in ("out.xlsx", "out", "out.parquet.gz", "out.jsonl.zst"):
        with pytest.raises(FileFormatError, match="which say what is written"):
            write_chunks([made], tmp_path / name)
    with (
        pytest.raises(FileFormatError, match="says that it holds something else"),
        atomic_text(tmp_path / "out.PDF"),
    ):
        pass
    assert {file.name for file in tmp_path.iterdir()} == {"out.JSON", "out.CSV"}


def test_equal_battles_give_equal_bytes(tmp_path: Path) -> None:
    made = battles([("q", ("x", "y"), "model_a", 0.6, "ab")])
    for name in ("one.jsonl.gz", "two.jsonl.gz"):
        write_chunks([made], tmp_path / name)
    assert (tmp_path / "one.jsonl.gz").read_bytes() == (tmp_path / "two.jsonl.gz").read_bytes()


def test_a_conversion_reports_what_it_left_out(tmp_path: Path) -> None:
    source = tmp_path / "annotations.json"
    record = {"instruction": "a", "generator_1": "x", "generator_2": "y", "preference": 1.2}
    source.write_text(json.dumps([record, record | {"instruction": "b", "preference": None}]))
    written = convert(source, tmp_path / "out.jsonl")
    assert written.rows == 1
    assert dict(written.left_out) == {"no preference": 1}
