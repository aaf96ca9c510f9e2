"""Public and private addresses of hosts."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address, ip_network

NAT64 = ip_network("64:ff9b::/96")
GLOBAL_UNICAST = ip_network("2000::/3")
SPECIAL_IPV6 = tuple(map(ip_network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
"""Of the global unicast addresses: those of protocols (Teredo among them) and of documentation."""
SPECIAL_IPV4 = tuple(map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32")))
"""Address ranges with a special meaning in each network; the last is the host of Azure's virtual machines."""
ISATAP, ISATAP_MASK = 0x5EFE, 0xFDFFFFFF


def is_public(text: str) -> bool:
    """Return whether an IP address is reachable from everywhere, whatever address it may stand for.

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
