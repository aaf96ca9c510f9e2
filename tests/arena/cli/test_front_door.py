"""`arena rank`, `losses`, `compare` and `aa.rank` after failures and with unusual columns."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import re
import shlex
import signal
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest

import answer_arena as aa
from arena.container import open_ranking
from arena.python.calls import in_python
from arena.services.boards.text_tables import SCALES
from arena.services.ranking.new_boards import in_fields
from data.errors import ArenaError, ConflictError, SpecError, UnfitJudgeError
from tests.arena.conftest import Commands, Serve
from tests.scripted_replies import Fault

QUESTIONS = tuple(f"What does part {number} do?" for number in range(8))
LENGTHS = {"alpha": (1, 4, 2, 5), "beta": (3, 2, 5, 1), "gamma": (2, 3, 3, 3)}
Files = Mapping[str, Path]


def _text(number: int, count: int) -> str:
    return " ".join(f"Part {number} drives wheel {wheel}." for wheel in range(count))


RIGHT = [[text, _text(number, 5)] for number, text in enumerate(QUESTIONS)]


def _write(path: Path, head: str, rows: list[list[str]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head.split(","), *rows])
    return path


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Three answer files of mixed length, and one of references."""
    made = {name: _write(tmp_path / f"{name}.csv", "prompt,response", _cells(name)) for name in LENGTHS}
    return {**made, "right": _write(tmp_path / "right.csv", "prompt,reference", RIGHT)}


def _answers(files: Files) -> list[Path]:
    return [files[name] for name in LENGTHS]


def _outcomes(folder: Path) -> Counter[str]:
    with (folder / "comparisons.csv").open() as file:
        return Counter(row["outcome"] for row in csv.DictReader(file))


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [(Fault.BAD_REQUEST, "failed"), (Fault.FILTERED, "refused"), (Fault.WRONG_FORMAT, "unreadable")],
)
def test_rank_retries_only_comparisons_without_verdict(
    run: Commands, files: Files, tmp_path: Path, scripted_llm: Serve, fault: Fault, outcome: str
) -> None:
    llm, out = scripted_llm(faults={fault: 0.3}), tmp_path / "q"
    command = ("rank", *_answers(files), "--judge", "m", "--endpoint", llm.url, "--out", out, "--yes")
    err = run.stderr(*command)
    lost = _outcomes(out)[outcome]
    assert 0 < lost < 12
    assert f"{lost} comparison{'s' * (lost > 1)} {outcome}; {out / 'comparisons.csv'} says why." in err
    calls = llm.log.calls
    assert run.json("rank", out, "--dry-run", "--retry", "none", "--json")["requests"] == 0
    run.done("rank", out, "--yes", "--retry", "none")
    assert llm.log.calls == calls
    # Repeated without success: failures are not cached.
    assert run("rank", out, "--yes")[0] == 0
    assert llm.log.calls > calls
    llm.script.faults, calls, lost = {}, llm.log.calls, _outcomes(out)[outcome]
    plan = run.json("rank", out, "--dry-run", "--json")
    run.done(*command)
    assert llm.log.calls - calls == plan["requests"] == lost
    assert _outcomes(out) == {"judged": 24}
    table = run.json("rank", out, "--yes", "--json")["systems"]
    assert all(row["wins"] + row["ties"] + row["losses"] == 16 for row in table)
    assert llm.log.calls - calls == lost


@patch("judges.llm.prices.is_private", lambda _: False)
def test_larger_cap_judges_remaining_battles(
    run: Commands, files: Files, tmp_path: Path, scripted_llm: Serve
) -> None:
    llm, out = scripted_llm(), tmp_path / "q"
    command = ("rank", *_answers(files), "--judge", "gpt-4.1", "--endpoint", llm.url, "--out", out, "--yes")
    run(*command, "--max-usd", "0.03")
    first, skipped = llm.log.calls, _outcomes(out)["skipped"]
    assert 0 < skipped < 24
    assert run(*command, "--max-usd", "5")[0] == 0
    assert llm.log.calls - first == skipped
    assert _outcomes(out) == {"judged": 24}


def _cells(name: str) -> list[list[str]]:
    """Return questions and a system's answers."""
    return [[text, _text(number, LENGTHS[name][number % 4])] for number, text in enumerate(QUESTIONS)]


