"""Start of the site."""

import errno
import socket
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from arena.settings import LOOPBACK, Settings
from data.errors import ServeError

HERE = Path(__file__).parent
# In a wheel the configuration is next to this module, in a checkout where Streamlit reads it.
CONFIGURATIONS = (HERE / "config.toml", HERE.parents[1] / ".streamlit" / "config.toml")
EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - only compared with
MAX_PORT = 65535


def serve_site(host: str, port: int, settings: Settings) -> None:
    """Serve the site until it is interrupted."""
    check_port(host, port)
    from arena.site.app import make_app  # noqa: PLC0415 - loads Streamlit; the port is checked first

    ready = f"Answer Arena is at {address_of(host, port)}  (Ctrl-C stops it)"
    app = make_app(settings, host=host, on_ready=lambda: print(ready, flush=True))  # noqa: T201 - for the user
    origin = settings.public_url or address_of(host, port)
    # `client.allowedOrigins`: origins of parent windows whose messages pages accept.
    fixed = {
        "server.address": host,
        "server.port": port,
        "server.maxUploadSize": settings.max_upload_mb,
        "client.allowedOrigins": [origin],
    }
    app.run(config={**configuration(), **fixed})


def address_of(host: str, port: int) -> str:
    """Return the address that a browser on this machine opens."""
    name = "localhost" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"


def check_port(host: str, port: int) -> None:
    """Check that the site can listen here."""
    if not 0 < port <= MAX_PORT:
        raise ServeError(f"{port} is not a port.", advice="Choose one from 1024 to 65535 with --port.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        advice = "Use 127.0.0.1 for this machine only, or 0.0.0.0 for every network."
        raise ServeError(f"The host {host!r} is unknown.", advice=advice) from error
    with socket.socket(family, kind, protocol) as probe:
        # As servers do, so that the port of a server that has just stopped is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise _refused(host, port, error) from error


def proxy_unnamed(settings: Settings, host: str) -> str:
    """Return a warning about an untrusted proxy in front of the site; empty without signs of one."""
    if host in LOOPBACK or settings.proxies or not settings.public_url.startswith("https://"):
        return ""
    return (
        f"The site is {settings.public_url} but listens on {host}, so it is behind a proxy. Add the proxy to "
        "ARENA_PROXIES; otherwise visitors share one rate limit, and cookies are not restricted to https."
    )


def configuration() -> Mapping[str, Any]:
    """Return the site's Streamlit options by their dotted names."""
    for path in CONFIGURATIONS:
        if path.is_file():
            return dict(_flattened(tomllib.loads(path.read_text(encoding="utf-8"))))
    raise ServeError("The site's config.toml is missing.", advice="Install the package again.")


def _flattened(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _refused(host: str, port: int, error: OSError) -> ServeError:
    if error.errno == errno.EADDRINUSE:
        return ServeError(f"Port {port} is in use on {host}.", advice="Choose another port with --port.")
    if error.errno in {errno.EACCES, errno.EPERM}:
        return ServeError(
            f"Port {port} needs administrator rights.", advice="Choose one above 1023 with --port."
        )
    if error.errno == errno.EADDRNOTAVAIL:
        advice = "Use 127.0.0.1 for this machine only, or 0.0.0.0 for every network."
        return ServeError(f"This machine has no address {host}.", advice=advice)
    return ServeError(
        f"Cannot listen on {host}:{port}: {error.strerror}.", advice="Choose another port with --port."
    )
