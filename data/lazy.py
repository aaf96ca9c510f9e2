"""Attributes that import their class when they are first asked for, so that commands start quickly."""

from functools import cached_property
from importlib import import_module
from operator import attrgetter
from typing import Any

ROOT = __name__.rpartition("data")[0]
"""Prefix of every module: empty in a checkout, the one package in a wheel."""


def lazy(path: str, *arguments: str) -> cached_property[Any]:
    """Make an instance of the class `MODULE.CLASS` from the named attributes of its owner."""
    module, _, kind = path.rpartition(".")

    def make(owner: object) -> object:
        return getattr(import_module(ROOT + module), kind)(*(attrgetter(name)(owner) for name in arguments))

    return cached_property(make)
