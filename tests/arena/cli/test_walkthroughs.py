"""docs/first-hour.md and docs/quickstart.md, run as written."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

import pytest

from tests.arena.conftest import Serve
from tests.forked_arena import shell
from tests.served import free_port, program

ROOT = Path(__file__).parents[3]


def code_of(page: str, language: str) -> str:
    """Join a page's code blocks in a language into a script."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE))


@pytest.mark.slow
def test_documented_walkthroughs_of_roles_work(tmp_path: Path) -> None:
    script = f"trap 'kill %1 2>/dev/null || true' EXIT\n{code_of('first-hour.md', 'bash')}"
    path = f"{program().parent}:{Path(sys.executable).parent}"
    printed = shell(script, tmp_path, path, PORT=str(free_port()))
    assert "battles match their judgments" in printed
    rated = dict(
        re.findall(r"^\S+ +(reference|careful) +([\d.]+) ", printed.split("se  group")[1], re.MULTILINE)
    )
    with (tmp_path / "board.csv").open(encoding="utf-8") as file:
        board = {row["system"]: row["rating"] for row in csv.DictReader(file) if row["domain"] == "overall"}
    assert {name: round(float(board[name])) for name in rated} == {
        name: round(float(rating)) for name, rating in rated.items()
    }
    assert set(rated) == {"reference", "careful"}


SERVE = "arena serve arena-board"
SERVED = """
trap 'kill %1 2>/dev/null || true' EXIT
arena serve arena-board --port "$PORT" > serve.log 2>&1 &
until curl -sf "http://127.0.0.1:$PORT/healthz"; do sleep 1; done
curl -sf "http://127.0.0.1:$PORT/api/v1/leaderboards" -o boards.json
kill %1
"""


@pytest.mark.slow
def test_new_user_gets_board_from_files(tmp_path: Path, scripted_llm: Serve) -> None:
    script = code_of("quickstart.md", "bash")
    assert script.count(SERVE) == 1
    (tmp_path / "call.py").write_text(code_of("quickstart.md", "python"), encoding="utf-8")
    endpoint = {"OPENAI_BASE_URL": scripted_llm().url, "OPENAI_API_KEY": "key", "PORT": str(free_port())}
    path = str(program().parent)
    said = shell(script.replace(SERVE, SERVED), tmp_path, path, **endpoint)
    assert "beta lost" in said
    made = {path.name for path in (tmp_path / "arena-board").iterdir()}
    assert made >= {"board.html", "board.csv", "comparisons.csv"}
    assert "arena-board" in (tmp_path / "boards.json").read_text(encoding="utf-8")
    assert (tmp_path / "by-model" / "board.html").exists()
    assert "alpha" in shell(f"{sys.executable} call.py", tmp_path, path, **endpoint)
