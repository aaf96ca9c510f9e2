"""Under which names the site is served, and from which pages a WebSocket may be opened.

A page of another site whose name leads to this machine (DNS rebinding) counts as ours to a browser; its
requests bear its own name in `Host`, and so are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from arena.settings import Settings

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """Origin of a site as browsers separate them: scheme, name and port."""

    scheme: str
    host: str
    port: int


def origin_of(address: str) -> Origin | None:
    """Return the origin of an address; None where it has none, as `null`."""
    try:
        parts = urlsplit(address)
        port = parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return None
    if port is None or not parts.hostname:
        return None
    return Origin(parts.scheme, parts.hostname.rstrip("."), port)


def origin_of_request(scope: Scope) -> Origin | None:
    """Return the origin of a request, by its `Host` and scheme; None where `Host` is unusable."""
    host = Headers(scope=scope).get("host", "")
    if not host or any(sign in host for sign in "/?#@\\ "):
        return None
    scheme = {"ws": "http", "wss": "https"}.get(scope["scheme"], scope["scheme"])
    return origin_of(f"{scheme}://{host}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedHosts:
    """The names that are served, in lower case, and the origin that readers know where one is set."""

    names: frozenset[str]
    public: Origin | None = None

    @classmethod
    def of(cls, settings: Settings, host: str = "") -> ServedHosts:
        """Collect the hosts of the settings, of the address that is listened on, and of this machine."""
        public = origin_of(settings.public_url)
        listed = (name.strip("[]") for name in (*settings.hosts, host.lower(), public.host if public else ""))
        return cls(names=LOOPBACK | {name for name in listed if name}, public=public)

    def serve(self, scope: Scope, asked: Origin) -> bool:
        """Return whether a request's host is served; the address that it came to always is."""
        local = scope.get("server") or ("", None)
        return asked.host in self.names or asked.host == str(local[0]).lower()

    def own(self, scope: Scope, origin: str) -> bool:
        """Return whether an `Origin` is this site: its scheme, name and port are the request's, or public."""
        parsed = origin_of(origin)
        return parsed is not None and parsed in {origin_of_request(scope), self.public}
