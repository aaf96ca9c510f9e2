"""The served site in a browser: what a reader clicks and finds."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from arena.settings import Settings

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
)
# Streamlit may draw an element anew between finding and using it.
REDRAWN = (StaleElementReferenceException,)
PATIENCE = 60

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(
        CHROMIUM is None or DRIVER is None,
        reason="SKIPPED, THE SITE IS NOT TESTED IN A BROWSER: install chromium and chromium-driver",
    ),
]


@pytest.fixture(scope="module")
def site(published: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the published boards, served by the command."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "ARENA_HOME": str(published.home)}  # noqa: TID251 - of the command
    environment.pop("ARENA_DATABASE_URL", None)
    log = tmp_path_factory.mktemp("site") / "log"
    with log.open("wb") as output:
        command = [sys.executable, "-m", "arena", "serve", "--port", str(port)]
        process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=output, stderr=output)
        try:
            _wait(f"http://127.0.0.1:{port}/healthz", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=20)
    assert "Traceback" not in log.read_text()


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - our own address
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"{url} does not answer: {log.read_text()}")


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    """A browser without a window."""
    options = webdriver.ChromeOptions()
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.binary_location = str(CHROMIUM)
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


def _size(browser: webdriver.Chrome, width: int) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def _find(browser: webdriver.Chrome, selector: str, text: str = "") -> str:
    """Wait until an element's text holds `text`, and return what the matching elements say."""

    def look(found: webdriver.Chrome) -> str:
        said = [one.text for one in found.find_elements(By.CSS_SELECTOR, selector)]
        return "\n".join(said) if said and any(text in one for one in said) else ""

    message = f"{selector} with {text!r} did not appear on {browser.current_url}"
    return str(WebDriverWait(browser, PATIENCE, ignored_exceptions=REDRAWN).until(look, message))


def _click(browser: webdriver.Chrome, path: str) -> None:
    """Click the first element of an XPath as soon as it is there."""

    def click(found: webdriver.Chrome) -> bool:
        elements = found.find_elements(By.XPATH, path)
        if elements:
            elements[0].click()
        return bool(elements)

    message = f"{path} did not appear on {browser.current_url}"
    WebDriverWait(browser, PATIENCE, ignored_exceptions=REDRAWN).until(click, message)


def _follow(browser: webdriver.Chrome, text: str) -> None:
    """Follow the first link in our own HTML with this text."""
    _click(browser, f"//*[@data-testid='stHtml']//a[normalize-space()='{text}']")


def test_reader_goes_from_rating_to_rationale(site: str, browser: webdriver.Chrome) -> None:
    """Leaderboard → system → question → battle: ratings, lost questions, and why, link by link."""
    _size(browser, 1440)
    browser.get(site)
    table = _find(browser, ".aa-board tbody tr", "full")
    assert "human" in table
    ratings = [
        int(one.text)
        for one in browser.find_elements(By.CSS_SELECTOR, ".aa-board tbody td:nth-child(3) .aa-main")
    ]
    assert ratings == sorted(ratings, reverse=True)
    assert len(ratings) >= 3
    _follow(browser, "short")
    _find(browser, "h1", "short")
    _follow(browser, "Evidence")
    _find(browser, ".st-key-question-text", "What do we know of item")
    assert "question?board=tiny&id=q" in browser.current_url
    _follow(browser, "short – human")
    facts = _find(browser, "[class*='st-key-fact-Misses']", "grams")
    assert facts.strip().startswith("– Item")
    assert "battle=" in browser.current_url


def test_permalink_to_a_question_opens_its_evidence(site: str, browser: webdriver.Chrome) -> None:
    """A permalink shows the question, every answer letter by letter, and runs nothing of them."""
    _size(browser, 1440)
    browser.get(f"{site}/question?board=tiny&id=q4")
    _find(browser, ".st-key-question-text", "What do we know of item 4?")
    answers = _find(browser, "[class*='st-key-prose-answer']", "Item 4 is epsilon")
    assert "<script>alert(1)</script>" in answers
    assert not browser.find_elements(By.CSS_SELECTOR, "img[src*='evil.invalid']")
    _find(browser, ".aa-battles", "wins")


def test_domain_of_the_address_is_kept_when_another_is_chosen(site: str, browser: webdriver.Chrome) -> None:
    """Choosing a domain changes the table and the address, which can be passed on."""
    _size(browser, 1440)
    browser.get(f"{site}/?board=tiny")
    _find(browser, ".aa-board caption", "Overall")
    _click(browser, "//button[normalize-space()='Two']")
    _find(browser, ".aa-board caption", "Two")
    assert "domain=d2" in browser.current_url
    browser.get(browser.current_url)
    _find(browser, ".aa-board caption", "Two")


@pytest.mark.parametrize("path", ["/?board=rag-qa-arena", "/system?board=tiny&id=full", "/data?board=tiny"])
def test_phone_needs_no_sideways_scrolling(site: str, browser: webdriver.Chrome, path: str) -> None:
    """At 390 px the tables fit."""
    _size(browser, 390)
    browser.get(f"{site}{path}")
    _find(browser, ".aa-board tbody tr")
    main = "document.querySelector('[data-testid=stMain]')"
    assert browser.execute_script(f"return {main}.scrollWidth - {main}.clientWidth") <= 0
    _size(browser, 1440)
