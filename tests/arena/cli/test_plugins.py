"""Plugin metrics and judges, from the examples of the docs to the board."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from arena.services.text_process import end_idle
from data.plugins import find_plugins, use_plugin_files
from tests.arena.conftest import Commands, write_lines

ROOT = Path(__file__).parents[3]
DOCUMENT = ROOT / "docs" / "extending.md"
EXAMPLE = re.compile(r"<!-- file: (\w+) -->\n```python\n(.*?)```", re.DOTALL)
EXAMPLES = dict(EXAMPLE.findall(DOCUMENT.read_text(encoding="utf-8")))
FAILING = """
import numpy as np
from judges.metrics.registry import Column, MetricInfo, of_function


def half(item):
    if item.id.endswith("1"):
        raise ValueError("odd")
    return np.nan if item.id.endswith("3") else (np.float32(0.5), {"parts": np.array([1, np.inf])})


def moody(question, a, b, reference):
    if len(question) % 2:
        raise RuntimeError("not today")
    return "a"


async def vague(question, a, b, reference):
    return "maybe"


COLUMN = Column(heading="H", help="Half.")
METRICS = (MetricInfo(name="half", title="Half", build=of_function(half), column=COLUMN),)
JUDGES = {"moody": moody, "vague": vague}
"""


@pytest.fixture(autouse=True)
def _own_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_PLUGINS", "")


def written(folder: Path, name: str, text: str) -> Path:
    """Write a plugin file."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return path


def example(folder: Path, kind: str) -> tuple[str, Path]:
    """Return the options that load an example of the docs."""
    return "--plugin", written(folder, kind, EXAMPLES[kind])


def forget(path: Path) -> None:
    """Unload plugins, as in a new process."""
    end_idle()
    find_plugins.cache_clear()
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(path):
            del sys.modules[name]


def test_documented_examples_reach_board(arena_of: Commands, tmp_path: Path) -> None:
    kinds = {"metric", "judge", "format", "battles", "sets", "retriever", "transport", "page"}
    assert EXAMPLES.keys() == kinds
    assert all(len(code.splitlines()) < 30 for code in EXAMPLES.values())
    plugins = [word for kind in EXAMPLES for word in example(tmp_path, kind)]
    listed = arena_of.json(*plugins, "metrics", "list", "--json")
    assert (listed[-1]["name"], listed[-1]["column"]) == ("brevity", "Brief")
    words = ("--set", "tiny", "--judge", "shorter", "--pairs", "reference", "--name", "r")
    arena_of.done(*plugins, "rounds", "run", *words)
    status = arena_of.json("rounds", "status", "r", "--json")
    assert (status["judged"], status["failed"]) == (status["planned"], 0)
    arena_of.done(*plugins, "rounds", "publish", "r")
    board = arena_of.json(*plugins, "leaderboard", "show", "r", "--json")
    assert board["facts"]["judge"] == "shorter"
    means = {line["system"]: line["scores"]["brevity"]["mean"] for line in board["lines"]["overall"]}
    assert 0 < means["whole"] < means["half"] <= 1
    assert "Brief" in arena_of(*plugins, "leaderboard", "show", "r")[1].splitlines()[0]
    scores = arena_of.json(*plugins, "metrics", "show", "--set", "tiny", "--metric", "brevity", "--json")
    assert scores["measures"] == {"score": "score", "words": "words"}


def test_documented_format_is_read(arena_of: Commands, tmp_path: Path) -> None:
    plugin = example(tmp_path, "format")
    rows = [{"ticket": f"q{number}", "reply": f"Item {number} is small."} for number in range(12)]
    path = write_lines(tmp_path / "answers.jsonl", rows)
    arena_of.fails("submissions", "check", path, "--set", "tiny")
    report = arena_of.json(*plugin, "submissions", "check", path, "--set", "tiny", "--json")
    assert (report["layout"], report["accepted"]) == ("helpdesk", True)
    added = arena_of.json(*plugin, "submissions", "add", path, "--set", "tiny", "--system", "desk", "--json")
    assert added["answers"] == len(rows)


