import ast
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def words() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "benchmarks/words.py"))


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ('"""Store for jobs."""\n\n\ndef test_quota_limits_uploads(): ...\n', []),
        ('"""What is stored."""\n', [1]),
        ('class Job:\n    """A job."""\n\n    id: int\n    """Whose it is."""\n', [5]),
        ("def test_quota_of_whoever_uploads(): ...\n", [1]),
        ("def ask(somebody): ...\n\nfor somebody in range(3): ...\n", [1, 3]),
    ],
)
def test_faults_name_lines(words: dict[str, Any], code: str, lines: list[int]) -> None:
    assert sorted(line for line, _ in words["faults"](ast.parse(code))) == lines


@pytest.mark.slow
def test_table_compares_counts_with_start(words: dict[str, Any]) -> None:
    header, *rows = words["table"]()
    assert header.split() == ["product", "start", "aim", "tests", "start", "aim"]
    assert any(row.startswith("alone") and row.split()[2:4] == ["405", "40"] for row in rows)


@pytest.mark.parametrize(
    ("message", "accepted"),
    [
        ("Fix zero-width intervals\n\nBody of any length, " + "x" * 90 + "\n", True),
        ("Merge branch 'x'", True),
        (f"Add {'x' * 56}", True),
        (f"Add {'x' * 57}\n", False),
        ("Let a withdrawn verdict cost its battle\n\nFix it\n", False),
    ],
)
def test_commit_hook_checks_subject(message: str, accepted: bool) -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    hook = next(hook for hook in config["repos"][0]["hooks"] if hook["id"] == "subject")
    assert bool(re.search(hook["entry"], message, re.MULTILINE)) is accepted
