"""The served site in a browser: what a reader clicks and finds."""

from __future__ import annotations

import itertools

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.browsing import Visitor

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_reader_goes_from_rating_to_rationale(site: str, browser: webdriver.Chrome, walk: Visitor) -> None:
    """Board → system → question → battle: ratings, lost questions, and why, link by link."""
    walk.size(1440)
    browser.get(site)
    assert "human" not in walk.find(".aa-board .aa-entrant", "full")
    assert walk.find(".aa-board .aa-line td.aa-c-rank") == "–"
    walk.find(".aa-note", "Dashed line: the reference (human)")
    ratings = [
        int(one.text)
        for one in browser.find_elements(By.CSS_SELECTOR, ".aa-board .aa-entrant td.aa-c-rating .aa-main")
    ]
    assert ratings == sorted(ratings, reverse=True)
    assert len(ratings) >= 3
    walk.follow("short")
    walk.find("h1", "short")
    walk.click("//*[@data-testid='stHtml']//ul[@class='aa-records']//a")
    walk.find(".st-key-question-text", "What do we know of item")
    assert "question?board=tiny&id=q" in browser.current_url
    walk.follow("short – human")
    facts = walk.find(".aa-factlist", "grams")
    assert facts.strip().startswith("✓ Item")
    assert "battle=" in browser.current_url


@pytest.mark.long
def test_permalink_to_a_question_opens_its_evidence(
    site: str, browser: webdriver.Chrome, walk: Visitor
) -> None:
    """A permalink shows the question, every answer letter by letter, and runs nothing of them."""
    walk.size(1440)
    browser.get(f"{site}/question?board=tiny&id=q4&answer=hostile")
    walk.find(".st-key-question-text", "What do we know of item 4?")
    walk.find(".aa-answers article", "Item 4 is epsilon")
    walk.find(".aa-answers article", "<script>alert(1)</script>")
    assert not browser.find_elements(By.CSS_SELECTOR, "img[src*='evil.invalid']")
    walk.find(".aa-battles", "wins")


@pytest.mark.long
def test_domain_of_the_address_is_kept_when_another_is_chosen(
    site: str, browser: webdriver.Chrome, walk: Visitor
) -> None:
    """Choosing a domain changes the table and the address, which can be passed on."""
    walk.size(1440)
    browser.get(f"{site}/?board=tiny")
    walk.find(".aa-board caption", "Overall")
    walk.follow("Two")
    walk.find(".aa-board caption", "Two")
    assert "domain=d2" in browser.current_url
    browser.get(browser.current_url)
    walk.find(".aa-board caption", "Two")


@pytest.mark.long
@pytest.mark.parametrize(
    "path", ["/?board=rag-qa-arena", "/system?board=tiny&id=full", "/data?board=tiny", "/trust?board=tiny"]
)
def test_phone_needs_no_sideways_scrolling(
    site: str, browser: webdriver.Chrome, walk: Visitor, path: str
) -> None:
    """At 390 px the tables fit."""
    walk.size(390)
    browser.get(f"{site}{path}")
    walk.find(".aa-board tbody tr")
    main = "document.querySelector('[data-testid=stMain]')"
    assert browser.execute_script(f"return {main}.scrollWidth - {main}.clientWidth") <= 0
    walk.size(1440)


