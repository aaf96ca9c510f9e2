"""`arena submissions gate`: exit codes, the summary, and a remote arena."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.arena.conftest import Commands, write_answers

GOOD, BAD = "Item {n} is {word}. It weighs {weight} grams.", "I couldn't find an answer."


@pytest.fixture
def ready(run: Commands, set_folder: Path, tmp_path: Path) -> Callable[..., Path]:
    """Store the tiny set with one version of `sys`; then write files of answers."""
    run("sets", "import", set_folder)
    run(
        "submissions",
        "add",
        write_answers(tmp_path / "first.jsonl", (GOOD,), 12),
        "--set",
        "tiny",
        "--system",
        "sys",
    )
    return lambda *templates: write_answers(tmp_path / "next.jsonl", templates, 12)


def _gate(run: Commands, file: Path, *more: object) -> tuple[int, str, str]:
    return run("submissions", "gate", file, "--set", "tiny", "--system", "sys", *more)


def test_exit_codes_tell_pass_worse_and_undecided(run: Commands, ready: Callable[..., Path]) -> None:
    """0 passes, 3 is worse, 4 undecided; a line says why, and what to do with the draft."""
    code, out, err = _gate(run, ready(BAD), "--max-loss", 5)
    assert code == 3, err
    assert "sys is worse: It loses more than 5 points of win + tie." in out
    assert "Submit it by: arena submissions confirm 3" in out
    code, out, _ = _gate(run, ready(BAD), "--max-loss", 99)
    assert (code, "is undecided" in out) == (4, True)
    code, out, _ = _gate(run, ready(GOOD), "--max-loss", 5)
    assert (code, "Both versions have the same answers." in out) == (0, True)


def test_summary_is_markdown_that_is_appended(
    run: Commands, ready: Callable[..., Path], tmp_path: Path
) -> None:
    """The summary goes to the end of a file, as job summaries are written, with a row for each domain."""
    summary = tmp_path / "summary.md"
    summary.write_text("# Before\n")
    _gate(run, ready(BAD), "--max-loss", 5, "--summary", summary)
    text = summary.read_text()
    assert text.startswith("# Before\n### ❌ `sys` is worse on `tiny`")
    assert [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| `")] == [
        *("`overall`", "`d0`", "`d1`", "`d2`")
    ]
    code, _, err = _gate(run, ready(BAD), "--max-loss", 5, "--summary", tmp_path / "no" / "where.md")
    assert (code, "cannot be written: No such file or directory." in err) == (1, True)


def test_submit_confirms_what_passes_and_nothing_else(run: Commands, ready: Callable[..., Path]) -> None:
    """With --submit a version that passes is accepted; one that does not stays a draft."""
    _gate(run, ready(BAD), "--max-loss", 5, "--submit")
    code, out, err = _gate(run, ready(GOOD + " Indeed."), "--max-loss", 80, "--submit")
    assert code == 0, out + err
    assert "The version is submitted" in out
    states = [line["state"] for line in run.json("submissions", "list", "--json")]
    assert sorted(states) == ["accepted", "accepted", "checked"]


def test_file_with_errors_is_refused_before_anything(run: Commands, ready: Callable[..., Path]) -> None:
    """Errors of the file, of the version's name and of the number end with exit code 1 or 2, in a line."""
    bad = ready(BAD)
    bad.write_text('{"question_id": "nowhere", "answer": "x"}\n')
    code, _, err = _gate(run, bad, "--max-loss", 5)
    assert (code, "unknown-question" in err) == (1, True)
    code, _, err = _gate(run, ready(BAD), "--max-loss", 5, "--against", "newest")
    assert (code, "'newest' names no version" in err) == (1, True)
    code, _, err = _gate(run, ready(BAD), "--max-loss", 101)
    assert code == 2
    assert len(run.json("submissions", "list", "--json")) == 1


@pytest.mark.usefixtures("ready")
def test_gate_rule_of_a_set_is_shown_and_changed(run: Commands) -> None:
    """Organisers allow gates with a judge, a cap and a count, see them, and forbid them again."""
    code, _, err = run("sets", "policy", "tiny", "--gates-a-day", 3)
    assert (code, "allows no gates yet" in err) == (1, True)
    code, _, err = run("sets", "policy", "tiny", "--gate-judge", "reference-free")
    assert (code, "need a cap" in err) == (1, True)
    run("sets", "policy", "tiny", "--gate-judge", "reference-free", "--gate-budget-usd", 2)
    fields = run.json("sets", "policy", "tiny", "--gates-a-day", 3, "--json")
    assert fields["gate"] == {"judge": "reference-free", "budget_usd": 2.0, "per_day": 3}
    code, out, _ = run("sets", "policy", "tiny")
    assert "by reference-free, 2 USD each, 3 of a team a day" in out
    assert run.json("sets", "policy", "tiny", "--gate-judge", "none", "--json")["gate"] is None