def _rows(name: str) -> list[dict[str, str]]:
    return [{"question": question, "answer": answer} for question, answer in _cells(name)]


def _longer(_question: str, a: str, b: str, _reference: str | None) -> str:
    return "a" if len(a) > len(b) else "b"


def test_changed_function_judges_failed_comparisons(tmp_path: Path) -> None:
    calls: list[str] = []

    def broken(question: str, a: str, b: str, _reference: str | None) -> str:
        if "3" in question:
            raise ValueError(question)
        return _longer(question, a, b, None)

    def mended(question: str, a: str, b: str, _reference: str | None) -> str:
        calls.append(question)
        return _longer(question, a, b, None)

    mended.__name__ = "broken"
    data, out = {name: _rows(name) for name in LENGTHS}, tmp_path / "d"
    ranking = aa.rank(data, judge=broken, out=out, progress=False)
    assert sum(ranking.comparisons.outcome == "failed") == 3
    assert list(ranking.board.questions) == [7, 7, 7]
    again = aa.rank(data, judge=mended, out=out, progress=False)
    assert calls == [QUESTIONS[3]] * 3
    assert set(again.comparisons.outcome) == {"judged"}
    assert list(again.board.questions) == [8, 8, 8]


@pytest.mark.parametrize("returned", ["A", 1, None])
def test_function_with_wrong_return_fails_at_first_call(returned: object) -> None:
    calls: list[str] = []

    def judge(question: str, *_texts: str | None) -> Any:  # noqa: ANN401
        calls.append(question)
        return returned

    with pytest.raises(UnfitJudgeError, match='Return "a" or "b" or "tie"') as refused:
        aa.rank({name: _rows(name) for name in LENGTHS}, judge=judge, progress=False)
    assert f"it returned {returned!r}" in str(refused.value)
    assert "arena " not in str(refused.value)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("judge", "refused"),
    [(lambda _q, _a, _b: "a", r"judge\(question, a, b, reference\)"), (5, "The judge int is not a function")],
)
def test_uncallable_judge_is_refused(judge: Any, refused: str) -> None:  # noqa: ANN401
    with pytest.raises(SpecError, match=refused):
        aa.rank({name: _rows(name) for name in LENGTHS}, judge=judge, progress=False)
    apart = {name: [{"question": f"Why {name}?", "answer": "So."}] for name in LENGTHS}
    with pytest.raises(ArenaError, match="No question has answers of two systems"):
        aa.rank(apart, judge=_longer, progress=False)


def test_gate_is_undecided_with_missing_comparisons(run: Commands, tmp_path: Path) -> None:
    """The judge decides only four questions, all of which the new system loses."""

    def judge(question: str, a: str, b: str, _reference: str | None) -> str:
        if int(question.split()[3]) > 3:
            raise ValueError(question)
        return _longer(question, a, b, None)

    texts = [f"What does part {number} do?" for number in range(40)]
    data = {
        name: [{"question": text, "answer": "long " * length} for text in texts]
        for name, length in {"new": 1, "old": 5}.items()
    }
    ranking = aa.rank(data, judge=judge, out=tmp_path / "gate", progress=False)
    assert ranking.board[["questions", "answers"]].to_numpy().tolist() == [[4, 40], [4, 40]]
    duel = ranking.compare("new", "old")
    assert (duel.planned, duel.judged, duel.failed, duel.undecided) == (40, 4, 36, True)
    assert aa.estimate(data, judge=judge, concurrency=1, progress=False, retry="none")["planned"] == 40
    with pytest.raises(ArenaError, match=r"retry is 'non'\. Use 'all' or 'none'"):
        aa.estimate(data, judge=judge, retry=cast("Any", "non"))
    with pytest.raises(TypeError, match="no option retyr"):
        aa.estimate(data, judge=judge, **cast("Any", {"retyr": "all"}))
    code, text, _ = run("compare", tmp_path / "gate", "new", "old", "--fail-if-worse")
    assert code == 4
    assert "36 of 40 comparisons have no verdict (36 failed). This is too few for a gate." in text
    counts = run.json("compare", tmp_path / "gate", "new", "old", "--json")
    assert [counts[name] for name in ("planned", "judged", "failed", "refused")] == [40, 4, 36, 0]


