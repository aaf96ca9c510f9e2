"""`arena submissions report --changes`, and what to fix first in `arena submissions report`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.arena.conftest import Commands, write_answers

WHOLE = "Item {n} is {word}. It weighs {weight} grams."
NOTHING = "I couldn't find an answer."
ROUND = ("--set", "tiny", "--judge", "lexical", "--pairs", "all")


@pytest.mark.long
def test_versions_are_compared_from_judged_rounds(
    arena_of: Commands, answers_file: Callable[..., Path], tmp_path: Path
) -> None:
    """The command names both versions, the difference by domain, and the questions won and lost."""
    silent = write_answers(tmp_path / "silent.jsonl", (WHOLE, NOTHING), 12)
    for name, path in (("one", silent), ("two", answers_file("better", WHOLE + " Indeed."))):
        assert arena_of("submissions", "add", path, "--set", "tiny", "--system", "grown")[0] == 0
        assert arena_of("rounds", "run", *ROUND, "--name", name)[0] == 0
        assert arena_of("rounds", "publish", name, "--no-metrics")[0] == 0
    rows = arena_of.json("submissions", "list", "--json")
    first, second = (row["id"] for row in rows if row["system"] == "grown")
    change = arena_of.json("submissions", "report", "--changes", second, "--json")
    assert (change["new"]["version"], change["old"]["version"]) == (2, 1)
    assert {one["id"] for one in change["won"]} == {f"q{n}" for n in range(1, 12, 2)}
    code, out, said = arena_of("submissions", "report", "--changes", second, "--against", f"id:{first}")
    assert code == 0, said
    assert "grown: version 2 (two) against version 1 (one)" in out
    assert "won: 6: " in out
    assert "overall" in out
    code, _, said = arena_of("submissions", "report", "--changes", first)
    assert (code, "No earlier version of grown was judged" in said) == (1, True)
    report = arena_of.json("submissions", "report", first)["fix_first"]
    assert report["fixes"][0]["error"] == "no-answer"
    assert report["fixes"][0]["points"] > 0
