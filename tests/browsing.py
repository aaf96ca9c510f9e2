"""Browser user that finds, clicks and types, waiting for each element.

Streamlit redraws elements whenever a page runs, so an element may disappear between search and use.
The user then searches again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.common.exceptions import TimeoutException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--window-size=1440,1400",
)
PATIENCE = 60.0
"""Maximum seconds of waiting for an element."""
BODY = "return document.body ? document.body.innerText : ''"
RESTING = "[data-testid=stApp][data-test-script-state=notRunning]:has(.aa-footer)"
"""Selector of a drawn page; Streamlit reports the end of its script before drawing."""


def open_browser() -> webdriver.Chrome:
    """Open a headless browser; the caller must quit it."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("SKIPPED, THE SITE IS NOT TESTED IN A BROWSER: install chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.binary_location = CHROMIUM
    return webdriver.Chrome(options=options, service=Service(DRIVER))


class Visitor:
    """A user of a browser, optionally at a site."""

    def __init__(self, driver: webdriver.Chrome, site: str = "") -> None:
        self.driver, self.site = driver, site

    @property
    def text(self) -> str:
        """Visible text of the page."""
        return str(self.driver.execute_script(BODY))

    def size(self, width: int) -> None:
        """Set the size of the window."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def go(self, path: str) -> None:
        """Open an address of the site."""
        self.driver.get(f"{self.site}{path}")

    def sign_in(self, token: str) -> None:
        """Sign in with a token, and wait for the next page."""
        self.go("/auth/sign-in")
        self.driver.find_element(By.NAME, "token").send_keys(token, Keys.ENTER)
        self.until(lambda: "/auth/" not in self.driver.current_url, "signing in did not end")
        self.rest()

    def see(self, text: str, *, seconds: float = PATIENCE) -> None:
        """Wait until the page shows a text."""
        self.until(lambda: text in self.text, f"{text!r} did not appear", seconds=seconds)

    def gone(self, text: str) -> None:
        """Wait until a text disappears."""
        self.until(lambda: text not in self.text, f"{text!r} did not go away")

    def find(self, selector: str, text: str = "") -> str:
        """Wait until an element's text contains `text`, and return the texts of all selected elements."""
        page = ""

        def look() -> bool:
            nonlocal page
            texts = [element.text for element in self.driver.find_elements(By.CSS_SELECTOR, selector)]
            page = "\n".join(texts)
            return any(text in row for row in texts)

        self.until(look, f"{selector} with {text!r} did not appear")
        return page

    def rest(self) -> None:
        """Wait until the page is complete."""
        self.find(RESTING)

    def rests(self) -> bool:
        """Return whether the page is complete."""
        return bool(self.driver.find_elements(By.CSS_SELECTOR, RESTING))

    def click(self, path: str) -> None:
        """Click the first visible and enabled element of an XPath."""

        def click() -> bool:
            element = self._shown(path)
            if element is not None:
                element.click()
            return element is not None

        self.until(click, f"{path} did not appear, or lay under something else")

    def follow(self, text: str) -> None:
        """Follow the first link in our own HTML with this text."""
        self.click(f"//*[contains(@class, 'stHtml')]//a[normalize-space()='{text}']")

    def menu(self, name: str, page: str) -> None:
        """Go to a page by a menu of the navigation; top-level pages have an empty menu."""
        if name:
            self.click(f"//*[@data-testid='stTopNavSection'][contains(., '{name}')]")
        self.click(f"//a[.//*[normalize-space()='{page}'] or normalize-space()='{page}']")

    def button(self, label: str) -> None:
        """Click an enabled button."""
        self.click(
            f"//button[not(@disabled)][.//*[normalize-space()='{label}'] or normalize-space()='{label}']"
        )

    def tick(self, label: str) -> None:
        """Toggle a checkbox or switch."""
        self.click(f"//*[@data-testid='stCheckbox']//label[contains(., \"{label}\")]")

    def write(self, label: str, text: str, *, tag: str = "input", end: str = Keys.TAB) -> None:
        """Fill in a field and leave it."""
        path = f"//{tag}[@aria-label={json.dumps(label)}]"
        self.click(path)
        self.type(path, text + end)

    def type(self, path: str, keys: str) -> None:
        """Send keys to the first element of an XPath."""
        self._use(path, lambda element: element.send_keys(keys))

    def choose(self, label: str, option: str) -> None:
        """Choose an option of a list."""
        self.click(f"//*[@data-testid='stSelectbox'][.//label[normalize-space()='{label}']]//input")
        self.click(f"//*[@role='option'][contains(., '{option}')]")

    def upload(self, file: Path) -> None:
        """Upload a file, again if the page redraws the field and loses the file."""
        # Streamlit cuts long file names in the list of uploads.
        chip = f"[data-testid=stFileChip][aria-label^={json.dumps(f'{file.name},')}]"
        for seconds in (PATIENCE / 2, PATIENCE):
            self._use("//input[@type='file']", lambda element: element.send_keys(str(file)))
            with suppress(TimeoutException):
                WebDriverWait(self.driver, seconds, 0.1).until(
                    lambda driver: driver.find_elements(By.CSS_SELECTOR, chip)
                )
                return
        raise AssertionError(f"{file.name!r} did not appear on {self.driver.current_url}:\n{self.text}")

    def press(self, key: str) -> None:
        """Press a key at the current focus."""
        ActionChains(self.driver).send_keys(key).perform()

    def until(self, look: Callable[[], bool], message: str, *, seconds: float = PATIENCE) -> None:
        """Wait until a condition holds; the error contains the page's text."""
        # Elements that were redrawn or are covered are searched again.
        wait = WebDriverWait(self.driver, seconds, 0.1, ignored_exceptions=(WebDriverException,))
        try:
            wait.until(lambda _driver: look())
        except TimeoutException as error:
            raise AssertionError(f"{message} on {self.driver.current_url}:\n{self.text}") from error

    def _use(self, path: str, use: Callable[[WebElement], None]) -> None:
        def look() -> bool:
            elements = self.driver.find_elements(By.XPATH, path)
            if elements:
                use(elements[0])
            return bool(elements)

        self.until(look, f"{path} did not appear")

    def _shown(self, path: str) -> WebElement | None:
        for element in self.driver.find_elements(By.XPATH, path):
            if element.is_displayed() and element.is_enabled():
                # The top bar would cover the element.
                self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
                return element
        return None
