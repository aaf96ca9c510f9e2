"""Print classes that duplicate the fields of submissions, rounds, boards, teams, labels and scores.

Run: python -m benchmarks.shapes
Classes are duplicates if they share at least 70 % of the field names of the larger, unless one is a subclass.
One class per subject is expected.
"""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import data.models
from data.models import jobs, rounds, submissions, teams

PACKAGES = ("data", "judges", "leaderboard", "submissions", "arena")
SHARED = 0.7
SHAPES: dict[str, type[Any]] = {
    "submissions": submissions.Submission,
    "sets": submissions.SetSummary,
    "rounds": rounds.Round,
    "boards": rounds.Board,
    "labels": rounds.LabelledRound,
    "teams": teams.Team,
    "accounts": teams.UserAccount,
    "tokens": teams.Token,
    "jobs": jobs.Job,
    "scores": data.models.Score,
}


def fields_of(kind: type[Any]) -> frozenset[str]:
    """Return a class's fields in JSON."""
    if is_dataclass(kind):
        return frozenset(kind.__dataclass_fields__)
    fields = getattr(kind, "model_fields", None)
    return frozenset(name for name, field in fields.items() if not field.exclude) if fields else frozenset()


def modules() -> Iterator[ModuleType]:
    """Yield the importable modules of the product."""
    for package in PACKAGES:
        for entry in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            if not entry.name.endswith(("main", "__main__")) and "migrations" not in entry.name:
                try:
                    yield import_module(entry.name)
                except ImportError as error:
                    print(f"skipped {entry.name}: {error}", file=sys.stderr)


def classes() -> set[type[Any]]:
    """Return the product's classes that have fields."""
    return {
        value
        for module in modules()
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__ and fields_of(value)
    }


def main() -> None:
    """Print each subject with its classes."""
    every = classes()
    for subject, own in SHAPES.items():
        mine = fields_of(own)
        shares = ((kind, len(mine & fields_of(kind)), fields_of(kind)) for kind in every)
        alike = [kind for kind, same, theirs in shares if same >= SHARED * max(len(mine), len(theirs))]
        copies = [kind for kind in alike if not any(base in alike for base in kind.__mro__[1:])]
        names = sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in copies)
        print(f"{subject} {len(names)}: {', '.join(names)}")


if __name__ == "__main__":
    main()