PAGES = {
    "/?board=tiny": "Board – A tiny set (tiny) – Answer Arena",
    "/?board=rag-qa-arena": "Board – RAG-QA Arena, as published (rag-qa-arena) – Answer Arena",
    "/compare?board=tiny": "full and short – Compare – A tiny set (tiny) – Answer Arena",
    "/matrix?board=tiny": "Head to head – A tiny set (tiny) – Answer Arena",
    "/questions?board=tiny": "Questions – A tiny set (tiny) – Answer Arena",
    "/rounds": "Rounds – Answer Arena",
    "/about": "About – Answer Arena",
    "/methodology": "Method in full – Answer Arena",
    "/data?board=tiny": "Data – A tiny set (tiny) – Answer Arena",
    "/submit": "Submit – A tiny set – Answer Arena",
    "/team": "My team – Answer Arena",
    "/system?board=tiny&id=full": "full – System – A tiny set (tiny) – Answer Arena",
    "/question?board=tiny&id=q4": "q4: What do we know of item 4? – A tiny set (tiny) – Answer Arena",
    "/question": "Question – Answer Arena",
    "/trust?board=tiny": "Trust and method – A tiny set (tiny) – Answer Arena",
}
LEVELS = "return [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(one => Number(one.tagName[1]))"
MISSING = """
const found = performance.getEntriesByType("resource").filter(one => one.responseStatus >= 400);
return found.map(one => `${one.responseStatus} ${one.name}`);
"""
CONTRAST = """
const number = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
const light = text => {
  const linear = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const [r, g, b] = number(text).map(v => linear(v / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const chip = document.querySelector("[data-testid=stMultiSelectTagsContainer] [data-tag]");
return [chip, ...chip.querySelectorAll("span, button")].map(one => {
  const [a, b] = [light(getComputedStyle(one).color), light(getComputedStyle(chip).backgroundColor)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
});
"""


@pytest.mark.long
@pytest.mark.parametrize("path", PAGES)
def test_page_is_named_ordered_and_whole(
    site: str, browser: webdriver.Chrome, walk: Visitor, path: str
) -> None:
    """E7: each page has a title of its own, one H1 and no jump after it, and asks for nothing in vain."""
    walk.size(1440)
    browser.get(f"{site}{path}")
    walk.find("h1")
    walk.rest()
    assert browser.title == PAGES[path]
    levels = browser.execute_script(LEVELS)
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))
    assert browser.execute_script(MISSING) == []


@pytest.mark.long
def test_title_follows_the_reader(site: str, browser: webdriver.Chrome, walk: Visitor) -> None:
    """E7: going from page to page without loading anew changes the title, and so does another subject."""
    walk.size(1440)
    browser.get(f"{site}/system?board=tiny&id=full")
    walk.find("h1", "full")
    walk.rest()
    walk.menu("More", "Rounds")
    walk.find(".aa-board tbody", "A tiny set")
    walk.rest()
    assert browser.title == "Rounds – Answer Arena"


@pytest.mark.long
def test_chips_can_be_read_in_the_dark(site: str, browser: webdriver.Chrome, walk: Visitor) -> None:
    """E7: text and cross of a chosen system have a contrast of 4.5 or more, in light and in dark."""
    walk.size(1440)
    media = "Emulation.setEmulatedMedia"
    try:
        for scheme in ("dark", "light"):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            browser.execute_cdp_cmd(media, {"features": [feature]})
            browser.get(f"{site}/compare?board=tiny&a=full&b=short")
            walk.find("[data-testid=stMultiSelectTagsContainer] [data-tag]")
            walk.rest()
            contrasts = browser.execute_script(CONTRAST)
            assert len(contrasts) >= 3
            assert min(contrasts) >= 4.5
    finally:
        browser.execute_cdp_cmd(media, {"features": []})


@pytest.mark.long
def test_meanings_are_seen_by_whoever_moves_the_focus_there(
    site: str, browser: webdriver.Chrome, walk: Visitor
) -> None:
    """E7: the tab key reaches each column's meaning, which appears, and the focus is a line of 3 px."""
    walk.size(1440)
    browser.get(f"{site}/?board=tiny")
    walk.find(".aa-standings thead", "Rating")
    walk.rest()
    tips = browser.find_elements(By.CSS_SELECTOR, ".aa-standings thead .aa-tip")
    assert not any(tip.is_displayed() for tip in tips)
    browser.execute_script("document.querySelector('.aa-standings thead .aa-term').focus()")
    browser.switch_to.active_element.send_keys(Keys.TAB)
    focused = browser.switch_to.active_element
    assert "A system that answered the questions" in focused.text
    assert focused.find_element(By.CSS_SELECTOR, ".aa-tip").is_displayed()
    assert focused.value_of_css_property("outline-style") == "solid"
    assert focused.value_of_css_property("outline-width") == "3px"
