"""The page of a system in a browser: its tabs, and how long it is."""

from __future__ import annotations

import pytest

from tests.browsing import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

TALLEST = 2_700
"""Pixels: three screens of 900."""
HEIGHT = "return document.querySelector('[data-testid=stMain]').scrollHeight"


def test_an_opened_tab_is_made_and_named_in_the_address(site: str, walk: Visitor) -> None:
    """A tab is made when it is opened, the address names it, and the address opens it again."""
    walk.size(1440)
    walk.driver.get(f"{site}/system?board=tiny&id=full")
    walk.find("h2", "What to fix first")
    walk.find("h2", "Lost")
    walk.rest()
    walk.click("//*[@role='tab'][normalize-space()='Card']")
    walk.find("h2", "System card")
    walk.until(lambda: "part=card" in walk.driver.current_url, "the address does not name the tab")
    walk.driver.get(walk.driver.current_url)
    walk.find("h2", "System card")


@pytest.mark.parametrize("part", ["questions", "versions", "facts", "claims", "retrieval", "domains"])
def test_page_has_at_most_three_screens(site: str, walk: Visitor, part: str) -> None:
    """At 1440 × 900 no tab makes the page longer than three screens."""
    walk.size(1440)
    walk.driver.get(f"{site}/system?board=tiny&id=full&part={part}")
    walk.find("h2", "What to fix first")
    walk.rest()
    assert walk.driver.execute_script(HEIGHT) <= TALLEST
