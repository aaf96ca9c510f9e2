"""Requests to addresses that strangers name: only where every address of the host is public.

A host's addresses are looked up once, checked, and the connection goes to what was checked, so that a name
which means another address a moment later leads nowhere else.
"""

from __future__ import annotations

import asyncio
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

NAT64 = ip_network("64:ff9b::/96")


class HostError(Exception):
    """Why a host is not asked."""


class PrivateHostError(HostError):
    """It has an address that is not public."""


async def address_of(host: str, port: int, *, private: bool = False) -> str:
    """An address of a host that may be asked.

    Args:
        host: Its name or address.
        port: Its port.
        private: Whether addresses that are not public will do.

    Raises:
        HostError: The host is unknown.
        PrivateHostError: An address of it is not public.
    """
    try:
        entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=1)
    except (OSError, UnicodeError) as error:
        raise HostError(f"its host {host} is not known") from error
    addresses = [str(entry[4][0]).partition("%")[0] for entry in entries]
    if not private and not all(map(is_public, addresses)):
        raise PrivateHostError(f"its host {host} has an address that is not public")
    return addresses[0]


def is_public(text: str) -> bool:
    """Whether an IP address is reachable from everywhere, whatever address it may stand for."""
    given = ip_address(text)
    meant: list[IPv4Address | IPv6Address | None] = [given]
    if isinstance(given, IPv6Address):
        teredo = given.teredo
        meant += [given.ipv4_mapped, given.sixtofour, teredo[1] if teredo else None]
        if given in NAT64:
            meant.append(IPv4Address(int(given) & 0xFFFFFFFF))
    return all(address.is_global and not address.is_multicast for address in meant if address is not None)
