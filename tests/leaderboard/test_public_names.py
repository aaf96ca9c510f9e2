"""The public names of the room of results."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

import leaderboard

MODULES = ("battles", "formats", "rates", "ratings")


@pytest.mark.parametrize("name", leaderboard.__all__)
def test_public_modules_import_and_say_what_they_are(name: str) -> None:
    assert import_module(f"{leaderboard.__name__}.{name}").__doc__


@pytest.mark.parametrize("module", MODULES)
def test_public_names_import_and_say_what_they_are(module: str) -> None:
    room = import_module(f"{leaderboard.__name__}.{module}")
    assert room.__all__ == sorted(room.__all__)
    for name in room.__all__:
        member = getattr(room, name)
        assert inspect.isclass(member) or inspect.isfunction(member), name
        assert member.__doc__, name
        assert not member.__doc__.startswith(f"{name}("), name
