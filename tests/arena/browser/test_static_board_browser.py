"""A board as a folder of pages, opened from a disk in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from arena.container import open_arena
from arena.settings import Settings
from arena.site.export.writer import write_site
from tests.browsing import Visitor

pytestmark = pytest.mark.browser
PAGES = (
    "index.html",
    "questions/index.html",
    "questions/00005.html",
    "systems/full.html",
    "data.html",
    "method.html",
)
SCHEMES = {"light": "rgb(253, 252, 250)", "dark": "rgb(18, 23, 29)"}


@pytest.fixture(scope="module")
def folder(published: Settings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The board, written."""
    place = tmp_path_factory.mktemp("pages") / "tiny"
    arena = open_arena(published)
    write_site(arena, "tiny", place)
    arena.close()
    return place


@pytest.mark.long
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("page", PAGES)
def test_page_opens_from_a_disk(
    folder: Path, browser: webdriver.Chrome, walk: Visitor, page: str, scheme: str
) -> None:
    """No error on the console, the style sheet is there in light and dark, and a phone need not scroll."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    walk.size(390)
    _said(browser)
    browser.get((folder / page).as_uri())
    walk.find("h1")
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    wide = browser.execute_script(
        "const root = document.documentElement; return root.scrollWidth - root.clientWidth"
    )
    said = _said(browser)
    walk.size(1440)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert ground == SCHEMES[scheme]
    assert wide <= 0
    assert said == []


def test_console_tells_what_the_policy_refuses(browser: webdriver.Chrome, tmp_path: Path) -> None:
    """What the test above looks at is not deaf: a page whose policy refuses its style says so there."""
    page = tmp_path / "refused.html"
    policy = "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\">"
    page.write_text(f"<!DOCTYPE html><html><head>{policy}<style>p {{ color: red }}</style></head></html>")
    browser.get(page.as_uri())
    assert "Content Security Policy" in str(_said(browser))


def _said(browser: webdriver.Chrome) -> list[str]:
    """What the console was told since the last time."""
    entries = browser.get_log("browser")  # type: ignore[no-untyped-call]  # the library's own lack
    return [str(entry["message"]) for entry in entries]


def test_reader_goes_from_rating_to_reasons_without_a_server(
    folder: Path, browser: webdriver.Chrome, walk: Visitor
) -> None:
    """Standings → system → question → battle, by links alone."""
    walk.size(1440)
    browser.get((folder / "index.html").as_uri())
    walk.click("//main//a[normalize-space()='short']")
    walk.find("h1", "short")
    browser.find_element(By.CSS_SELECTOR, "main ul a").click()
    walk.find("h1", "What do we know of item")
    battle = browser.find_element(By.CSS_SELECTOR, "details.aa-battle")
    battle.find_element(By.TAG_NAME, "summary").click()
    assert "shown first" in battle.text
