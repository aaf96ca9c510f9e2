from __future__ import annotations

import pytest

from arena.settings import read_settings
from arena.site.middleware import ServedHosts
from data.errors import InputError


def test_settings_of_hosts_and_framers_are_read() -> None:
    """Hosts and framers are lists; invalid hosts, origins and addresses are refused by name."""
    settings = read_settings(
        {
            "ARENA_PUBLIC_URL": "https://Arena.example.org/",
            "ARENA_HOSTS": "site, [::1] 10.0.0.5",
            "ARENA_FRAMERS": "https://lab.example.org:8443",
        }
    )
    assert settings.public_url == "https://Arena.example.org"
    assert settings.hosts == ("site", "[::1]", "10.0.0.5")
    assert ServedHosts.of(settings, "myhost").names >= {
        "arena.example.org",
        "site",
        "::1",
        "myhost",
        "localhost",
    }
    for name, wrong in (
        ("ARENA_PUBLIC_URL", "arena.example.org"),
        ("ARENA_PUBLIC_URL", "https://u:p@arena.example.org"),
        ("ARENA_HOSTS", "https://arena.example.org"),
        ("ARENA_FRAMERS", "'none'; script-src *"),
        ("ARENA_METRICS", "maybe"),
    ):
        with pytest.raises(InputError, match=name):
            read_settings({name: wrong})


def test_proxies_are_addresses_and_networks() -> None:
    assert read_settings({"ARENA_PROXIES": "10.0.0.0/8, ::1"}).proxies == ("10.0.0.0/8", "::1/128")
    with pytest.raises(InputError, match="ARENA_PROXIES is invalid"):
        read_settings({"ARENA_PROXIES": "everybody"})
