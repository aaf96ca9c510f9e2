"""Base of all values."""

import json
from datetime import datetime
from types import SimpleNamespace
from typing import Any, Self

from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field

LOWER = AliasChoices("lower", AliasPath("interval", "lower"))
"""Bounds of a figure: its own fields, or those of its interval, which may be missing."""
UPPER = AliasChoices("upper", AliasPath("interval", "upper"))


class Value(BaseModel):
    """Frozen value, read from a JSON object or from attributes of the same names."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        from_attributes=True,
        use_attribute_docstrings=True,
        json_schema_serialization_defaults_required=True,
    )

    @classmethod
    def of(cls, *records: object, **fields: object) -> Self:
        """Read a JSON object, or several records: the first with a field wins; `fields` override all."""
        if len(records) == 1 and not fields:
            return cls.model_validate(records[0])
        return cls.model_validate(_Joined(SimpleNamespace(**fields), *records))

    def to_json(self) -> dict[str, Any]:
        """Return the object that commands print; times are ISO 8601 with an offset."""
        printed: dict[str, Any] = json.loads(
            json.dumps(self.model_dump(by_alias=True), default=datetime.isoformat)
        )
        return printed


class _Joined:
    def __init__(self, *records: object) -> None:
        self._records = records

    def __getattr__(self, name: str) -> object:
        for record in self._records:
            if hasattr(record, name):
                return getattr(record, name)
        raise AttributeError(name)


def one_of(*words: str) -> object:
    """Return a type of text with these values; newer arenas may add others."""
    return Field(json_schema_extra={"enum": list(words)})