def test_failing_plugin_names_row(arena_of: Commands, tmp_path: Path) -> None:
    text = """
from submissions.formats.registry import AnswerFormat


def sloppy(row):
    return row["nested"]["field"]


def raising(row, questions):
    return {"answer": 1} if row["mine"] else 1 / 0


def fits(row):
    return "mine" in row


FORMATS = [
    AnswerFormat(name="sloppy", fits=sloppy, read=raising),
    AnswerFormat(name="raising", fits=fits, read=raising),
    AnswerFormat(name="arena", fits=fits, read=raising),
    "nonsense",
]
"""
    plugin = ("--plugin", written(tmp_path, "formats", text))
    path = tmp_path / "answers.jsonl"
    path.write_text('{"mine": 0}\n{"mine": 1}\n', encoding="utf-8")
    said = arena_of.fails(*plugin, "submissions", "check", path, "--set", "tiny")
    assert "has a format arena, but that name is already in use" in said
    assert "is a str, not a format" in said
    check = (*plugin, "submissions", "check", path, "--set", "tiny", "--json")
    report = json.loads(arena_of(*check)[1])
    messages = [problem["message"] for problem in report["problems"]]
    assert "The plugin format raising failed: ZeroDivisionError: division by zero." in messages
    assert any("returned {'answer': 1}" in message for message in messages)
    assert any("sloppy was not tried on every row: KeyError: 'nested'" in message for message in messages)
    path.write_text('{"question_id": "q1", "answer": "Yes, it is."}\n', encoding="utf-8")
    assert json.loads(arena_of(*check)[1])["layout"] == "arena"


