"""docs/first-hour.md, done as it is written: an organiser, a team and a reader, over a server that runs."""

from __future__ import annotations

import csv
import re
import socket
import sys
from pathlib import Path

import pytest

from tests.forked_arena import shell

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "first-hour.md"


def blocks() -> str:
    """The code of the page, as one script."""
    return "\n".join(
        re.findall(r"^```bash\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    )


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


@pytest.mark.slow
def test_three_people_get_through_their_first_hour(program: Path, tmp_path: Path) -> None:
    """Every block runs as written; a reader's ratings are those of the board."""
    script = f"trap 'kill %1 2>/dev/null || true' EXIT\n{blocks()}"
    path = f"{program.parent}:{Path(sys.executable).parent}"
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
