"""Build hook of the wheel: the packages of the checkout become subpackages of `answer_arena`.

A wheel that installs `data` or `judges` at the top level takes these names from its users. `pyproject.toml`
places the files; this hook rewrites their imports.
"""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "answer_arena"
OTHERS = {
    f"{PACKAGE}.py": "__init__.py",
    "arena/py.typed": "py.typed",
    ".streamlit/config.toml": "arena/site/config.toml",
}
"""Renamed files of the package."""
DOTTED = re.compile(r"[a-z_]+(?:\.\w+)+")
LOGGERS = "get_logger"
"""Functions whose dotted names are not modules."""
LAZY = "lazy"
"""`data.lazy.lazy`, which also finds modules in a wheel."""


class OnePackage(BuildHookInterface[BuilderConfig]):
    """Replaces modules by copies with imports from below the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Rewrite the contents of a wheel; an editable installation is the checkout itself."""
        if version == "editable":
            return
        root = Path(self.root)
        selected = [file.relative_path for file in self.build_config.builder.recurse_selected_project_files()]
        packages = frozenset(Path(path).parts[0] for path in selected)
        self._made = tempfile.TemporaryDirectory(prefix="answer-arena-build-")
        for path, place in {**{path: path for path in selected}, **OTHERS}.items():
            source = root / path
            if source.suffix == ".py":
                rewritten = rewrite(source.read_text(encoding="utf-8"), packages, path)
                for named in modules_in_strings(rewritten, packages, root):
                    raise ValueError(f"{path}: {named!r} names a module that has another name in a wheel")
                source = Path(self._made.name) / place
                source.parent.mkdir(parents=True, exist_ok=True)
                source.write_text(rewritten, encoding="utf-8")
            build_data["force_include"][str(source)] = place

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copies."""
        del build_data, artifact_path
        if version != "editable":
            self._made.cleanup()


def rewrite(text: str, packages: frozenset[str], name: str) -> str:
    """Return a module with imports from below the package; `name` is for messages.

    Raises:
        ValueError: An import cannot be rewritten, such as `import data.models`, which binds `data`.
    """
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and not node.level and _root(node.module) in packages:
            changed = re.sub(r"\bfrom\s+(?=\w)", rf"\g<0>{PACKAGE}.", lines[node.lineno - 1], count=1)
        elif isinstance(node, ast.Import) and any(_root(alias.name) in packages for alias in node.names):
            if len(node.names) > 1 or "." in node.names[0].name:
                raise ValueError(
                    f"{name}:{node.lineno}: write `from PACKAGE import …`, which can be rewritten"
                )
            changed = re.sub(r"\bimport\b", rf"from {PACKAGE} import", lines[node.lineno - 1], count=1)
        else:
            continue
        lines[node.lineno - 1] = changed
    return "\n".join(lines)


def modules_in_strings(text: str, packages: frozenset[str], root: Path) -> Iterator[str]:
    """Return strings that name a module; those with `__name__` or `__package__` also work in a wheel."""
    tree = ast.parse(text)
    known = {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and (getattr(node.func, "attr", "") == LOGGERS or getattr(node.func, "id", "") == LAZY)
        for argument in node.args
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in known:
            named = node.value.partition(":")[0].rstrip(".")
            if DOTTED.fullmatch(named) and _root(named) in packages and _is_module(root, named):
                yield node.value


def _is_module(root: Path, name: str) -> bool:
    place = root.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


def _root(module: str | None) -> str:
    return (module or "").partition(".")[0]
