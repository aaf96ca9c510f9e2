"""Type narrowing for tests, with failures that print the value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def known(value: T | None) -> T:
    """Return a value that must not be None."""
    assert value is not None, "The value is missing."
    return value


def instance(kind: type[T], value: object) -> T:
    """Return a value that must be of a class."""
    assert isinstance(value, kind), f"{value!r} is not a {kind.__name__}."
    return value


def number(value: object) -> float:
    """Return a number of a JSON object; booleans are refused."""
    assert isinstance(value, int | float), f"{value!r} is not a number."
    assert not isinstance(value, bool), f"{value!r} is not a number."
    return value


def listed(value: object) -> Sequence[Any]:
    """Return a value as a list."""
    assert isinstance(value, Sequence), f"{value!r} is not a list."
    assert not isinstance(value, str), f"{value!r} is not a list."
    return value


def mapping(value: object) -> Mapping[str, Any]:
    """Return an object within a JSON object."""
    assert isinstance(value, Mapping), f"{value!r} is not an object."
    return value


def instances(kind: type[T], values: Iterable[object]) -> list[T]:
    """Return values that must all be of a class."""
    return [instance(kind, value) for value in values]
