"""The leaderboard in a browser: order, ratings and domains by clicking."""

from __future__ import annotations

import pytest
from selenium import webdriver

from tests.browsing import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SYSTEMS = """
return [...document.querySelectorAll(".aa-standings tbody th a")].map(one => one.textContent);
"""
WORDS = """
return [...document.querySelectorAll(".aa-standings tbody tr")].map(row => Number(
  row.cells[document.querySelector("th[aria-sort]").cellIndex].dataset.value));
"""


def test_a_heading_sorts_the_rows_at_once_and_the_address_keeps_it(
    site: str, browser: webdriver.Chrome, walk: Visitor
) -> None:
    """A click sorts without another visit, a second one turns the order, and both can be passed on."""
    walk.size(1440)
    browser.get(f"{site}/?board=tiny")
    walk.find(".aa-standings caption", "Overall")
    walk.rest()
    usual = browser.execute_script(SYSTEMS)
    browser.execute_script("window.sameVisit = true")
    walk.click("//a[contains(@class, 'aa-sort')][starts-with(normalize-space(), 'Words')]")
    walk.find("th[aria-sort=descending]", "Words")
    words = browser.execute_script(WORDS)
    assert words == sorted(words, reverse=True)
    assert browser.execute_script("return window.sameVisit")
    assert "sort=words" in browser.current_url
    walk.click("//a[contains(@class, 'aa-sort')][starts-with(normalize-space(), 'Words')]")
    walk.find("th[aria-sort=ascending]", "Words")
    turned = browser.execute_script(SYSTEMS)
    assert browser.execute_script(WORDS) == words[::-1]
    browser.get(browser.current_url)
    walk.find("th[aria-sort=ascending]", "Words")
    assert browser.execute_script(SYSTEMS) == turned
    walk.click("//a[contains(@class, 'aa-sort')][starts-with(normalize-space(), 'Rank')]")
    walk.find(".aa-standings caption", "Overall")
    walk.until(lambda: browser.execute_script(SYSTEMS) == usual, "the usual order did not come back")


def test_a_reader_sees_whether_the_best_for_a_domain_is_certain(
    site: str, browser: webdriver.Chrome, walk: Visitor
) -> None:
    """From the start page a domain's small chart says who leads it, and its name opens the whole domain."""
    walk.size(1440)
    browser.get(site)
    said = walk.find(".aa-panel", "leads")
    assert "separated from" in said
    walk.follow("Two")
    walk.find(".aa-lead", "leads in Two")
    assert "domain=d2" in browser.current_url
    walk.find(".aa-panel.aa-current", "Two")


def test_one_switch_holds_from_board_to_matrix_and_back(
    site: str, browser: webdriver.Chrome, walk: Visitor
) -> None:
    """Ratings controlled for length are chosen once, and head to head and the way back keep them."""
    walk.size(1440)
    browser.get(f"{site}/?board=tiny")
    walk.find(".aa-standings caption", "Overall")
    walk.click("//button[.//*[normalize-space()='Controlled for length']]")
    walk.find(".aa-lead", "Controlled for length, short leads")
    assert "ratings=length" in browser.current_url
    walk.follow("Head to head")
    walk.find(".aa-lead", "by the ratings shown")
    walk.find(".aa-matrix caption", "4 systems")
    walk.follow("To the leaderboard on the same ratings")
    walk.find(".aa-lead", "Controlled for length, short leads")
