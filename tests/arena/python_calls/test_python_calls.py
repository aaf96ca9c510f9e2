"""`import answer_arena`: the same ranking from data frames, in scripts and in notebooks."""

from __future__ import annotations

import asyncio
import json
import linecache
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import answer_arena as aa
from data.errors import FileFormatError, InputError, InvalidFileError
from data.plugins import register_function
from tests.arena.conftest import Serve

NOTEBOOK = Path(__file__).parents[3] / "examples" / "rank.ipynb"
QUESTIONS = tuple(f"How does machine {number} work?" for number in range(12))
QUALITY = {"best": 5, "worst": 1}


def _facts(number: int, count: int) -> str:
    return " ".join(f"Part{part} of machine {number} turns wheel{part}." for part in range(count))


@pytest.fixture
def frames() -> dict[str, pd.DataFrame]:
    answers = {name: [_facts(number, count) for number in range(12)] for name, count in QUALITY.items()}
    return {name: pd.DataFrame({"prompt": QUESTIONS, "response": given}) for name, given in answers.items()}


@pytest.fixture
def right() -> list[dict[str, str]]:
    """References as rows."""
    return [
        {"question": question, "reference": _facts(number, 5)} for number, question in enumerate(QUESTIONS)
    ]


def test_frames_are_ranked_in_one_call(
    frames: dict[str, pd.DataFrame], right: list[dict[str, str]], tmp_path: Path
) -> None:
    ranking = aa.rank(frames, references=right, progress=False)
    assert list(ranking.board.system) == ["best", "worst"]
    assert ranking.sentence.startswith("best ")
    assert ranking.compare("best", "worst").wins == 12
    assert len(ranking.losses("worst", "best")) == 12
    assert len(ranking.comparisons) == 12
    assert ranking.cost.requests == 0
    assert "best" in ranking._repr_html_()
    head, first, *_ = str(ranking).splitlines()
    assert head.split()[:3] == ["rank", "system", "rating"]
    assert (first.split()[1], "..." in str(ranking)) == ("best", False)
    assert ranking.chart().to_dict()
    assert "best" in ranking.to_html(tmp_path / "page.html").read_text()
    more = ranking.add({"third": frames["best"].head(6)}, progress=False)
    assert set(more.board.system) == {"best", "worst", "third"}
    assert len(more.comparisons) == 12 + 2 * 12
    again = aa.rank({**frames, "third": frames["best"].head(6)}, references=right, progress=False)
    pd.testing.assert_frame_equal(more.comparisons, again.comparisons)
    assert more.board.partial.tolist().count("partial (6 of 12)") == 1


@pytest.mark.slow
def test_other_layouts_and_column_names_give_same_result(
    frames: dict[str, pd.DataFrame], right: list[dict[str, str]]
) -> None:
    expected = aa.rank(frames, references=right, progress=False).board
    named: dict[str, Any] = {"system": "who", "question": "asked", "answer": "said"}
    columns = {"prompt": "asked", "response": "said"}
    long = pd.concat(frame.rename(columns=columns).assign(who=name) for name, frame in frames.items())
    for data in (long, long.to_dict("records")):
        board = aa.rank(data, references=right, progress=False, **named).board
        pd.testing.assert_frame_equal(board, expected)
    wide = long.pivot_table("said", "asked", "who", aggfunc="first").rename_axis("question")
    board = aa.rank(wide, references=right, progress=False).board
    pd.testing.assert_frame_equal(board, expected)
    with pytest.raises(InvalidFileError, match="has a problem") as refused:
        aa.rank(wide.reset_index(drop=True), references=right, progress=False)
    assert refused.value.__notes__ == ["No row names a question; the columns are: 'best', 'worst'."]
    with pytest.raises(FileFormatError, match="'who' seems to name the systems"):
        aa.rank(long, references=right, progress=False, **named | {"system": "nothing"})
    with pytest.raises(InputError, match="cannot be read from the type int"):
        aa.rank(3, progress=False)


