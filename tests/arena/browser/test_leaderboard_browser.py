"""The leaderboard in a browser: order, ratings and domains by clicking."""

from __future__ import annotations

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from tests.browsing import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SYSTEMS = """
return [...document.querySelectorAll(".aa-standings tbody th a")].map(one => one.textContent);
"""
WORDS = """
return [...document.querySelectorAll(".aa-standings tbody tr:first-child")].map(row => Number(
  row.cells[document.querySelector("th[aria-sort]").cellIndex].dataset.value));
"""


BARS = """
return [...document.querySelectorAll("#root .aa-spark")].map(spark => {
  const style = getComputedStyle(spark);
  return [new Set(style.backgroundPosition.split(", ")).size, style.backgroundRepeat.split(", ")[0]];
});
"""


def test_bars_of_domains_stand_beside_each_other(site: str, browser: webdriver.Chrome, walk: Visitor) -> None:
    """Each system has a bar for each domain in a place of its own, none repeated over the cell."""
    walk.size(1440)
    browser.get(f"{site}/?board=tiny&columns=Domains")
    walk.find("#root .aa-footer")
    domains = len(browser.find_elements(By.CSS_SELECTOR, "#root .aa-tabs a")) - 1
    drawn = browser.execute_script(BARS)
    assert domains > 1
    assert drawn
    assert {(places, repeat) for places, repeat in drawn} == {(domains, "no-repeat")}


def test_a_heading_sorts_the_rows_at_once_and_the_address_keeps_it(
    site: str, browser: webdriver.Chrome, walk: Visitor
) -> None:
    """A click sorts without another visit, a second one turns the order, and both can be passed on."""
    walk.size(1440)
    browser.get(f"{site}/?board=tiny&columns=Rating,Words")
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
    walk.click("//a[contains(@class, 'aa-sort')][starts-with(normalize-space(), '#')]")
    walk.find(".aa-standings caption", "Overall")
    walk.until(lambda: browser.execute_script(SYSTEMS) == usual, "the usual order did not come back")


def test_a_reader_sees_whether_the_best_for_a_domain_is_certain(
    site: str, browser: webdriver.Chrome, walk: Visitor
) -> None:
    """A domain's tab shows who leads there and how surely, without another visit."""
    walk.size(1440)
    browser.get(site)
    walk.find("#root .aa-footer")
    walk.follow("Two")
    said = walk.find(".aa-lead", "leads in Two")
    assert "surely" in said
    assert "domain=d2" in browser.current_url
