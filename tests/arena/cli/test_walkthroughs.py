"""docs/first-hour.md and docs/quickstart.md, done as they are written."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.arena.conftest import Serve
from tests.forked_arena import shell
from tests.served import free_port, program

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "first-hour.md"


def blocks() -> str:
    """The code of the page, as one script."""
    return "\n".join(
        re.findall(r"^```bash\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    )


@pytest.mark.slow
def test_three_people_get_through_their_first_hour(tmp_path: Path) -> None:
    script = f"trap 'kill %1 2>/dev/null || true' EXIT\n{blocks()}"
    path = f"{program().parent}:{Path(sys.executable).parent}"
    printed = shell(script, tmp_path, path, PORT=str(free_port()))
    assert "battles follow from their judgments" in printed
    rated = dict(
        re.findall(r"^\S+ +(reference|careful) +([\d.]+) ", printed.split("se  group")[1], re.MULTILINE)
    )
    with (tmp_path / "board.csv").open(encoding="utf-8") as file:
        board = {row["system"]: row["rating"] for row in csv.DictReader(file) if row["domain"] == "overall"}
    assert {name: round(float(board[name])) for name in rated} == {
        name: round(float(rating)) for name, rating in rated.items()
    }
    assert set(rated) == {"reference", "careful"}


QUICKSTART = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
SERVE = "arena serve arena-board"
SERVED = """
trap 'kill %1 2>/dev/null || true' EXIT
arena serve arena-board --port "$PORT" > serve.log 2>&1 &
until curl -sf "http://127.0.0.1:$PORT/healthz"; do sleep 1; done
curl -sf "http://127.0.0.1:$PORT/api/v1/leaderboards" -o boards.json
kill %1
"""


def code_of(language: str) -> list[str]:
    """The page's blocks of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", QUICKSTART, re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_newcomer_gets_from_files_to_a_board(tmp_path: Path, scripted_llm: Serve) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}  # noqa: TID251
    environment = {
        **kept,
        "PATH": f"{program().parent}:{kept['PATH']}",
        "PORT": str(free_port()),
        "OPENAI_BASE_URL": scripted_llm().url,
        "OPENAI_API_KEY": "key",
    }
    script = "\n".join(code_of("bash"))
    assert script.count(SERVE) == 1
    (tmp_path / "call.py").write_text("\n".join(code_of("python")), encoding="utf-8")

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
