"""Records as JSON values, by the names of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import Enum
from typing import Any


def to_json(record: Any, *without: str, **others: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
    """A record's fields in their order, but for some; `others` replace fields, or come after them."""
    names = [name for name in record.__dataclass_fields__ if name not in without]
    return {
        name: others[name] if name in others else _value(getattr(record, name)) for name in names
    } | others


def _value(value: Any) -> Any:  # noqa: ANN401 - a JSON value has no narrower type
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {_value(key): _value(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_value(member) for member in value]
    return to_json(value) if is_dataclass(value) else value
