"""Dependencies of routes: services, the caller, and access checks.

The caller is read from the database on every request. Tokens come only from `Authorization: Bearer …`, never
from URLs or cookies, so that no other site can use them.
"""

import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Annotated, TypeVar

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials
from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from arena.api.errors import RefusedRequestError
from arena.api.middleware import LIMIT_HEADERS
from arena.container import Arena
from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.jobs.cancellation import StopEvent, alongside, raise_if_stopped
from arena.services.submissions.uploads import FairQueue
from data.errors import AccessError

IPV6_HOST_BITS = 64
Result = TypeVar("Result")


class Rates:
    """Rate limits of requests in this process, by a sliding window."""

    def __init__(self, *, requests: int, intakes: int) -> None:
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._requests = RateLimitItemPerMinute(requests, namespace="request")
        self._intakes = RateLimitItemPerHour(intakes, namespace="intake")

    def request(self, key: str) -> tuple[bool, dict[str, str]]:
        """Count a request; return whether it is allowed, and rate limit headers."""
        return self._count(self._requests, key)

    def intake(self, key: str) -> tuple[bool, dict[str, str]]:
        """Count an upload; return whether it is allowed, and rate limit headers."""
        return self._count(self._intakes, key)

    def _count(self, item: RateLimitItem, key: str) -> tuple[bool, dict[str, str]]:
        passed = self._limiter.hit(item, key)
        stats = self._limiter.get_window_stats(item, key)
        return passed, {
            "RateLimit-Limit": str(item.amount),
            "RateLimit-Remaining": str(stats.remaining),
            "RateLimit-Reset": str(max(1, math.ceil(stats.reset_time - time.time()))),
        }


@asynccontextmanager
async def client_there(request: Request) -> AsyncIterator[Callable[[], None]]:
    """Yield a function for threads that raises once the client has disconnected."""
    left = StopEvent()
    async with alongside(_watch(request, left)):
        yield partial(raise_if_stopped, left)


async def _watch(request: Request, left: StopEvent) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue
    left.set()


def client_of(request: Request) -> str:
    """Return the key under which a client's requests are limited."""
    return rate_key(request.client.host if request.client else "")


def rate_key(host: str) -> str:
    """Return an address, or the network of an IPv6 address, since a host has many of them."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    return str(ip_network((address, IPV6_HOST_BITS), strict=False))


def _services(request: Request) -> Arena:
    arena: Arena = request.app.state.arena
    return arena


def _queue(request: Request) -> FairQueue:
    queue: FairQueue = request.app.state.queue
    return queue


Services = Annotated[Arena, Depends(_services)]
CheckQueue = Annotated[FairQueue, Depends(_queue)]
_bearer = HTTPBearer(auto_error=False, description="An access token, `aa_…`.")


def admit(
    request: Request,
    arena: Services,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)] = None,
) -> Caller:
    """Authenticate the caller; raise for an invalid token or too many requests."""
    rates: Rates = request.app.state.rates
    client = client_of(request)
    try:
        if credentials is None and "authorization" in request.headers:
            raise AccessError(
                "Only bearer tokens are supported.", advice="Send `Authorization: Bearer aa_…`."
            )
        caller = (
            PUBLIC
            if credentials is None
            else arena.identities.of_token(credentials.credentials, client=client)
        )
    except AccessError:
        _count(request, rates, f"address {client}")
        raise
    _count(request, rates, caller.name if caller.signed_in else f"address {client}")
    return caller


def _count(request: Request, rates: Rates, key: str) -> None:
    passed, headers = rates.request(key)
    setattr(request.state, LIMIT_HEADERS, headers)
    if not passed:
        raise too_many(headers)


def too_many(headers: dict[str, str]) -> RefusedRequestError:
    """Return the error for a client that exceeds the rate limit."""
    wait = headers["RateLimit-Reset"]
    return RefusedRequestError(
        429, "Too many requests.", advice=f"Retry in {wait} seconds.", headers={"Retry-After": wait}
    )


Who = Annotated[Caller, Depends(admit)]


def _intake(request: Request, caller: Who) -> Caller:
    """Authenticate an upload, which needs a token and has its own rate limit."""
    if not caller.signed_in:
        raise AccessError("This request needs a token.", advice="Send `Authorization: Bearer aa_…`.")
    rates: Rates = request.app.state.rates
    passed, headers = rates.intake(caller.name)
    if not passed:
        raise too_many(headers)
    return caller


Uploader = Annotated[Caller, Depends(_intake)]
