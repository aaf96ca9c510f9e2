"""Under what name scores are kept."""

from __future__ import annotations

from collections.abc import Callable

from arena.container import Arena
from data.models import Json


def test_names_fit_the_database_and_tell_options_apart(make_arena: Callable[..., Arena]) -> None:
    """However long the options, a name has at most 100 characters; other options give another name."""
    access = make_arena().metric_access
    assert access.kept_as("", {}) == ""
    assert access.kept_as("", {"beta": 2}) == "beta=2"
    names = set()
    for count in (1, 2):
        judgments: dict[str, Json] = {f"q{number}": {"p": [count]} for number in range(500)}
        options: dict[str, Json] = {f"option_{letter}": 1_000_000 for letter in "abcdefgh"}
        options["judgments"] = judgments
        names.add(access.kept_as("reference-free", options))
    assert len(names) == 2
    assert max(map(len, names)) == 100
