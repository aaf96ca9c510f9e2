"""The served site in a browser, walked from the board to the download."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from tests.browsing import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PERMALINKS = {
    "/?board=tiny&domain=d1&columns=Rating,Words": (".aa-standings caption", "One"),
    "/compare?board=tiny&a=human&b=short": (".aa-board caption", "human minus short"),
    "/system?board=tiny&id=short&against=human": (".aa-board caption", "short minus human"),
    "/system?board=tiny&id=full": ("h1", "full"),
    "/questions?board=tiny&words=item%2011": (".aa-note", "1 of 12"),
    "/questions?board=tiny&system=full&opponent=short": (".aa-note", "12 of 12"),
    "/question?board=tiny&id=q3": (".aa-text", "Item 3"),
    "/rounds": (".aa-board tbody", "A tiny set"),
    "/methodology": (".aa-chapter", "Bradley-Terry"),
    "/data?board=tiny": (".aa-board", "RAG-QA Arena, as published"),
}


@pytest.fixture
def downloads(browser: webdriver.Chrome, tmp_path: Path) -> Path:
    """Return the folder of the reader's downloads."""
    folder = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", folder)
    return tmp_path


def _taken(folder: Path, *patterns: str) -> list[Path]:
    """The files that patterns name, one each, as soon as all of them are whole."""
    end = time.monotonic() + 30
    while True:
        found = [path for pattern in patterns for path in folder.glob(pattern)]
        if len(found) >= len(patterns) or time.monotonic() > end:
            return found
        time.sleep(0.1)


def test_reader_goes_from_the_board_to_the_data(
    site: str, browser: webdriver.Chrome, walk: Visitor, downloads: Path
) -> None:
    """Board → domain → system against another → question → evidence → download: every step is a click."""
    walk.size(1440)
    browser.get(f"{site}/?board=tiny")
    walk.find(".aa-standings caption", "Overall")
    walk.follow("Two")
    walk.find(".aa-standings caption", "Two")
    walk.follow("full")
    walk.click("//summary[starts-with(normalize-space(), 'against')]")
    walk.follow("short")
    walk.find(".aa-board caption", "in percentage points of the win")
    walk.click("//table[contains(@class,'aa-questions')]//tbody//a")
    walk.find(".st-key-question-text", "What do we know of item")
    walk.click("//table[contains(@class,'aa-battles')]//tbody//a")
    walk.find("details", "Who judged, and how")
    walk.rest()
    walk.menu("", "Data")
    walk.click("//button[.//*[contains(normalize-space(),'Standings, CSV')]]")
    (downloaded,) = _taken(downloads, "tiny-*.csv")
    assert "content_sha256" in downloaded.read_text(encoding="utf-8").splitlines()[0]


def test_next_page_opens_at_its_top(site: str, browser: webdriver.Chrome, walk: Visitor) -> None:
    """Anyone who has read down a page and goes to another sees that one's title, not its middle."""
    place = "document.querySelector('[data-testid=stMain]')"
    walk.size(1440)
    browser.get(f"{site}/question?board=tiny&id=q1")
    walk.find("details", "Who judged, and how")
    walk.rest()
    browser.execute_script(f"{place}.scrollTo(0, 400)")
    assert browser.execute_script(f"return {place}.scrollTop") == 400
    walk.menu("", "Data")
    walk.find("h1", "Data")
    walk.find("[data-testid=stDownloadButton]", "Standings, CSV")
    walk.rest()
    assert browser.execute_script(f"return {place}.scrollTop") == 0


@pytest.fixture
def slow_page() -> Iterator[str]:
    """The address of a page that takes two seconds."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    script = str(Path(__file__).parents[2] / "slow_page.py")
    options = ("--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}")
    process = subprocess.Popen([sys.executable, "-m", "streamlit", "run", script, *options])
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(timeout=60)


def test_bars_stand_in_for_a_page_that_is_opened(slow_page: str, browser: webdriver.Chrome) -> None:
    """While a page is opened grey bars say that more comes; they go with it and stay away."""
    reader = Visitor(browser)
    reader.until(lambda: _answers(slow_page), "the page is not served")
    browser.get(slow_page)
    bars = partial(browser.find_elements, By.CSS_SELECTOR, ".aa-bones")
    reader.until(lambda: bool(bars()), "no bars")
    assert "Whole" not in reader.text
    reader.see("Whole")
    reader.rest()
    assert not bars()
    reader.button("Again")
    reader.until(lambda: not reader.rests(), "the page does not run again")
    seen = 0
    while not reader.rests():
        seen += len(bars())
    assert not seen


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/_stcore/health", timeout=2).is_success
    except httpx.TransportError:
        return False


@pytest.mark.parametrize("path", list(PERMALINKS))
def test_permalink_opens_what_it_names(
    site: str, browser: webdriver.Chrome, walk: Visitor, path: str
) -> None:
    """An address alone brings a reader to the same view."""
    selector, text = PERMALINKS[path]
    browser.get(f"{site}{path}")
    walk.find(selector, text)


@pytest.mark.parametrize("path", ["/matrix?board=tiny", "/compare?board=tiny"])
def test_further_pages_fit_a_phone(site: str, browser: webdriver.Chrome, walk: Visitor, path: str) -> None:
    """At 390 px no page scrolls sideways; a wide table may, within itself."""
    walk.size(390)
    browser.get(f"{site}{path}")
    walk.find(".aa-board tbody tr")
    place = "(document.querySelector('[data-testid=stMain]') || document.documentElement)"
    assert browser.execute_script(f"return {place}.scrollWidth - {place}.clientWidth") <= 0
    walk.size(1440)
