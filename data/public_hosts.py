"""Requests to addresses that strangers name: only where every address of the host is public.

A host's addresses are looked up once, checked, and the connection goes to what was checked, so that a name
which means another address a moment later leads nowhere else.
"""

from __future__ import annotations

import asyncio
from ipaddress import IPv4Address, ip_address, ip_network

LOOK_UP = "getaddrinfo"
NAT64 = ip_network("64:ff9b::/96")
GLOBAL_UNICAST = ip_network("2000::/3")
SPECIAL_IPV6 = tuple(map(ip_network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
"""Of the global unicast addresses: those of protocols (Teredo among them) and of documentation."""
SPECIAL_IPV4 = tuple(map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32")))
"""What has a meaning of its own in each network; the last is the host of Azure's virtual machines."""
ISATAP, ISATAP_MASK = 0x5EFE, 0xFDFFFFFF


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
    """Whether an IP address is reachable from everywhere, whatever address it may stand for.

    Source: IANA's registries of special-purpose addresses; of IPv6 only what is global unicast (RFC 4291),
    and IPv4 that is mapped or translated as RFC 6052 and RFC 3056 have it.
    """
    given = ip_address(text)
    if isinstance(given, IPv4Address):
        return _is_public_ipv4(given)
    inside = int(given) & 0xFFFFFFFF
    if given.ipv4_mapped is not None or given in NAT64:
        return _is_public_ipv4(IPv4Address(inside))
    if given not in GLOBAL_UNICAST or any(given in network for network in SPECIAL_IPV6):
        return False
    if given.sixtofour is not None:
        return _is_public_ipv4(given.sixtofour)
    if (int(given) >> 32) & ISATAP_MASK == ISATAP:
        return _is_public_ipv4(IPv4Address(inside))
    return given.is_global


def _is_public_ipv4(address: IPv4Address) -> bool:
    special = any(address in network for network in SPECIAL_IPV4)
    return address.is_global and not address.is_multicast and not special
