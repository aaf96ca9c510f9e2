"""Settings of endpoints: limits, patience, cache mode and money, as one frozen value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from data.errors import SpecError

OPENAI = "openai"
DIRECT = "direct"
"""The usual transport."""
NO_KEYS: Mapping[str, str] = MappingProxyType({})


class CacheMode(StrEnum):
    """Use of the reply cache."""

    LIVE = "live"
    """Replies are taken from the cache where it has them; the rest is asked and kept."""
    REPLAY = "replay"
    """Replies come from the cache alone; a request that it lacks is an error."""
    RECORD = "record"
    """Everything is asked anew and kept in place of what the cache had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSettings:
    """Limits and patience. Times are in seconds.

    Attributes:
        api_key: Sent to every endpoint that `api_keys` does not name.
        api_keys: Keys of particular endpoints, by base URL.
        other_keys: Keys that a transport's own library may send.
        transport: How requests travel, by the name of a registered transport.
        cache_mode: What the reply cache is used for.
        concurrency: Calls in flight at most, for each endpoint and model.
        first_concurrency: Calls in flight at the start; grows while they are all in use.
        rpm: Requests a minute at most, for each endpoint and model, in this process; None is not a limit.
        tpm: Tokens a minute likewise, input and the most that may be returned together.
        timeout: The longest wait for one reply.
        connect_timeout: The longest wait for a connection.
        attempts: Calls made for a request at most where errors are transient (429 apart).
        rate_limit_attempts: Calls made for a request at most that are turned away by 429.
        backoff: Wait before the second attempt; doubles at each further one.
        longest_backoff: The wait never grows beyond this, unless the endpoint asks for more.
        rate_limit_patience: How long a request may be turned away by 429 before it fails.
        breaker_faults: Requests with faults in a row, no success between, before an endpoint is given up.
        breaker_seconds: How long they must have lasted.
        breaker_start_seconds: How long where the endpoint has never answered.
        prices: A TOML file of prices that go before the built-in ones.
        unbounded_output: Output tokens to reserve money for where a request sets no maximum.
        batch_poll: Wait between two looks at a batch.
        batch_gather: A batch is sent when no further request came for this long.
        batch_size: Requests in one batch at most.
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
                raise SpecError(message, advice="Give it 1 or more.")
        for name in ("timeout", "connect_timeout", "rpm", "tpm"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SpecError(f"The access setting {name} is {value}.", advice="Give it more than 0.")

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key that may be sent."""
        return (self.api_key, *self.api_keys.values(), *self.other_keys)

    def key_for(self, endpoint: str) -> str:
        """Return the key to send to an endpoint; endpoints without keys get a word that says so."""
        return self.api_keys.get(endpoint, self.api_key) or "none"
