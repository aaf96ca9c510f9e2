"""`arena judges try` at the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.arena.conftest import DEAD_ENDPOINT, Commands


@pytest.fixture
def words(tmp_path: Path) -> tuple[str, ...]:
    """The command over two answers."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"Answer {name} says that yeast makes gas.\n")
    files = ("--question", "Why?", "--a", str(tmp_path / "a.txt"), "--b", str(tmp_path / "b.txt"))
    return ("judges", "try", "--judge", "reference-free", *files)


@pytest.mark.slow
def test_dead_endpoint_is_an_error_that_says_what_to_do(run: Commands, words: tuple[str, ...]) -> None:
    """A judge that cannot be reached ends with 1 and one line, never with a success."""
    code, _, err = run(*words, endpoint=DEAD_ENDPOINT)
    assert code == 1
    assert "OPENAI_BASE_URL" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(("fault", "outcome"), [("refusal", "refused"), ("wrong_format", "unreadable")])
def test_a_judge_that_does_not_decide_ends_with_one(
    fault: str, outcome: str, run: Commands, words: tuple[str, ...], scripted_llm: Callable[..., Any]
) -> None:
    """Refused and unreadable are shown as such, and are errors to whoever runs the command in a script."""
    code, out, err = run(*words, "--json", endpoint=scripted_llm(faults={fault: 1.0}).url)
    assert code == 1
    assert json.loads(out)["outcome"] == outcome
    assert outcome in err


def test_a_judge_that_decides_ends_with_zero(
    run: Commands, words: tuple[str, ...], scripted_llm: Callable[..., Any]
) -> None:
    """A verdict is a success."""
    code, out, err = run(*words, "--json", endpoint=scripted_llm().url)
    assert code == 0, err
    assert json.loads(out)["outcome"] == "judged"
