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


WATCHED = """
const names = ["h1", ".aa-lead", ".aa-controls", ".aa-standings", ".aa-standings tbody:last-child"];
window.places = root => names.map(name => Math.round(root.querySelector(name).getBoundingClientRect().top));
new MutationObserver(() => {
  const first = document.querySelector("#first-view");
  if (first?.querySelector("tbody:last-child")) window.begun = window.places(first);
}).observe(document, {childList: true, subtree: true});
"""
WHOLE = """
return document.querySelector("#first-view") ? null : window.places(document.querySelector("#root"));
"""


@pytest.mark.parametrize("width", [1440, 820, 390])
def test_the_board_is_there_before_the_page_and_nothing_moves(
    site: str, browser: webdriver.Chrome, walk: Visitor, width: int
) -> None:
    """What the document begins with gives way to the page, which has everything in the same places."""
    walk.size(width)
    begun = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCHED})
    try:
        browser.get(f"{site}/?board=tiny")
        walk.find(".aa-footer")
        walk.rest()
        whole = browser.execute_script(WHOLE)
        assert whole is not None, "what the document begins with still covers the page"
        before = browser.execute_script("return window.begun")
        assert [abs(one - other) <= 1 for one, other in zip(before, whole, strict=True)] == [True] * 5
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", begun)


TEXTS = """
const key = node => `${node.tagName} ${node.textContent.trim().slice(0, 60)}`;
window.texts = root => Object.fromEntries(
  [...root.querySelectorAll("h1, h2, h3, .aa-lead, .aa-note, table, .stText")]
    .filter(node => node.checkVisibility())
    .map(node => [key(node), node.getBoundingClientRect()])
    .map(([name, place]) => [name, [Math.round(place.left), Math.round(place.top)]]));
new MutationObserver(() => {
  const first = document.querySelector("#first-view");
  if (first?.querySelector(".aa-footer")) window.begun ??= window.texts(first);
}).observe(document, {childList: true, subtree: true});
"""
BEGUN = (
    "/?board=tiny&domain=d1",
    "/compare?board=tiny&a=full&b=short",
    "/questions?board=tiny",
    "/question?board=tiny&id=q1",
    "/system?board=tiny&id=full",
    "/trust?board=tiny",
    "/matrix?board=tiny",
    "/data?board=tiny",
    "/methodology",
)
WHOLE_AT_ONCE = ("/?", "/question?", "/questions?", "/trust?", "/methodology")
"""Pages of which all texts above the fold are there at once."""
FOLD, MOVED = 900, 4
"""Pixels that are in sight at first, and by which a text may move there."""


@pytest.mark.parametrize("width", [1440, 820, 390])
def test_what_a_document_begins_with_stays_where_it_is(
    site: str, browser: webdriver.Chrome, walk: Visitor, width: int
) -> None:
    """Above the fold no text of a first view moves or goes when the page takes over, at the first visit."""
    walk.size(width)
    begun = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": TEXTS})
    try:
        # Its letters have their widths once the browser has the theme's faces.
        browser.get(f"{site}/about")
        walk.find("#root .aa-footer")
        for address in BEGUN:
            browser.get(f"{site}{address}")
            walk.find("#root .aa-footer")
            walk.rest()
            before = browser.execute_script("return window.begun")
            whole = browser.execute_script(
                "return window.texts(document.querySelector('[data-testid=stMain]'))"
            )
            assert before, f"{address} begins empty"
            assert {name: place for name, place in before.items() if _moved(place, whole.get(name))} == {}
            if address.startswith(WHOLE_AT_ONCE):
                assert {name for name, place in whole.items() if place[1] < FOLD} <= before.keys(), address
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", begun)


def _moved(place: list[int], after: list[int] | None) -> bool:
    return place[1] < FOLD and (
        after is None or any(abs(one - other) > MOVED for one, other in zip(place, after, strict=True))
    )


SHIFTS = """
window.shifted = 0;
new PerformanceObserver(list => list.getEntries().forEach(entry => {
  if (!entry.hadRecentInput) window.shifted += entry.value;
})).observe({type: "layout-shift", buffered: true});
"""
SHIFTED = 0.1


@pytest.mark.parametrize("width", [1440, 390])
def test_little_moves_while_a_page_loads(
    site: str, browser: webdriver.Chrome, walk: Visitor, width: int
) -> None:
    """The browser's own measure of layout shift stays below a tenth, with an empty cache and a full one."""
    walk.size(width)
    watching = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SHIFTS})
    try:
        for address in BEGUN:
            browser.execute_cdp_cmd("Network.clearBrowserCache", {})
            for visit in ("cold", "warm"):
                browser.get(f"{site}{address}")
                walk.find("#root .aa-footer")
                walk.rest()
                assert browser.execute_script("return window.shifted") <= SHIFTED, (address, visit)
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", watching)


@pytest.mark.parametrize("width", [1440, 820])
def test_the_menu_stays_where_it_is(site: str, browser: webdriver.Chrome, walk: Visitor, width: int) -> None:
    """Each entry of the menu that a document begins with stands where Streamlit puts it."""
    walk.size(width)
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(f"{site}/data?board=tiny")
        begun = _places(browser, "#first-view .aa-menubar > nav > a")
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    browser.get(f"{site}/data?board=tiny")
    walk.find("#root .aa-footer")
    walk.rest()
    assert len(begun) > 4
    assert begun == _places(browser, "[data-testid=stTopNavLink]")


def _places(browser: webdriver.Chrome, selector: str) -> dict[str, tuple[int, int, int]]:
    rects = {node.text: node.rect for node in browser.find_elements(By.CSS_SELECTOR, selector)}
    return {text: (round(at["x"]), round(at["y"]), round(at["width"])) for text, at in rects.items()}


def test_without_scripts_the_leaderboard_is_read_all_the_same(site: str, browser: webdriver.Chrome) -> None:
    """Where scripts are switched off, the start page shows who leads and links to the systems."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(f"{site}/?board=tiny")
        assert "leads" in browser.find_element(By.CSS_SELECTOR, "#first-view .aa-lead").text
        assert browser.find_elements(By.CSS_SELECTOR, "#first-view tbody th a[href*='system?']")
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


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


def test_one_switch_holds_from_board_to_matrix_and_back(
    site: str, browser: webdriver.Chrome, walk: Visitor
) -> None:
    """Ratings controlled for length are chosen once, and head to head and the way back keep them."""
    walk.size(1440)
    browser.get(f"{site}/?board=tiny")
    walk.find(".aa-standings caption", "Overall")
    walk.click("//summary[normalize-space()='Ratings']")
    walk.follow("Controlled for length")
    walk.find(".aa-lead", "Controlled for length, short leads")
    assert "ratings=length" in browser.current_url
    walk.follow("Head to head")
    walk.find(".aa-lead", "by the ratings shown")
    walk.find(".aa-matrix caption", "3 systems and the reference")
    walk.follow("To the leaderboard on the same ratings")
    walk.find(".aa-lead", "Controlled for length, short leads")