def test_calls_work_in_running_event_loop(
    frames: dict[str, pd.DataFrame], scripted_llm: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    llm = scripted_llm()

    async def cell() -> aa.Ranking:
        return aa.rank(frames, judge="some-model", endpoint=llm.url, progress=False)

    ranking = asyncio.run(cell())
    assert ranking.cost.requests == 12
    assert len(ranking.comparisons) == 12


def test_polars_frames_give_same_result(frames: dict[str, pd.DataFrame], right: list[dict[str, str]]) -> None:
    if find_spec("polars") is None:
        pytest.skip("NO POLARS: its frames are not ranked here")
    pl = import_module("polars")
    expected = aa.rank(frames, references=right, progress=False).board
    of_polars = {name: pl.DataFrame(frame.to_dict("list")) for name, frame in frames.items()}
    board = aa.rank(of_polars, references=pl.DataFrame(right), progress=False).board
    pd.testing.assert_frame_equal(board, expected)
    long = pl.concat([frame.with_columns(pl.lit(name).alias("who")) for name, frame in of_polars.items()])
    named: dict[str, Any] = {"system": "who", "question": "prompt", "answer": "response"}
    pd.testing.assert_frame_equal(aa.rank(long, references=right, progress=False, **named).board, expected)


@pytest.mark.slow
def test_example_notebook_runs() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {}

    async def run() -> None:
        await asyncio.sleep(0)
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "code":
                text = "".join(cell["source"])
                linecache.cache[f"<cell {number}>"] = (len(text), None, text.splitlines(keepends=True), "")
                exec(compile(text, f"<cell {number}>", "exec"), names)  # noqa: S102 - our own example

    asyncio.run(run())
    board = names["board"]
    assert set(board.board.system) == {"delta", "alpha", "beta", "gamma"}
    assert len(board.comparisons) == 12 * 6
    assert board.chart().to_dict()


ASKED: list[str] = []


def _longer(question: str, a: str, b: str, _reference: str | None) -> str:
    ASKED.append(question)
    return "a" if len(a) > len(b) else "b"


async def _longer_later(question: str, a: str, b: str, reference: str | None) -> str:
    await asyncio.sleep(0)
    return _longer(question, a, b, reference)


@pytest.mark.slow
@pytest.mark.parametrize("judge", [_longer_later, _longer])
def test_function_can_judge(frames: dict[str, pd.DataFrame], judge: Callable[..., Any]) -> None:
    ASKED.clear()
    ranking = aa.rank(frames, judge=judge, progress=False)
    assert (len(ASKED), ranking.compare("best", "worst").wins) == (12, 12)
    assert (ranking.cost.requests, ranking.cost.usd) == (0, 0)

    async def cell() -> aa.Ranking:
        return ranking.add({"third": frames["best"].head(6)}, progress=False)

    # Without an answer, it loses; the first two systems are not compared again.
    assert (len(asyncio.run(cell()).comparisons), len(ASKED)) == (3 * 12, 2 * 12)
    assert aa.judge("Which?", "longer", "short", judge=judge).preference == "a"
    assert aa.estimate(frames, judge=judge)["requests"] == 0


def _by_word(_question: str, a: str, b: str, _right: str | None) -> str:
    return "tie" if a == b else "ab"[a < b]


@pytest.mark.slow
def test_repeats_cluster_by_question(tmp_path: Path) -> None:
    words = {"x": "BBAABABB", "y": "ABABBAAA"}

    def ranked(name: str, repeats: int, word: Callable[[str, int, int], str]) -> tuple[pd.DataFrame, Any]:
        data = {
            system: [
                {"question": f"What is {at}?", "answer": word(system, at, run)}
                for at in range(8)
                for run in range(repeats)
            ]
            for system in words
        }
        out = tmp_path / name
        ranking = aa.rank(data, judge=_by_word, out=out, repeats="all", progress=False)
        board = pd.read_csv(out / "board.csv").query("domain == 'overall'").set_index("system")
        return board, ranking.compare("x", "y")

    once, single = ranked("once", 1, lambda system, at, _: words[system][at])
    thrice, copied = ranked("thrice", 3, lambda system, at, _: words[system][at])
    same = ["rating", "lower", "upper", "win_rate", "win_lower", "win_upper", "mean_score", "clustered_error"]
    pd.testing.assert_frame_equal(thrice[same], once[same], rtol=1e-9)
    assert (list(thrice.questions), list(thrice.battles), list(thrice.answers)) == ([8, 8], [24, 24], [8, 8])
    assert (copied.p_value, copied.lower, copied.share_upper) == pytest.approx(
        (single.p_value, single.lower, single.share_upper)
    )
    varied, _ = ranked("varied", 3, lambda system, at, run: words[system][(at + run * (system == "x")) % 8])
    met = [[(words["x"] * 2)[at + run] for run in range(3)] for at in range(8)]
    shares = [sum((a > b) + (a == b) / 2 for a in some) / 3 for some, b in zip(met, words["y"], strict=True)]
    assert varied.clustered_error["x"] == pytest.approx(pd.Series(shares).sem(), rel=1e-9)


def _noting(log: list[str]) -> str:
    return register_function(lambda *_texts: str(log))


def test_functions_with_equal_names_are_distinct(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = [lambda *_texts, word=word: word for word in ("a", "b")]
    assert {aa.judge("Which?", "a", "b", judge=judge).preference for judge in judges} == {"a", "b"}
    before = register_function(_longer_later)
    monkeypatch.setattr(sys.modules[__name__], "_longer", lambda *_texts: "b")
    assert register_function(_longer_later) != before
    assert _noting([]) == _noting(["asked"])


def test_price_is_reported_before_first_request(frames: dict[str, pd.DataFrame]) -> None:
    plan = aa.estimate(frames, judge="gpt-4.1")
    assert plan["planned"] == plan["requests"] == 12
    assert 0 < plan["cost_usd"] <= plan["cost_usd_most"]


def test_single_pair_is_judged_and_battles_are_rated(frames: dict[str, pd.DataFrame]) -> None:
    verdict = aa.judge("Which is the capital?", "It is Paris.", "I do not know.", reference="Paris.")
    assert verdict.preference == "a"
    with pytest.raises(InputError, match="Neither a judge nor a reference"):
        aa.judge("Which?", "a", "b")
    battles = pd.DataFrame({"question_id": [f"q{number}" for number in range(20)]})
    battles = battles.assign(model_a="x", model_b="y", winner=["model_a"] * 14 + ["model_b"] * 6)
    rated = aa.rate(battles)
    assert [row.system for row in rated.ratings] == ["x", "y"]
    # Two battles per question: treated as independent, they would make intervals too narrow.
    twice = pd.concat([battles, battles])
    prompts = twice.rename(columns={"question_id": "Prompt"}).assign(id=range(40))
    read = [aa.rate(frame).ratings for frame in (twice, twice.set_index("question_id"), prompts)]
    assert read[0] == read[1] == read[2] != aa.rate(twice.drop(columns="question_id")).ratings
    with pytest.raises(InputError, match="no column winner; they have question_id, model_a, model_b, won"):
        aa.rate(battles.rename(columns={"winner": "won"}))


@pytest.mark.slow
def test_script_that_imports_itself_as_judge_reports_error(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import answer_arena as aa\n"
        "def judge(question, a, b, reference=None):\n"
        "    return 'a' if len(a) > len(b) else 'b'\n"
        "rows = [{'question': f'What is {n}?', 'answer': 'x' * n} for n in range(9)]\n"
        "print(len(aa.rank({'p': rows, 'q': rows[::-1]}, judge='script.py:judge').comparisons))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(aa.__file__).parent)}  # noqa: TID251 - of the script
    command = [sys.executable, script.name]
    done = subprocess.run(
        command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert "script.py imports itself while it is being loaded" in done.stderr
