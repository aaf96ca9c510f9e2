"""Rank the answers of question-answering systems: `import answer_arena as aa`.

>>> import answer_arena as aa  # doctest: +SKIP
>>> board = aa.rank("answers.csv", judge="gpt-5-mini", max_usd=5)  # doctest: +SKIP
>>> board.sentence  # doctest: +SKIP
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from arena.python import Cost, Ranking, estimate, judge, rank, rate

__all__ = ["Cost", "Ranking", "estimate", "judge", "rank", "rate"]
PACKAGES = ("arena", "data", "judges", "leaderboard", "submissions")


def __getattr__(name: str) -> object:
    """Return a function, importing its module on first use."""
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value: object = getattr(import_module(f"{__name__}.arena.python"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Beside(Loader):
    """Finds `answer_arena.leaderboard` in a checkout, where the packages are next to this module."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        package, _, module = name.partition(".")
        ours = package == __name__ and module.partition(".")[0] in PACKAGES
        return ModuleSpec(name, self) if ours else None

    def create_module(self, spec: ModuleSpec) -> None:
        """By default."""

    def exec_module(self, module: ModuleType) -> None:
        """Replace it by the module under its short name, so that both names have the same classes."""
        sys.modules[module.__name__] = import_module(module.__name__.partition(".")[2])


if "__path__" not in globals():
    __path__: list[str] = []
    sys.meta_path.insert(0, _Beside())
