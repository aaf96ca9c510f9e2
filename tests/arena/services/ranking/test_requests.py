"""Names of systems from logs, folders and file names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from arena.services.ranking.requests import Columns, NamedFile, named_files, with_distinct_names
from data.files.tables.columns import Column

GOLDEN = Path(__file__).parents[3] / "golden" / "answers"
INSPECT = GOLDEN / "inspect_choices.json"


def _systems(*paths: str) -> list[list[str]]:
    files = named_files(paths)
    tables = [file.table(file.path, Columns()) for file in files]
    return [sorted(table.systems) for table in with_distinct_names(files, tables)]


@pytest.mark.parametrize(
    ("name", "stem"),
    [("gpt-4.1.jsonl", "gpt-4.1"), ("a.b_10-00-00.5.csv.gz", "a.b_10-00-00.5"), ("llama-3.2", "llama-3.2")],
)
def test_system_name_keeps_dots_of_file(name: str, stem: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    assert NamedFile.of(str(tmp_path / name)).system == stem


@pytest.mark.parametrize(
    "place", ["lm_eval/out/*/samples*", "lighteval/details/*/*/*/*", "opencompass/*/*/*"]
)
def test_log_directory_is_named_by_model(place: str) -> None:
    assert _systems(*map(str, GOLDEN.glob(place))) == [["good"]]


def test_logs_of_same_model_get_file_names(tmp_path: Path) -> None:
    other, vllm = tmp_path / "again.v2.json", tmp_path / "vllm.json"
    shutil.copy(INSPECT, other)
    vllm.write_text(INSPECT.read_text("utf-8").replace("openai-api/local/good", "vllm/good"), "utf-8")
    assert _systems(str(INSPECT), str(GOLDEN / "deepeval_bar.csv")) == [["good"], ["deepeval_bar"]]
    assert _systems(str(INSPECT), str(other)) == [["good (inspect_choices)"], ["good (again.v2)"]]
    assert _systems(str(INSPECT), str(vllm)) == [["openai-api/local/good"], ["vllm/good"]]
    assert _systems(str(INSPECT), f"mine={other}") == [["good"], ["mine"]]


def test_column_option_applies_to_one_file() -> None:
    columns = Columns(question="beta.csv:ask", answers=(f"{__file__}:tell", "text"))
    assert columns.in_file(Path("beta.csv")) == {Column.QUESTION: "ask", Column.ANSWER: "text"}
    assert columns.in_file(Path(__file__))[Column.ANSWER] == "tell"
