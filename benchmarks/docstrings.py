"""Refuse docstrings that open with a question word or a pronoun; `make lint` runs it.

    python benchmarks/docstrings.py

A docstring is one sentence in the imperative, or a noun phrase for classes, modules and fields.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REFUSED = re.compile(r"(What|Which|Whom?|Whose|How|Whether|Where|Why|Those|That|Whoever)\b")


def docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield every docstring of a module, those below fields included."""
    for node in ast.walk(tree):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                statements = node.body
            case _:
                continue
        for statement in statements:
            match statement:
                case ast.Expr(value=ast.Constant(value=str()) as constant):
                    yield constant


def faults(path: Path) -> Iterator[str]:
    """Yield the place and first line of each refused docstring of a file."""
    for constant in docstrings(ast.parse(path.read_text(encoding="utf-8"))):
        text = str(constant.value).strip()
        if REFUSED.match(text):
            yield f"{path.relative_to(ROOT)}:{constant.lineno}: {text.splitlines()[0]}"


def main() -> int:
    """Print the refused docstrings of the checkout; 1 where there are any."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "*.py"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    paths = [ROOT / name for name in listed if (ROOT / name).is_file()]
    refused = [fault for path in paths for fault in faults(path)]
    print("\n".join(refused), end="\n" if refused else "")
    return int(bool(refused))


if __name__ == "__main__":
    sys.exit(main())
