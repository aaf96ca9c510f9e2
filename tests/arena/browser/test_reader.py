from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urldefrag

import pytest
from selenium.webdriver.common.by import By

from tests.arena.browser.conftest import Stage
from tests.served import browser, reader, site

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = (
    "Why do bond prices fall when interest rates go up, and is the loss real if I simply wait until the bond "
    "matures?"
)
IN_TWO_CLICKS = {
    "who leads, and is it sure": ((), r"meridian is first by[^·]*No other system is statistically tied"),
    "is B better than C": (("More about slipshod",), r"partisan\n\d+ won, \d+ tied, \d+ lost"),
    "where does C lose": (("pithy",), r"Biomedical\s+96\s%\s+72 to 100\s%"),
    "may I trust the judge": (("Trust and method",), r"Does it agree with people\?\s+Not checked"),
    "what changed": ((), r"What changed since spring\nRank changed beyond chance: meridian from 3–4 to 1"),
    "what does a question depend on": (("Questions", QUESTION), r"gave the best answer: it won \d of its \d"),
    "download": (("Download",), r"CSV\s+JSON\s+Parquet"),
    "how do I enter": (("Submit",), r"Sign in to check and submit a file"),
}
# Clickable elements with this text, without icons and hidden text.
CHOICE = """
const [words] = arguments;
const said = (node) => {
  const copy = node.cloneNode(true);
  copy.querySelectorAll("[data-testid=stIconMaterial], .aa-tip, style").forEach((part) => part.remove());
  return copy.textContent.replace(/\\s+/g, " ").trim();
};
const chosen = "a, button, summary, label, [role=tab], [role=radio], [role=menuitem]";
const offers = (node) => node.checkVisibility() && !node.disabled && said(node) === words;
return [...document.querySelectorAll(chosen)].find(offers) || null;
"""


class Stranger:
    """A user without URLs, who reads pages and clicks the words on them."""

    def __init__(self, stage: Stage) -> None:
        self._stage, self._visitor = stage, stage.visitor
        self._visitor.go("/healthz")
        self._visitor.driver.delete_all_cookies()
        stage.look("light")
        self._visitor.go("/")
        stage.settle()

    def choose(self, words: str) -> None:
        """Click the first element of the page with this text."""
        before = self._address()
        is_link = False

        def click() -> bool:
            nonlocal is_link
            node = self._visitor.driver.execute_script(CHOICE, words)
            if node is not None:
                is_link = node.tag_name == "a"
                self._visitor.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", node)
                node.click()
            return node is not None

        self._visitor.until(click, f"nothing to choose says {words!r}")
        if is_link:
            self._visitor.until(lambda: self._address() != before, f"{words!r} leads nowhere")
        self._stage.settle()

    def reads(self, pattern: str) -> None:
        self._visitor.until(
            lambda: re.search(pattern, self._visitor.text) is not None,
            f"{pattern!r} did not appear",
            seconds=30,
        )

    def _address(self) -> str:
        return str(urldefrag(self._visitor.driver.current_url).url)


@pytest.mark.xdist_group("form")
@pytest.mark.parametrize("wish", IN_TWO_CLICKS)
def test_answer_is_two_clicks_away(stage: Stage, wish: str) -> None:
    clicks, answer = IN_TWO_CLICKS[wish]
    stranger = Stranger(stage)
    for words in clicks:
        stranger.choose(words)
    stranger.reads(answer)


@pytest.mark.xdist_group("form")
def test_lost_question_links_to_reasons_of_battle(stage: Stage) -> None:
    stranger = Stranger(stage)
    for words in ("pithy", QUESTION, "pithy – reference"):
        stranger.choose(words)
    for pattern in (
        r"reference beats pithy\.",
        r"The judge compared both answers with the passages\. Decided by facts covered: pithy covers \d",
        r"Only reference covers \d+",
    ):
        stranger.reads(pattern)