def test_gate_is_undecided_for_systems_without_battles(run: Commands, files: Files, tmp_path: Path) -> None:
    out = tmp_path / "q"
    run.done("rank", *_answers(files), "--references", files["right"], "--vs", "gamma", "--out", out)
    code, text, _ = run("compare", out, "alpha", "beta", "--fail-if-worse")
    assert (code, "They never met." in text) == (4, True)
    assert "alpha and beta never met in rank-1" in run.fails("losses", out, "alpha", "beta")
    assert "cannot be compared with itself" in run.fails("losses", out, "beta", "beta")
    ranking = aa.rank({"alpha": _rows("alpha")}, out=out, vs="gamma", progress=False)
    for pair in (("alpha", "beta"), ("beta", "beta"), ("absent", "beta")):
        with pytest.raises(ArenaError, match=r"never met|itself|has no system 'absent'"):
            ranking.losses(*pair)


def test_newest_round_without_board_is_reported(
    run: Commands, files: Files, tmp_path: Path, scripted_llm: Serve
) -> None:
    """The folder was copied meanwhile; the gate is undecided."""
    llm, out = scripted_llm(), tmp_path / "new"
    words = ("--judge", "m", "--endpoint", llm.url, "--yes")
    run.done("rank", files["alpha"], files["beta"], *words, "--out", tmp_path / "old")
    (tmp_path / "old").rename(out)
    llm.script.faults = {Fault.FILTERED: 1.0}
    assert "No comparison has a verdict" in run.fails(
        "rank", out, files["gamma"], *words[:1], "n", *words[2:]
    )
    code, text, _ = run("compare", out, "alpha", "beta", "--fail-if-worse")
    assert (code, "Round rank-2 has no board yet; these figures are from rank-1." in text) == (4, True)
    assert f"Round rank-2 has no board yet; continue: arena rank {out}" in run.stderr(
        "losses", out, "beta", "alpha"
    )
    arena = open_ranking(out)
    with arena.store.database.begin() as connection:
        connection.exec_driver_sql("DELETE FROM round WHERE name = 'rank-1'")
    arena.close()
    assert run("compare", out, "alpha", "beta", "--fail-if-worse")[0] == 4
    llm.script.faults = {}
    done = run.stderr("rank", out, "--yes", "--vs", "gamma")
    assert run.json("compare", out, "alpha", "gamma", "--json")["round"] == "rank-3"
    assert all("gamma" in words for words in _commands(done))


@pytest.mark.parametrize(("won", "worse"), [(1, True), (3, True), (4, False), (0, True)])
def test_p_value_agrees_with_interval(won: int, worse: bool) -> None:
    def judge(question: str, a: str, _b: str, _reference: str | None) -> str:
        return "ab"[(int(question) < won) is not (a == "new")]

    data = {name: [{"question": f"{at}", "answer": name} for at in range(15)] for name in ("new", "old")}
    duel = aa.rank(data, judge=judge, progress=False).compare("new", "old")
    assert (duel.worse, duel.significant, 0 < duel.p_value < 0.05) == (worse, worse, worse)


@pytest.mark.parametrize("in_loop", [False, True])
@patch("arena.services.rounds.judging_loop.MIN_WORKERS", 1)
def test_interrupt_stops_ranking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_loop: bool) -> None:
    calls: list[str] = []

    def judge(question: str, *_texts: str | None) -> str:
        calls.append(question)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1.5)
        return "a"

    def rank() -> aa.Ranking:
        data = {name: _rows(name) for name in LENGTHS}
        return aa.rank(data, judge=judge, concurrency=1, progress=False)

    async def cell() -> aa.Ranking:
        return rank()

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(cell()) if in_loop else rank()
    assert len(calls) < 4
    assert not list(tmp_path.glob("answer-arena-*"))


def test_compare_names_one_interval_and_p(run: Commands, files: Files, tmp_path: Path) -> None:
    """The wording follows from the printed interval, even if all battles are won; p is never zero."""
    out = tmp_path / "q"
    run.done("rank", *_answers(files), "--references", files["right"], "--out", out)
    for first, second in (("alpha", "beta"), ("beta", "gamma")):
        duel = run.json("compare", out, first, second, "--json")
        assert duel["lower"] < duel["points"] < duel["upper"]
        assert duel["significant"] == (duel["lower"] * duel["upper"] > 0) == (duel["p_value"] < 0.05)
        assert re.search(r"the rating of \w+ is \d+ points higher \(95 % interval", duel["sentence"])
        assert f"Head to head, {first} won" in duel["sentence"]
    duel = aa.rank(
        {"long": _rows("beta")[2:3] + _rows("alpha")[1:2], "short": _rows("alpha")[:3]},
        judge=_longer,
        progress=False,
    ).compare("long", "short")
    assert 0 < duel.p_value <= 1
    assert "95 % interval" in duel.sentence
    assert f"p = {duel.p_value:.3f}" in duel.sentence


