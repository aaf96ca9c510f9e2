"""A votes file that an organiser publishes, in a browser."""

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
from data.models import TokenScope
from tests.arena.services.boards.test_corrected_boards import judge, publish, write_votes
from tests.browsing import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclass(frozen=True, kw_only=True)
class Place:
    """A served arena with a published round, an organiser's token and a browser."""

    site: str
    token: str
    former: str
    driver: webdriver.Chrome
    walk: Visitor


@pytest.fixture
def place(
    filled: Callable[..., Arena],
    served: Callable[..., AbstractContextManager[str]],
    open_browser: Callable[[], webdriver.Chrome],
    tmp_path: Path,
) -> Iterator[Place]:
    """Serve a judged and published round named `tiny`."""
    arena = judge(filled())
    before, _ = publish(arena)
    arena.teams.add_account("olga", is_organiser=True, caller=OPERATOR)
    token = arena.tokens.create(name="web", account="olga", scopes={TokenScope.ORGANISE}, caller=OPERATOR)
    arena.close()
    with served(arena.settings, tmp_path / "log") as site:
        driver = open_browser()
        try:
            yield Place(
                site=site,
                token=token.secret,
                former=before.content_hash,
                driver=driver,
                walk=Visitor(driver, site),
            )
        finally:
            driver.quit()


def test_an_organiser_publishes_the_corrected_board_and_a_reader_reads_it(
    place: Place, tmp_path: Path
) -> None:
    """From a votes file on the organisers' page to the column of the board, and the former by its hash."""
    votes = write_votes(tmp_path / "votes.jsonl")
    place.walk.sign_in(place.token)
    place.walk.go("/admin-rounds?round=tiny")
    place.walk.find("body", "Not checked by people")
    place.walk.find("[data-testid=stFileUploader]", "Votes")
    place.driver.find_element(By.CSS_SELECTOR, "input[type=file]").send_keys(str(votes))
    place.walk.find("[data-testid=stFileUploader]", "votes.jsonl")
    place.walk.rest()
    place.walk.click("//button[contains(., 'Publish the correction') and not(@disabled)]")
    place.walk.find("body", "The corrected board is published")

    place.walk.go("/?board=tiny")
    assert "corrected by 108 votes of 3 people" in place.walk.find(".aa-strip", "corrected by")
    place.walk.find(".aa-standings", "People would say")

    place.walk.go(f"/s/{place.former}")
    place.walk.find(".aa-strip", "not checked by people")
    assert f"tiny%40{place.former[:12]}" in place.driver.current_url