def test_reader_goes_from_board_to_data(tmp_path: Path) -> None:
    walk = reader()
    place = {"behavior": "allow", "downloadPath": str(tmp_path)}
    walk.driver.execute_cdp_cmd("Browser.setDownloadBehavior", place)
    walk.size(1440)
    browser().get(f"{site()}/?board=tiny")
    walk.find(".aa-standings caption", "Overall")
    walk.follow("Two")
    walk.find(".aa-standings caption", "Two")
    walk.follow("full")
    walk.click("//summary[starts-with(normalize-space(), 'against')]")
    walk.follow("short")
    walk.find(".aa-board caption", "in percentage points of win share")
    walk.click("//table[contains(@class,'aa-questions')]//tbody//a")
    walk.find(".st-key-question-text", "What do we know of item")
    walk.click("//table[contains(@class,'aa-battles')]//tbody//a")
    walk.find("details", "Judge and settings")
    walk.rest()
    walk.menu("", "Data")
    walk.click("//button[.//*[contains(normalize-space(),'Standings, CSV')]]")
    walk.until(lambda: bool(list(tmp_path.glob("tiny-*.csv"))), "no file came")
    (downloaded,) = tmp_path.glob("tiny-*.csv")
    assert "content_sha256" in downloaded.read_text(encoding="utf-8").splitlines()[0]


def test_next_page_opens_at_its_top() -> None:
    walk = reader()
    place = "document.querySelector('[data-testid=stMain]')"
    walk.size(1440)
    browser().get(f"{site()}/question?board=tiny&id=q1")
    walk.find("details", "Judge and settings")
    walk.rest()
    browser().execute_script(f"{place}.scrollTo(0, 400)")
    assert browser().execute_script(f"return {place}.scrollTop") == 400
    walk.menu("", "Data")
    walk.find("h1", "Data")
    walk.find("[data-testid=stDownloadButton]", "Standings, CSV")
    walk.rest()
    assert browser().execute_script(f"return {place}.scrollTop") == 0


@pytest.mark.slow
def test_permalink_runs_no_script_from_answers() -> None:
    walk = reader()
    walk.size(1440)
    browser().get(f"{site()}/question?board=tiny&id=q4&answer=hostile")
    walk.find(".aa-answers article", "Item 4 is epsilon")
    walk.find(".aa-answers article", "<script>alert(1)</script>")
    assert not browser().find_elements(By.CSS_SELECTOR, "img[src*='evil.invalid']")


SYSTEMS = """
return [...document.querySelectorAll(".aa-standings tbody th a")].map(link => link.textContent);
"""
WORDS = """
return [...document.querySelectorAll(".aa-standings tbody tr:first-child")].map(row => Number(
  row.cells[document.querySelector("th[aria-sort]").cellIndex].dataset.value));
"""


def test_heading_sorts_rows_and_updates_address() -> None:
    walk = reader()
    walk.size(1440)
    browser().get(f"{site()}/?board=tiny&columns=Rating,Words")
    walk.find(".aa-standings caption", "Overall")
    walk.rest()
    usual = browser().execute_script(SYSTEMS)
    browser().execute_script("window.sameVisit = true")
    walk.click("//a[contains(@class, 'aa-sort')][starts-with(normalize-space(), 'Words')]")
    walk.find("th[aria-sort=descending]", "Words")
    words = browser().execute_script(WORDS)
    assert words == sorted(words, reverse=True)
    assert browser().execute_script("return window.sameVisit")
    assert "sort=words" in browser().current_url
    walk.click("//a[contains(@class, 'aa-sort')][starts-with(normalize-space(), 'Words')]")
    walk.find("th[aria-sort=ascending]", "Words")
    turned = browser().execute_script(SYSTEMS)
    assert browser().execute_script(WORDS) == words[::-1]
    browser().get(browser().current_url)
    walk.find("th[aria-sort=ascending]", "Words")
    assert browser().execute_script(SYSTEMS) == turned
    walk.click("//a[contains(@class, 'aa-sort')][starts-with(normalize-space(), '#')]")
    walk.find(".aa-standings caption", "Overall")
    walk.until(lambda: browser().execute_script(SYSTEMS) == usual, "the usual order did not come back")


TALLEST = 2_700
"""Pixels: three screens of 900."""
HEIGHT = "return document.querySelector('[data-testid=stMain]').scrollHeight"


def test_system_page_has_at_most_three_screens() -> None:
    walk = reader()
    walk.size(1440)
    for part in ("questions", "card", "facts", "domains"):
        walk.go(f"{site()}/system?board=tiny&id=full&part={part}")
        walk.find("h2", "Where it loses")
        walk.rest()
        assert walk.driver.execute_script(HEIGHT) <= TALLEST, part