def test_suggested_commands_work(run: Commands, files: Files, tmp_path: Path, scripted_llm: Serve) -> None:
    """For a paused ranking, one without verdicts, and a finished one."""
    llm = scripted_llm(faults={Fault.WRONG_FORMAT: 1.0})
    judge = ("--judge", "m", "--endpoint", llm.url, "--yes")
    code, _, paused = run("rank", *_answers(files), *judge, "--out", tmp_path / "a b")
    assert (code, "show-replies" in paused, "rounds" in paused) == (1, False, False)
    assert _outcomes(tmp_path / "a b")["unreadable"]
    commands = _commands(paused)
    folder = str(tmp_path / "a b")
    assert commands == [["rank", folder], ["rank", folder, "--go-on"]]
    err = run.fails(*commands[1], "--yes")
    assert "No comparison has a verdict" in err
    assert re.search(r"The first: .*\. /.*comparisons.csv has the other errors\. Correct them", err)
    llm.script.faults = {}
    for words in _commands(err):
        done = run.stderr(*words, "--yes")
    for words in _commands(done):
        run.done(*words)
    assert len(_commands(done)) == 2


def _commands(text: str) -> list[list[str]]:
    return [
        shlex.split(command)[1:] for command in re.findall(r"arena (?:rank|losses|compare)[^;.|\n]*", text)
    ]


def test_python_errors_name_arguments(tmp_path: Path, scripted_llm: Serve) -> None:
    with pytest.raises(ArenaError) as refused:
        aa.rank({name: _rows(name) for name in LENGTHS}, progress=False)
    assert 'judge="gpt-5-mini"' in refused.value.advice
    assert "--" not in refused.value.advice
    llm, out = scripted_llm(faults={Fault.FILTERED: 1.0}), tmp_path / "d"
    with pytest.raises(ConflictError) as refused:
        aa.rank({name: _rows(name) for name in LENGTHS}, judge="m", endpoint=llm.url, out=out, progress=False)
    assert refused.value.advice.endswith(f'aa.rank(…, out="{out}")')
    assert in_python("Add another file (NAME='b b.csv'), or --go-on.") == (
        'Add another file ({"NAME": "b b.csv"}), or go_on=True.'
    )


UNKNOWN = [
    "generated_text",
    "model_response",
    "llm_answer",
    "final_answer",
    "result",
    "assistant",
    "bot_reply",
]
PAIRS = [
    "q,a",
    "frage,antwort",
    "pregunta,respuesta",
    "domanda,risposta",
    "pergunta,resposta",
    "requête,réponse",
]


@pytest.mark.parametrize(
    ("head", "options"),
    [
        *[(head, ()) for head in (*(f"prompt,{name}" for name in UNKNOWN), *PAIRS)],
        ("ask,said", ("--question", "ask", "--answer", "said")),
    ],
)
def test_answer_column_is_only_text_column(
    run: Commands, files: Files, tmp_path: Path, head: str, options: tuple[str, ...]
) -> None:
    paths = [_write(tmp_path / f"run{name}.csv", head, _cells(name)) for name in ("alpha", "beta")]
    words = ("--references", files["right"], "--out", tmp_path / "q", "--dry-run", "--json")
    plan = run.json("rank", *paths, *words, *options)
    assert (plan["systems"], plan["planned"]) == (["runalpha", "runbeta"], 8)


