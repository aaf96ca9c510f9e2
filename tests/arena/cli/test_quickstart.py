"""docs/quickstart.md, done as it is written: from CSV files to a board, with a scripted model."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.arena.cli.test_first_hour import free_port

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
SERVE = "arena serve arena-board"
SERVED = """
trap 'kill %1 2>/dev/null || true' EXIT
arena serve arena-board --port "$PORT" > serve.log 2>&1 &
until curl -sf "http://127.0.0.1:$PORT/healthz"; do sleep 1; done
curl -sf "http://127.0.0.1:$PORT/api/v1/leaderboards" -o boards.json
kill %1
"""


def blocks(language: str) -> list[str]:
    """The page's blocks of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_page_is_short() -> None:
    """The page has 600 words at most."""
    assert len(PAGE.split()) <= 600


@pytest.mark.slow
def test_newcomer_gets_from_files_to_a_board(
    program: Path, tmp_path: Path, scripted_llm: Callable[..., Any]
) -> None:
    """Every command and the Python of the page run as written, and say what the page says."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}  # noqa: TID251
    environment = {
        **kept,
        "PATH": f"{program.parent}:{kept['PATH']}",
        "PORT": str(free_port()),
        "OPENAI_BASE_URL": scripted_llm().url,
        "OPENAI_API_KEY": "key",
    }
    script = "\n".join(blocks("bash"))
    assert script.count(SERVE) == 1
    (tmp_path / "call.py").write_text("\n".join(blocks("python")), encoding="utf-8")

    def run(*command: str) -> str:
        ended = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=500
        )
        assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
        return ended.stdout

    said = run("bash", "-euo", "pipefail", "-c", script.replace(SERVE, SERVED))
    assert "beta lost" in said
    assert {path.name for path in (tmp_path / "arena-board").iterdir()} >= {
        "board.html",
        "board.csv",
        "comparisons.csv",
    }
    assert "arena-board" in (tmp_path / "boards.json").read_text(encoding="utf-8")
    assert (tmp_path / "by-model" / "board.html").exists()
    assert "alpha" in run(sys.executable, "call.py")
