"""How LLMs are reached where a command or a job wants it otherwise than the settings say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from arena.settings import Settings
from judges.llm.settings import CacheMode, TransportKind

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaching:
    """What goes before the settings; what is None is as they say.

    Attributes:
        cache_mode: What the reply cache is used for.
        transport: How requests travel.
        rpm: Requests a minute at most, for each endpoint and model.
        tpm: Tokens a minute likewise.
        timeout: Longest wait for one reply, in seconds.
    """

    cache_mode: CacheMode | None = None
    transport: TransportKind | None = None
    rpm: int | None = None
    tpm: int | None = None
    timeout: int | None = None

    @classmethod
    def of_job(cls, payload: Mapping[str, Any]) -> Reaching:
        """What a job for workers asks for, among other things."""
        return cls(
            cache_mode=_read(payload, "cache_mode", CacheMode),
            transport=_read(payload, "transport", TransportKind),
            rpm=_read(payload, "rpm", int),
            tpm=_read(payload, "tpm", int),
            timeout=_read(payload, "timeout", int),
        )

    def for_job(self) -> dict[str, Any]:
        """What was asked for, as a job for workers keeps it."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def over(self, settings: Settings) -> Settings:
        """The settings with this in their place where it was asked for."""
        return replace(
            settings,
            cache_mode=self.cache_mode or settings.cache_mode,
            transport=self.transport or settings.transport,
            rpm=self.rpm or settings.rpm,
            tpm=self.tpm or settings.tpm,
            timeout=self.timeout or settings.timeout,
        )


def _read(payload: Mapping[str, Any], name: str, kind: Callable[[Any], Kind]) -> Kind | None:
    value = payload.get(name)
    return None if value is None else kind(value)
