"""Count words and names to avoid in plain English, or reject them (`make lint`).

    python benchmarks/words.py [--check]

`words.toml` lists the words. The table shows each count now and at the start, and the aim: a tenth
of the count at the start.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RULES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
OPENING = re.compile(RULES["refused"]["docstrings"])
TEST_NAME = re.compile(RULES["refused"]["tests"])
PHRASE = re.compile("|".join(phrase.replace(" ", r"\s+") for phrase in RULES["refused"]["phrases"]))
NAMES = frozenset(RULES["refused"]["names"])
FIXED_TEXTS = ("judges/prompts/", "data/sets/", "tests/golden/", "findings/")
"""Folders whose texts are data: prompts that people validated, bundled sets, golden files."""


def read(*patterns: str) -> dict[str, str]:
    """Read the text files of the checkout that match a pattern, by path."""
    command = ["git", "ls-files", "-co", "--exclude-standard", *patterns]
    paths = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return {
        path: (ROOT / path).read_text(encoding="utf-8")
        for path in paths
        if (ROOT / path).is_file() and not path.startswith(FIXED_TEXTS)
    }


def docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield every docstring of a module, including those of fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                match statement:
                    case ast.Expr(value=ast.Constant(value=str()) as constant):
                        yield constant


def faults(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the complaint for each rejected docstring, test name and variable."""
    for constant in docstrings(tree):
        if OPENING.match(str(constant.value).strip()):
            yield constant.lineno, "a docstring is a sentence in the imperative or a noun phrase"
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) if name.startswith("test_") and TEST_NAME.search(name):
                yield node.lineno, f"a test is named test_<thing>_<condition>, not {name}"
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) if name in NAMES:
                yield node.lineno, f"{name} names no thing: use a noun of the field"


def check() -> list[str]:
    """Return the complaints about rejected words and exceeded limits."""
    complaints = []
    for path, text in read("*.py", "*.md", "*.html").items():
        lines = list(faults(ast.parse(text))) if path.endswith(".py") else []
        for match in PHRASE.finditer(text):
            lines.append((text.count("\n", 0, match.start()) + 1, f"write {match[0]!r} plainly"))
        complaints += [f"{path}:{line}: {fault}" for line, fault in sorted(lines)]
    for row, counts in counted(read("*.py")):
        for part, count, limit in zip(("product", "tests"), counts, row["limit"], strict=True):
            if count > limit:
                complaints.append(f"{part}: {count} times {row['name']!r}; words.toml allows {limit}")
    return complaints


def split(files: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the files of the product and of the tests."""
    tests = {path: text for path, text in files.items() if path.startswith("tests/")}
    return {p: t for p, t in files.items() if not p.startswith(("tests/", "benchmarks/"))}, tests


def counted(files: dict[str, str]) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """Yield each counted word with its number of occurrences in product and tests."""
    for row in RULES["counted"]:
        pattern = re.compile(row["pattern"])
        yield row, [sum(len(pattern.findall(text)) for text in part.values()) for part in split(files)]


def table() -> Iterator[str]:
    """Yield the lines of the table: current counts in product and tests, at the start, and the aim."""
    files = read("*.py")
    yield f"{'':34}{'product':>8}{'start':>7}{'aim':>6}{'tests':>8}{'start':>7}{'aim':>6}"
    for row, counts in counted(files):
        cells = (
            f"{count:8,}{start:7,}{start // 10:6}" for count, start in zip(counts, row["first"], strict=True)
        )
        yield f"{row['name']:34}{''.join(cells)}"
    for name, part in zip(("product", "tests"), split(files), strict=True):
        texts = [constant.value for text in part.values() for constant in docstrings(ast.parse(text))]
        openings = sum(bool(OPENING.match(str(text).strip())) for text in texts)
        yield f"docstrings of {name}: {len(texts):,}; {openings / len(texts):.1%} open with a question word"


def main() -> None:
    """Print the table; with `--check`, exit with the complaints if there are any."""
    if "--check" in sys.argv[1:]:
        sys.exit("\n".join(check()) or 0)
    print(*table(), sep="\n")


if __name__ == "__main__":
    main()
