"""Attributes that import their class on first use, so that commands start quickly."""

from functools import cached_property
from importlib import import_module
from operator import attrgetter
from typing import Any

ROOT = __name__.rpartition("data")[0]
"""Prefix of all modules: empty in a checkout, the package in a wheel."""


def lazy(path: str, *arguments: str) -> cached_property[Any]:
    """Create `MODULE.CLASS` from named attributes of the owner, on first use."""
    module, _, kind = path.rpartition(".")

    def make(owner: object) -> object:
        return getattr(import_module(ROOT + module), kind)(*(attrgetter(name)(owner) for name in arguments))

    return cached_property(make)