def test_documented_battle_format_is_rated(run: Commands, tmp_path: Path) -> None:
    plugin = example(tmp_path, "battles")
    rows = [
        {"topic": f"t{number}", "home": "a", "away": "b", "won": ("home", "home", "away", "none")[number % 4]}
        for number in range(40)
    ]
    path = write_lines(tmp_path / "league.jsonl", [*rows, rows[0] | {"won": "abandoned"}])
    rates = run.json(*plugin, "battles", "winrates", path, "--reference", "b", "--json")
    assert rates["rows"][0]["win_rate"] == 0.5
    said = run.stderr(*plugin, "battles", "convert", path, "--from", "league", tmp_path / "native.jsonl")
    assert "the plugin format league failed: KeyError: 'abandoned'" in said
    converted = (tmp_path / "native.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["winner"] for line in converted[:2]] == ["model_a", "model_a"]
    assert len(converted) == 40
    run.fails("battles", "rate", path, "--from", "cup", code=2)


def test_documented_set_format_is_imported_and_exported(arena_of: Commands, tmp_path: Path) -> None:
    plugin = example(tmp_path, "sets")
    arena_of.done(*plugin, "sets", "export", "tiny", tmp_path / "out", "--format", "faq")
    arena_of.fails("sets", "export", "tiny", tmp_path / "none", "--format", "cup", code=2)
    file = tmp_path / "out" / "all.faq"
    imported = arena_of.json(*plugin, "sets", "import", file, "--json")
    assert (imported["name"], imported["questions"]) == ("all", 12)
    file.write_text("no tab", encoding="utf-8")
    said = arena_of(*plugin, "sets", "import", file)[2]
    assert "The plugin format faq failed: ValueError: not enough values" in said


def test_documented_retriever_runs(
    arena_of: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = example(tmp_path, "retriever")
    run = tmp_path / "run.jsonl"
    words = ("retrieve", "--set", "tiny", "--retriever", "handbook", "--out", run)
    done = arena_of.json(*plugin, *words, "--json")
    assert done["failed"] == {}
    rows = [json.loads(line) for line in run.read_text(encoding="utf-8").splitlines()]
    assert {hit["id"] for row in rows for hit in row["passages"]} == {"rent", "heat"}
    monkeypatch.setenv("ARENA_PLUGINS", "")
    assert "Unknown retriever 'handbook'" in arena_of.fails(*words)
    chosen = ("--set", "tiny", "--metric", "factuality-fr1", "--retriever", "handbook")
    scored = arena_of.json(*plugin, "metrics", "run", *chosen, "--json")
    assert scored["judge"].startswith("handbook@")


def test_retriever_results_are_checked(arena_of: Commands, tmp_path: Path) -> None:
    text = """
from data.models import Passage
from judges.retrieval import RetrieverInfo

ANSWERS = iter([None, [1], [Passage("a", "b"), Passage("a", "b")], [(Passage("a", "b"), float("nan"))]])


def find(query, k):
    return next(ANSWERS, [Passage("a", "b")] * 1)


async def broken(query, k):
    raise OSError("no index")


RETRIEVERS = {
    "odd": RetrieverInfo(name="odd", title="odd", find=find),
    "broken": RetrieverInfo(name="broken", title="broken", find=broken),
    "bm25": RetrieverInfo(name="bm25", title="another", find=find),
}
"""
    plugin = ("--plugin", written(tmp_path, "odd", text))
    run = ("--set", "tiny", "--out", tmp_path / "run.trec", "--json")
    done = arena_of.json(*plugin, "retrieve", "--retriever", "odd", *run)
    reasons = set(done["failed"].values())
    assert len(done["failed"]) == 4
    assert done["retrieved"] == done["questions"] - 4
    assert "The plugin retriever odd failed: It returned None, which is not a list of passages." in reasons
    none = arena_of.json(*plugin, "retrieve", "--retriever", "broken", *run)
    assert set(none["failed"].values()) == {"The plugin retriever broken failed: OSError: no index."}
    said = arena_of(*plugin, "retrieve", "--retriever", "other", *run)[2]
    assert "has a retriever bm25, but that name is already in use" in said


def test_documented_transport_runs(
    arena_of: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = example(tmp_path, "transport")
    words = ("--set", "tiny", "--judge", "reference-free", "--pairs", "reference", "--no-cap")
    arena_of.done(*plugin, "rounds", "run", *words, "--name", "c", "--transport", "canned")
    status = arena_of.json("rounds", "status", "c", "--json")
    assert status["judged"] == status["planned"] > 0
    monkeypatch.setenv("ARENA_PLUGINS", "")
    use_plugin_files(())
    assert "Unknown transport 'canned'" in arena_of.fails(
        "rounds", "run", *words, "--name", "d", "--transport", "canned", code=2
    )
    monkeypatch.setenv("ARENA_TRANSPORT", "canned")
    assert "Unknown transport 'canned'" in arena_of("sets", "list")[2]


def test_failing_transport_loses_only_its_call(arena_of: Commands, tmp_path: Path) -> None:
    text = """
from judges.llm.transports.registry import TransportInfo


def send(request):
    text = request.messages[-1].content
    if "item 3 " in text:
        return 1 / 0
    return 7 if "item 4?" in text else "<rating>2</rating>"


TRANSPORTS = TransportInfo(name="flaky", title="fails twice", send=send)
"""
    plugin = ("--plugin", written(tmp_path, "flaky", text))
    words = ("--set", "tiny", "--judge", "reference-free", "--pairs", "reference", "--no-cap", "--go-on")
    arena_of.done(*plugin, "rounds", "run", *words, "--name", "f", "--transport", "flaky")
    status = arena_of.json("rounds", "status", "f", "--json")
    assert status["failed"] + status["refused"] == 4, status
    assert status["judged"] == status["planned"] - 4


@pytest.mark.slow
def test_changed_metric_scores_again(arena_of: Commands, tmp_path: Path) -> None:
    code = "from judges.metrics.registry import MetricInfo, of_function\n"
    code += "METRICS = MetricInfo(name='flat', title='Flat', build=of_function(lambda item: {}))\n"
    words = ("metrics", "run", "--set", "tiny", "--metric", "flat", "--json")
    first = arena_of.json("--plugin", written(tmp_path, "flat", code.format(0.25)), *words)
    again = arena_of.json("--plugin", tmp_path / "flat.py", *words)
    assert (first["judged"], again["judged"]) == (first["answers"], 0)
    forget(tmp_path / "flat.py")
    changed = arena_of.json("--plugin", written(tmp_path, "flat", code.format(0.75)), *words)
    assert (changed["judged"], changed["mean"]) == (first["answers"], 0.75)


def test_failures_of_judge_function_are_counted(arena_of: Commands, tmp_path: Path) -> None:
    path = written(tmp_path, "failing", FAILING)
    words = ("--set", "tiny", "--judge", f"{path}:moody", "--pairs", "reference", "--name", "m")
    arena_of.done("rounds", "run", *words)
    status = arena_of.json("rounds", "status", "m", "--json")
    assert min(status["judged"], status["failed"]) > 0
    assert status["judged"] + status["failed"] == status["planned"]
    why = "The judge moody failed: RuntimeError: not today."
    assert status["reasons"] == [{"outcome": "failed", "reason": why, "battles": status["failed"]}]
    assert f"failed: {status['failed']} × {why}" in arena_of("rounds", "status", "m")[1].splitlines()


def test_unloadable_plugin_is_reported(arena_of: Commands, tmp_path: Path) -> None:
    plugin = ("--plugin", written(tmp_path, "broken", "1 / 0\n"))
    code, listed, said = arena_of(*plugin, "metrics", "list")
    assert code == 0
    assert "nuggets" in listed
    assert "broken.py was not loaded: ZeroDivisionError: division by zero." in said
    assert "broken.py was not loaded" in arena_of.fails(
        *plugin, "metrics", "run", "--set", "tiny", "--metric", "mine"
    )
    words = ("--set", "tiny", "--judge", "lexical", "--pairs", "reference", "--name", "r")
    arena_of.done(*plugin, "rounds", "run", *words)
    assert "broken.py was not loaded" in arena_of.stderr(*plugin, "rounds", "publish", "r")
