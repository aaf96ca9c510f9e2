"""Public and private addresses."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_network

import pytest

from data.public_hosts import is_public

REGISTRIES = """
0.0.0.0/8 no
10.0.0.0/8 no
100.64.0.0/10 no
127.0.0.0/8 no
169.254.0.0/16 no
172.16.0.0/12 no
192.0.0.0/24 no
192.0.2.0/24 no
192.31.196.0/24 yes
192.52.193.0/24 yes
192.88.99.0/24 no
192.168.0.0/16 no
192.175.48.0/24 yes
198.18.0.0/15 no
198.51.100.0/24 no
203.0.113.0/24 no
224.0.0.0/4 no
240.0.0.0/4 no
255.255.255.255/32 no
::/128 no
::1/128 no
::/96 no
::ffff:0:0:0/96 no
64:ff9b:1::/48 no
100::/64 no
100:0:0:1::/64 no
2001::/32 no
2001:2::/48 no
2001:10::/28 no
2001:db8::/32 no
3fff::/20 no
5f00::/16 no
fc00::/7 no
fe80::/10 no
fec0::/10 no
ff00::/8 no
2620:4f:8000::/48 yes
"""
"""IANA's registries of special-purpose addresses (October 2024) with "Globally Reachable", and the blocks
that RFC 3879, RFC 4291, RFC 6145 and RFC 7526 took out of use; exceptions inside 192.0.0.0/24 and 2001::/23
are left out, as nobody serves the web there."""


@pytest.mark.parametrize("line", REGISTRIES.split("\n")[1:-1])
def test_special_ranges_are_public_only_where_the_registry_says_so(line: str) -> None:
    text, reachable = line.split()
    network = ip_network(text)
    for number in {0, 1, network.num_addresses // 2, network.num_addresses - 1} - {network.num_addresses}:
        assert is_public(str(network[number])) is (reachable == "yes"), network[number]


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "2606:2800:220:1::1", "2a00:1450:4001::5"])
def test_usual_addresses_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "inner", ["10.0.0.1", "127.0.0.1", "169.254.169.254", "168.63.129.16", "192.0.0.192"]
)
def test_what_stands_for_a_private_address_is_none(inner: str) -> None:
    assert not is_public(inner)
    number = int(IPv4Address(inner))
    high, low = number >> 16, number & 0xFFFF
    for form in (
        f"::ffff:{inner}",
        f"::{inner}",
        f"::ffff:0:{inner}",
        f"64:ff9b::{inner}",
        f"64:ff9b:1::{inner}",
        f"2002:{high:x}:{low:x}::1",
        f"2606:2800:220:1::5efe:{inner}",
        f"2606:2800:220:1:200:5efe:{inner}",
        f"2001:0:5db8:d822::{high ^ 0xFFFF:x}:{low ^ 0xFFFF:x}",
    ):
        assert not is_public(form), form


@pytest.mark.parametrize("form", ["::ffff:93.184.216.34", "64:ff9b::5db8:d822", "2002:5db8:d822::1"])
def test_what_stands_for_a_public_address_is_public(form: str) -> None:
    assert is_public(form)
