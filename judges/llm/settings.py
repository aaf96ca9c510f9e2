"""Settings of endpoints: keys, limits, retries, cache mode and prices."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from data.errors import SpecError

OPENAI = "openai"
DIRECT = "direct"
"""The default transport."""
NO_KEYS: Mapping[str, str] = MappingProxyType({})


class CacheMode(StrEnum):
    """Use of the reply cache."""

    LIVE = "live"
    """Use cached replies; request and cache the rest."""
    REPLAY = "replay"
    """Use only cached replies; a missing reply is an error."""
    RECORD = "record"
    """Request everything again and overwrite the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSettings:
    """Settings of LLM access; times are in seconds.

    Attributes:
        api_key: Default key for endpoints that are not in `api_keys`.
        api_keys: Keys of particular endpoints, by base URL.
        other_keys: Keys that a transport's library may send.
        transport: Name of a registered transport.
        cache_mode: Use of the reply cache.
        concurrency: Maximum number of concurrent calls per endpoint and model.
        first_concurrency: Initial limit of concurrent calls; grows while it is fully used.
        rpm: Maximum requests per minute, endpoint and model in this process; None for no limit.
        tpm: Maximum tokens per minute, counting input and maximum output; None for no limit.
        timeout: Maximum wait for a reply.
        connect_timeout: Maximum wait for a connection.
        attempts: Maximum calls for a request with transient errors other than 429.
        rate_limit_attempts: Maximum calls for a request that end with 429.
        backoff: Wait before the second attempt; doubles for each further attempt.
        longest_backoff: Maximum wait, unless the endpoint asks for more.
        rate_limit_patience: Time after which a request fails if every attempt ends with 429.
        breaker_faults: Consecutive failed requests before an endpoint is given up.
        breaker_seconds: Minimum duration of these failures.
        breaker_start_seconds: Minimum duration if the endpoint has never answered.
        prices: TOML file of prices that override the built-in ones.
        unbounded_output: Output tokens assumed for the budget if a request sets no maximum.
        batch_poll: Interval between status requests of a batch.
        batch_gather: Quiet time after which a batch is sent.
        batch_size: Maximum number of requests in a batch.
    """

    api_key: str = field(default="", repr=False)
    api_keys: Mapping[str, str] = field(default_factory=lambda: NO_KEYS, repr=False)
    other_keys: tuple[str, ...] = field(default=(), repr=False)
    transport: str = OPENAI
    cache_mode: CacheMode = CacheMode.LIVE
    concurrency: int = 64
    first_concurrency: int = 64
    rpm: float | None = None
    tpm: float | None = None
    timeout: float = 120.0
    connect_timeout: float = 10.0
    attempts: int = 6
    rate_limit_attempts: int = 100
    backoff: float = 1.0
    longest_backoff: float = 30.0
    rate_limit_patience: float = 600.0
    breaker_faults: int = 10
    breaker_seconds: float = 15.0
    breaker_start_seconds: float = 3.0
    prices: Path | None = None
    unbounded_output: int = 4_096
    batch_poll: float = 30.0
    batch_gather: float = 2.0
    batch_size: int = 10_000

    def __post_init__(self) -> None:
        for name in (
            "concurrency",
            "first_concurrency",
            "attempts",
            "rate_limit_attempts",
            "breaker_faults",
            "batch_size",
        ):
            if getattr(self, name) < 1:
                message = f"The access setting {name} is {getattr(self, name)}."
                raise SpecError(message, advice="It must be at least 1.")
        for name in ("timeout", "connect_timeout", "rpm", "tpm"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SpecError(f"The access setting {name} is {value}.", advice="It must be above 0.")

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key that may be sent."""
        return (self.api_key, *self.api_keys.values(), *self.other_keys)

    def key_for(self, endpoint: str) -> str:
        """Return the key for an endpoint, or `none`."""
        return self.api_keys.get(endpoint, self.api_key) or "none"
