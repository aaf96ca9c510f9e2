"""Measure the layout of the code: size, features, folders, importers, cycles, planned changes.

    python benchmarks/structure.py [--check] [--list]

Imports inside functions and under `TYPE_CHECKING` count. Packages' `__init__` files and migrations do not.
`--check` exits with 1 if a limit of `structure.toml` is exceeded. `--list` lists the items behind each
figure, such as the modules with one importer.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import grimp
import networkx as nx
from planned_changes import count_files

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("arena", "judges", "leaderboard", "submissions", "data")
LIMITS = Path(__file__).with_suffix(".toml")
MAX_FILES = 2
"""Maximum number of files that a planned change may touch, besides tests and documentation."""
NO_DOCS = re.compile(r"^(?:judges/prompts|arena/site/assets|tests|data|findings)/")
MAX_LINES = 320
MAX_MODULES = 420


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of the layout and its limit."""

    name: str
    value: float
    limit: float | None = None
    examples: Sequence[str] = ()

    @property
    def exceeded(self) -> bool:
        """True if the figure is over its limit."""
        return self.limit is not None and self.value > self.limit

    def __str__(self) -> str:
        limit = "" if self.limit is None else f"  (at most {self.limit:,.6g})"
        examples = f"  {', '.join(self.examples[:5])}" if self.examples and self.exceeded else ""
        value = f"{self.value:,.0f}" if self.value == int(self.value) else f"{self.value:.4g}"
        return f"{self.name:54} {value:>9}{limit}{examples}"


def modules() -> list[Path]:
    """Return the product's modules without migrations and `__init__`."""
    return [
        path
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if path.name != "__init__.py" and "migrations" not in path.parts
    ]


def totals() -> dict[str, int]:
    """Count the lines of Python in the product, its tests and its benchmarks."""
    parts = {"product": (*PACKAGES, "answer_arena.py"), "tests": ("tests",), "benchmarks": ("benchmarks",)}
    return {
        name: sum(
            len(path.read_text(encoding="utf-8").splitlines())
            for part in places
            for path in ([ROOT / part] if part.endswith(".py") else (ROOT / part).rglob("*.py"))
        )
        for name, places in parts.items()
    }


def _lines(path: Path) -> int:
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def _feature(name: str, limit: int, paths: Sequence[str], allowed: int = 0, why: str = "") -> Figure:
    """Count the lines of the files that belong only to a feature."""
    files = {path: _lines(path) for pattern in paths for path in ROOT.glob(pattern)}
    unknown = [pattern for pattern in paths if not any(ROOT.glob(pattern))]
    if unknown:
        raise FileNotFoundError(f"structure.toml, {name}: no such file: {', '.join(unknown)}")
    examples = [f"{path.relative_to(ROOT)} {count}" for path, count in files.items()]
    title = f"  {name}" + (f" (limit {limit:,} missed: {why})" if allowed else "")
    return Figure(name=title, value=sum(files.values()), limit=allowed or limit, examples=examples)


def _limited() -> Iterator[Figure]:
    """Measure what `structure.toml` limits, and planned changes."""
    from arena.cli.commands import all_commands

    limits = tomllib.loads(LIMITS.read_text(encoding="utf-8"))
    for name, count in totals().items():
        yield Figure(name=f"lines of {name} in all", value=count, limit=limits[name])
    hidden = [command.hidden for command in all_commands().values()]
    yield Figure(name="commands", value=hidden.count(False), limit=limits["commands"])
    yield Figure(name="verbs of groups that their help names below", value=sum(hidden), limit=limits["verbs"])
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    pages = [ROOT / name for name in listed.stdout.split() if not NO_DOCS.match(name)]
    yield Figure(
        name="words of documentation",
        value=sum(len(page.read_text(encoding="utf-8").split()) for page in pages if page.is_file()),
        limit=limits["words"],
    )
    for name, feature in limits["features"].items():
        yield _feature(name, **feature)
    for name, files in count_files().items():
        yield Figure(name=f"files that another {name} takes", value=files, limit=MAX_FILES)


def figures() -> Iterator[Figure]:
    """Measure the checkout."""
    yield from _limited()
    paths = modules()
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    for package in PACKAGES:
        yield Figure(
            name=f"lines of {package}",
            value=sum(lines[path] for path in paths if path.is_relative_to(ROOT / package)),
        )
    yield Figure(name="lines of product code", value=sum(lines.values()))
    yield Figure(name="modules", value=len(paths), limit=MAX_MODULES)
    folders = Counter(path.parent for path in paths)
    fullest = [f"{folder.relative_to(ROOT)} {count}" for folder, count in folders.most_common()]
    yield Figure(name="modules in the fullest folder", value=max(folders.values()), examples=fullest)
    long = [f"{path.relative_to(ROOT)} {count}" for path, count in lines.items() if count > MAX_LINES]
    yield Figure(name=f"modules of more than {MAX_LINES} lines", value=len(long), examples=long)
    yield from _imports({".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths})
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    yield from _unused(paths, trees)


def _imports(names: set[str]) -> Iterator[Figure]:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    importers = {name: graph.find_modules_that_directly_import(name) for name in names}
    single = sorted(name for name, users in importers.items() if len(users) == 1)
    yield Figure(name="share of modules with one importer", value=len(single) / len(names), examples=single)
    arrows = nx.DiGraph((importer, name) for name, users in importers.items() for importer in users)
    cycles = [
        " <-> ".join(sorted(part)) for part in nx.strongly_connected_components(arrows) if len(part) > 1
    ]
    yield Figure(name="import cycles", value=len(cycles), limit=0, examples=cycles)


def _is_protocol(name: str) -> bool:
    """Return whether Python or a library calls the name: `__init__`, `_repr_html_`."""
    return name.startswith("__") or (name.startswith("_") and name.endswith("_"))


def _unused(paths: Sequence[Path], trees: Sequence[ast.Module]) -> Iterator[Figure]:
    """Find functions, methods and classes that the product never names.

    Decorators register names, notebooks use `leaderboard` and libraries call overrides, so unused public
    names are only counted, while unused private names are forbidden.
    """
    names = {name for tree in trees for node in ast.walk(tree) for name in _names(node)}
    unused = [
        (f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", node.name)
        for path, tree in zip(paths, trees, strict=True)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not (node.decorator_list or _is_protocol(node.name) or node.name in names)
    ]
    private = [place for place, name in unused if name.startswith("_")]
    public = [
        place for place, name in unused if not (name.startswith("_") or place.startswith("leaderboard"))
    ]
    yield Figure(name="private names that nothing uses", value=len(private), limit=0, examples=private)
    yield Figure(name="public names that nothing uses", value=len(public), examples=public)


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node uses; models' fields are set by name, so strings count."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.alias):
        yield node.name
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def main() -> int:
    """Print the figures; return 1 if `--check` is given and a limit is exceeded."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="end with 1 if a limit is exceeded")
    parser.add_argument("--list", action="store_true", help="list the items of each figure")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    measured = list(figures())
    for figure in measured:
        print(figure)
        for example in figure.examples if options.list else ():
            print(f"  {example}")
    return int(options.check and any(figure.exceeded for figure in measured))


if __name__ == "__main__":
    sys.exit(main())
