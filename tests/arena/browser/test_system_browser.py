"""The page of a system in a browser: its parts, and how long it is."""

from __future__ import annotations

import pytest

from tests.browsing import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

TALLEST = 2_700
"""Pixels: three screens of 900."""
HEIGHT = "return document.querySelector('[data-testid=stMain]').scrollHeight"


def test_parts_and_opponents_are_links(site: str, walk: Visitor) -> None:
    """Parts and opponents are links, which the address names and Streamlit follows in place."""
    walk.size(1440)
    walk.driver.get(f"{site}/system?board=tiny&id=full")
    walk.find("h2", "Lost")
    walk.rest()
    walk.driver.execute_script("window.stays = true")
    walk.follow("Card")
    walk.find("h2", "System card")
    walk.until(lambda: "part=card" in walk.driver.current_url, "the address does not name the part")
    walk.click("//summary[starts-with(normalize-space(), 'against')]")
    walk.follow("short")
    walk.find(".aa-board caption", "full minus short")
    assert walk.driver.execute_script("return window.stays")


@pytest.mark.parametrize("part", ["questions", "card", "facts", "domains"])
def test_page_has_at_most_three_screens(site: str, walk: Visitor, part: str) -> None:
    """At 1440 × 900 no part makes the page longer than three screens."""
    walk.size(1440)
    walk.driver.get(f"{site}/system?board=tiny&id=full&part={part}")
    walk.find("h2", "Where it loses")
    walk.rest()
    assert walk.driver.execute_script(HEIGHT) <= TALLEST