def test_extra_columns_are_not_systems(run: Commands, files: Files, tmp_path: Path) -> None:
    rows = [
        [*cells, str(number), f"https://example.org/{number}", ("easy", "hard")[number % 2], "by hand"]
        for number, cells in enumerate(_cells("alpha"))
    ]
    odd = _write(tmp_path / "odd.csv", "prompt,gen,n,link,level,notes", rows)
    texts = [[text, f"Yes, {text}", f"It is {at}."] for at, text in enumerate(QUESTIONS)]
    wide = _write(tmp_path / "wide.csv", "prompt,one,two", texts)
    words = ("--references", files["right"], "--out", tmp_path / "q", "--dry-run", "--json")
    assert run.json("rank", odd, files["beta"], *words)["systems"] == ["beta", "odd"]
    assert run.json("rank", wide, *words)["systems"] == ["one", "two"]
    terse = [
        [text, f"Wheel {at}.", f"Part {at} drives wheel {at} of the machine, by a belt and two gears."]
        for at, text in enumerate(QUESTIONS)
    ]
    short = _write(tmp_path / "short.csv", "prompt,terse,long", terse)
    assert run.json("rank", short, *words)["systems"] == ["long", "terse"]
    some = [[text, "m1" if at else "", "It turns."] for at, text in enumerate(QUESTIONS)]
    nameless = _write(tmp_path / "some.csv", "prompt,system,answer", some)
    assert "has an answer but no system" in run.fails("rank", nameless, files["beta"], *words[:4])
    named = ("rank", wide, files["beta"], *words, "--answer")
    assert run.json(*named, f"{wide}:two")["systems"] == ["beta", "wide"]
    assert "has no column 'three'" in run.fails(*named, f"{wide}:three")


@patch("judges.llm.prices.is_private", lambda _: False)
def test_references_can_be_ranked(run: Commands, files: Files, tmp_path: Path, scripted_llm: Serve) -> None:
    words = ("rank", *_answers(files), "--judge", "gpt-4.1", "--endpoint", scripted_llm().url)
    words = (*words, "--references", files["right"], "--out", tmp_path / "q", "--dry-run")
    assert run.json(*words, "--json")["planned"] == 24
    _, text, err = run(*words, "--json", "--with-reference")
    assert (json.loads(text)["planned"], json.loads(text)["with_reference"]) == (48, 24)
    assert re.search(r"The reference is ranked too, which adds 24 comparisons, about \$0\.\d\d\.", err)
    text = run.done(*words[:-1], "--yes", "--with-reference")
    assert "Rates and questions cover comparisons with the reference; ratings cover all comparisons." in text


def test_questions_without_reference_are_undecidable(run: Commands, files: Files, tmp_path: Path) -> None:
    short = _write(tmp_path / "short.csv", "prompt,reference", RIGHT[:6])
    err = run.stderr("rank", *_answers(files), "--references", short, "--out", tmp_path / "q")
    assert "6 comparisons cannot be decided: the question has neither passages nor a reference." in err
    assert "18 comparisons by lexical; no model is called." in err
    assert _outcomes(tmp_path / "q") == {"judged": 18, "undecidable": 6}
    assert "have no verdict (2 undecidable)" in run.done("compare", tmp_path / "q", "alpha", "beta")
    again = ("rank", tmp_path / "q", "--with-reference")
    assert "lexical cannot rank the references" in run.fails(*again)
    assert "--vs beta compares systems only with beta" in run.fails(*again, "--vs", "beta")
    assert "unreadable" not in err
    with (tmp_path / "q" / "board.csv").open() as file:
        listed = {
            row["system"]: row["questions"] for row in csv.DictReader(file) if row["domain"] == "overall"
        }
    table = run.json("rank", tmp_path / "q", "--json")["systems"]
    assert {row["system"]: str(row["questions"]) for row in table} == listed == dict.fromkeys(LENGTHS, "6")


def test_page_errors_name_fields() -> None:
    with pytest.raises(ArenaError) as refused, in_fields():
        raise ArenaError("No.", advice="Give another file. Or compare it with: --vs reference.")
    assert refused.value.advice == "Give another file."


def test_ratings_on_other_scales_are_reported(run: Commands, tmp_path: Path) -> None:
    lengths = {"a": (9, 8), "b": (8, 9), "c": (3, 2), "d": (2, 3)}
    data = {
        name: [{"question": f"What is {at}?", "answer": "long " * own[at % 2]} for at in range(12)]
        for name, own in lengths.items()
    }
    aa.rank(data, judge=_longer, out=tmp_path / "q", progress=False)
    assert SCALES in run.done("rank", tmp_path / "q", "--yes")
    assert SCALES in (tmp_path / "q" / "board.html").read_text("utf-8")
