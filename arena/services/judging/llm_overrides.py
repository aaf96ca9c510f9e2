"""How LLMs are reached where a command or a job wants it otherwise than the settings say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from arena.settings import Settings
from judges.llm.settings import CacheMode


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOverrides:
    """What goes before the settings; what is None is as they say.

    The limits a minute are for each endpoint and model; `timeout` is the longest wait for one reply, in
    seconds.
    """

    cache_mode: CacheMode | None = None
    transport: str | None = None
    rpm: int | None = None
    tpm: int | None = None
    timeout: int | None = None

    @classmethod
    def from_json(cls, payload: Mapping[str, Any]) -> LlmOverrides:
        """What a job for workers asks for, among other things."""
        from pydantic import TypeAdapter  # noqa: PLC0415 - commands load this module, workers alone need it

        read: LlmOverrides = TypeAdapter(cls).validate_python(dict(payload))
        return read

    def to_json(self) -> dict[str, Any]:
        """What was asked for, as a job for workers stores it."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def over(self, settings: Settings) -> Settings:
        """The settings with this in their place where it was asked for."""
        return replace(settings, **self.to_json())
