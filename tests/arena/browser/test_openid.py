from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from data.models import Role
from tests.browsing import Visitor
from tests.openid_provider import Provider, running_provider
from tests.served import reader, served

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclass(frozen=True, kw_only=True)
class House:
    """Served arena with sign-in by a provider."""

    arena: Arena
    url: str
    log: Path
    provider: Provider


@pytest.fixture
def house(filled: Callable[..., Arena], tmp_path: Path) -> Iterator[House]:
    """Serve an arena with the account `ann`, an owner of `ours`, and its provider."""
    arena, log = filled(), tmp_path / "site.log"
    arena.teams.add("ours", caller=OPERATOR)
    arena.teams.add_account("ann", email="ann@example.org", caller=OPERATOR)
    arena.teams.add_member("ours", "ann", role=Role.OWNER, caller=OPERATOR)
    with running_provider() as provider:

        def start(url: str) -> Path:
            (tmp_path / ".streamlit").mkdir()
            (tmp_path / ".streamlit" / "secrets.toml").write_text(provider.settings(url))
            return tmp_path

        with served(arena.settings, log, start) as url:
            yield House(arena=arena, url=url, log=log, provider=provider)


def sign_in(house: House, walk: Visitor) -> None:
    walk.go("/team")
    walk.driver.delete_all_cookies()
    walk.go("/team")
    walk.click("//button[normalize-space()='Sign in with your organisation']")
    walk.click("//button[text()='I am who I am']")
    # The provider redirects to the site's first page.
    walk.rest()
    walk.go("/team")


def test_account_is_bound_at_first_sign_in(house: House) -> None:
    walk = reader(house.url)
    house.provider.claims = {"sub": "4711", "email": "Ann@Example.org", "email_verified": True}
    sign_in(house, walk)
    walk.find(".aa-eyebrow", "Signed in as ann")
    walk.find("[data-testid=stMain]", "Nothing has been submitted yet")
    (ann,) = house.arena.teams.accounts(caller=OPERATOR)
    assert ann.subject == f"{house.provider.issuer}#4711"

    house.arena.teams.remove_member("ours", "ann", caller=OPERATOR)
    walk.go("/team")
    walk.find("[data-testid=stAlert]", "You are not in a team yet")

    walk.click("//a[normalize-space()='Sign out']")
    walk.click("//button[normalize-space()='Sign out']")
    walk.rest()
    walk.go("/team")
    walk.find("[data-testid=stMain]", "Sign in to see your team")
    house.provider.claims = {"sub": "4712", "email": "ann@example.org", "email_verified": True}
    sign_in(house, walk)
    walk.find("[data-testid=stAlert]", "No account belongs to this sign-in")

    log = house.log.read_text()
    assert "Traceback" not in log
    assert house.provider.client_secret not in log
    assert house.provider.exchanged == 2


def test_unverified_sign_in_is_rejected(house: House) -> None:
    walk = reader(house.url)
    house.provider.claims = {"sub": "1", "email": "ann@example.org", "email_verified": False}
    sign_in(house, walk)
    walk.find("[data-testid=stAlert]", "No account belongs to this sign-in")

    house.provider.claims = {"sub": "1", "email": "ann@example.org", "email_verified": True}
    house.provider.forge = True
    sign_in(house, walk)
    walk.find("[data-testid=stMain]", "Sign in to see your team")
    assert house.provider.exchanged == 2
    (ann,) = house.arena.teams.accounts(caller=OPERATOR)
    assert ann.subject is None
    # Streamlit logs the invalid signature with a traceback, which other tests forbid.
    assert "bad_signature" in house.log.read_text()
    house.log.write_text("")
