"""`arena judges try` at the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


def _try(folder: Path, endpoint: str, *words: str) -> subprocess.CompletedProcess[str]:
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text(f"Answer {name} says that yeast makes gas.\n")
    command = [sys.executable, "-m", "arena", "judges", "try", "--judge", "reference-free"]
    files = ["--question", "Why?", "--a", str(folder / "a.txt"), "--b", str(folder / "b.txt")]
    return subprocess.run(
        [*command, *files, *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=120,
        env={"ARENA_HOME": str(folder / "home"), "OPENAI_BASE_URL": endpoint, "PATH": ""},
    )


@pytest.mark.slow
def test_dead_endpoint_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    """A judge that cannot be reached ends with 1 and one line, never with a success."""
    done = _try(tmp_path, "http://127.0.0.1:9/v1")
    assert done.returncode == 1
    assert "OPENAI_BASE_URL" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("fault", "outcome"), [("refusal", "refused"), ("wrong_format", "unreadable")])
def test_a_judge_that_does_not_decide_ends_with_one(
    fault: str, outcome: str, tmp_path: Path, scripted_llm: Callable[..., Any]
) -> None:
    """Refused and unreadable are shown as such, and are errors to whoever runs the command in a script."""
    done = _try(tmp_path, scripted_llm(faults={fault: 1.0}).url, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["outcome"] == outcome
    assert outcome in done.stderr


def test_a_judge_that_decides_ends_with_zero(tmp_path: Path, scripted_llm: Callable[..., Any]) -> None:
    """A verdict is a success."""
    done = _try(tmp_path, scripted_llm().url, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcome"] == "judged"
