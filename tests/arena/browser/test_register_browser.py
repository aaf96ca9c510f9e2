"""Somebody applies for a team in a browser, an organiser approves there, and the token is shown once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from data.records import TokenScope
from tests.browsing import Visitor
from tests.mail_server import Post, running_post

pytestmark = [pytest.mark.browser, pytest.mark.slow]
FIELDS = {
    "Name of the team": "new-team",
    "Title that readers see": "New Team",
    "How the organisers can reach you": "room 5",
    "Your mail address; a link is sent there": "ann@example.org",
}


@dataclass(frozen=True, kw_only=True)
class House:
    """A served arena that takes applications by mail, with an organiser's token."""

    url: str
    token: str
    arena: Arena
    post: Post


@pytest.fixture
def house(
    make_arena: Callable[..., Arena], served: Callable[..., AbstractContextManager[str]], tmp_path: Path
) -> Iterator[House]:
    """Serve an empty arena with an organiser."""
    arena = make_arena()
    arena.teams.add_account("olga", is_organiser=True, caller=OPERATOR)
    token = arena.tokens.create(name="site", scopes=[TokenScope.ORGANISE], account="olga", caller=OPERATOR)
    variables = {
        "ARENA_REGISTRATION": "mail",
        "ARENA_PUBLIC_URL": "https://arena.example.org",
        "ARENA_MAIL_FROM": "arena@example.org",
    }
    with (
        running_post() as post,
        served(arena.settings, tmp_path / "log", ARENA_SMTP_URL=post.url, **variables) as url,
    ):
        yield House(url=url, token=token.secret, arena=arena, post=post)


def _fill(browser: webdriver.Chrome, walk: Visitor) -> None:
    for label, text in FIELDS.items():
        walk.find(f"input[aria-label='{label}']")
        browser.find_element(By.CSS_SELECTOR, f"input[aria-label='{label}']").send_keys(text)
    browser.find_element(By.CSS_SELECTOR, "textarea").send_keys("We like questions.")


def test_from_application_to_token(house: House, browser: webdriver.Chrome, walk: Visitor) -> None:
    """The form, the mailed link, the organiser's click and the link to the token, each on its page."""
    browser.get(f"{house.url}/team")
    walk.follow("Register a team")
    _fill(browser, walk)
    walk.click("//button[normalize-space()='Apply']")
    walk.find(".aa-told", "a link is on its way")
    browser.get(f"{house.url}/register?code={house.post.code()}")
    walk.click("//button[normalize-space()='Confirm the application']")
    walk.find(".aa-told", "organisers have your application")

    Visitor(browser, house.url).sign_in(house.token)
    browser.get(f"{house.url}/admin-people")
    assert "ann@example.org" in walk.find("[data-testid=stMain] table", "New Team")
    walk.click("//button[contains(., 'Approve, or send the link again')]")
    walk.find(".aa-told", "Application 1: new-team is approved.")
    walk.find("[data-testid=stMain] table", "token not fetched")

    browser.delete_all_cookies()
    browser.get(f"{house.url}/register?code={house.post.code()}")
    walk.find("[data-testid=stMain]", "The team new-team is made.")
    walk.click("//button[normalize-space()='Show the token, once']")
    token = walk.find("[data-testid=stCode]", "aa_").strip()
    assert house.arena.identities.of_token(token, client="").teams == ("new-team",)
    browser.refresh()
    walk.find("[data-testid=stMain]", "This link was used already")
