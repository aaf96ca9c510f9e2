"""The served site in a browser: what a reader clicks and finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

if TYPE_CHECKING:
    from conftest import Walk

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_reader_goes_from_rating_to_rationale(site: str, browser: webdriver.Chrome, walk: Walk) -> None:
    """Leaderboard → system → question → battle: ratings, lost questions, and why, link by link."""
    walk.size(1440)
    browser.get(site)
    table = walk.find(".aa-board tbody tr", "full")
    assert "human" in table
    ratings = [
        int(one.text)
        for one in browser.find_elements(By.CSS_SELECTOR, ".aa-board tbody td:nth-child(3) .aa-main")
    ]
    assert ratings == sorted(ratings, reverse=True)
    assert len(ratings) >= 3
    walk.follow("short")
    walk.find("h1", "short")
    walk.follow("Evidence")
    walk.find(".st-key-question-text", "What do we know of item")
    assert "question?board=tiny&id=q" in browser.current_url
    walk.follow("short – human")
    facts = walk.find("[class*='st-key-fact-Misses']", "grams")
    assert facts.strip().startswith("– Item")
    assert "battle=" in browser.current_url


def test_permalink_to_a_question_opens_its_evidence(site: str, browser: webdriver.Chrome, walk: Walk) -> None:
    """A permalink shows the question, every answer letter by letter, and runs nothing of them."""
    walk.size(1440)
    browser.get(f"{site}/question?board=tiny&id=q4")
    walk.find(".st-key-question-text", "What do we know of item 4?")
    answers = walk.find("[class*='st-key-prose-answer']", "Item 4 is epsilon")
    assert "<script>alert(1)</script>" in answers
    assert not browser.find_elements(By.CSS_SELECTOR, "img[src*='evil.invalid']")
    walk.find(".aa-battles", "wins")


def test_domain_of_the_address_is_kept_when_another_is_chosen(
    site: str, browser: webdriver.Chrome, walk: Walk
) -> None:
    """Choosing a domain changes the table and the address, which can be passed on."""
    walk.size(1440)
    browser.get(f"{site}/?board=tiny")
    walk.find(".aa-board caption", "Overall")
    walk.click("//button[normalize-space()='Two']")
    walk.find(".aa-board caption", "Two")
    assert "domain=d2" in browser.current_url
    browser.get(browser.current_url)
    walk.find(".aa-board caption", "Two")


@pytest.mark.parametrize("path", ["/?board=rag-qa-arena", "/system?board=tiny&id=full", "/data?board=tiny"])
def test_phone_needs_no_sideways_scrolling(
    site: str, browser: webdriver.Chrome, walk: Walk, path: str
) -> None:
    """At 390 px the tables fit."""
    walk.size(390)
    browser.get(f"{site}{path}")
    walk.find(".aa-board tbody tr")
    main = "document.querySelector('[data-testid=stMain]')"
    assert browser.execute_script(f"return {main}.scrollWidth - {main}.clientWidth") <= 0
    walk.size(1440)
