from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlencode

import httpx
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from arena.site.app import _Routes
from arena.site.pages import pages
from tests.arena.browser.conftest import LOOKS, Stage
from tests.page_checks import accessibility_faults, focus_faults, heading_faults, layout_faults
from tests.showcase import NAMES, SUMMER
from tests.site_views import View, Who, page_views, plain_views

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("form")]


VIEWS = page_views(NAMES)
NOWHERE = "no-such-thing"
REFUSED = """
const failures = performance.getEntriesByType("resource").filter(entry => entry.responseStatus >= 400);
return [...failures.map(entry => `${entry.responseStatus} ${entry.name}`), ...window.violations];
"""
"""Failed requests and policy violations of the page."""
INTRUDERS = """
const inline = document.createElement('script'); inline.textContent = 'window.ran = 1';
const foreign = document.createElement('script'); foreign.src = 'https://foreign.invalid/x.js';
document.body.append(inline, foreign);
"""


def _faults(stage: Stage) -> list[str]:
    driver = stage.visitor.driver
    faults = heading_faults(driver)
    for name in LOOKS:
        stage.look(name)
        stage.settle()
        problems = [*accessibility_faults(driver), *layout_faults(driver)]
        faults += [f"{name}: {fault}" for fault in problems]
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    faults += [f"phone: {fault}" for fault in focus_faults(driver)]
    return faults


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_page_is_accessible_and_complete_in_all_themes(stage: Stage, view: View) -> None:
    stage.enter(view)
    driver = stage.visitor.driver
    assert [*_title_faults(view, driver.title), *driver.execute_script(REFUSED), *_faults(stage)] == []


@pytest.mark.parametrize("look", ["light", "phone"])
@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_page_opens_stably_and_phone_targets_are_large(stage: Stage, view: View, look: str) -> None:
    stage.enter(view, look)
    assert stage.visitor.driver.execute_script("return window.moved") <= MAX_MOVED
    assert look != "phone" or stage.visitor.driver.execute_script(LOW) == []


MAX_MOVED = 0.05
"""Largest layout shift of a page, as web.dev defines it."""
LOW = """
const targets = ":is(a[href], button, summary, input:not([type=file]), [role=tab])";
const said = (node) => node.textContent.trim();
const inSentence = (node) =>
  node.matches(":is(p, li, td, dd, span) > a") && said(node) !== said(node.parentElement);
const visible = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  && getComputedStyle(node).pointerEvents !== "none";
const height = (node) => (node.closest("label") ?? node).getBoundingClientRect().height;
return [...document.querySelectorAll(`[data-testid=stMain] ${targets}`)]
  .filter((node) => visible(node) && !inSentence(node) && height(node) > 0 && height(node) < 43.5)
  .map((node) => `${height(node)} px: ${said(node).slice(0, 40) || node.outerHTML.slice(0, 90)}`);
"""
"""Targets in the page that are lower than 44 px, except links inside a sentence."""


def _title_faults(view: View, title: str) -> list[str]:
    """Return faults of the page title, which must name the page's object or the page."""
    query = view.path.partition("?")[2]
    things = [value for key, value in parse_qsl(query) if key in NAMING and not value.isdecimal()]
    wanted = [*(things or [pages()[view.page].title]), "– Answer Arena"]
    return [f"the title {title!r} lacks {part!r}" for part in wanted if part not in title]


NAMING = ("id", "round", "a", "b", "task")
"""Parameters that name the object of a page."""


def test_plain_page_is_accessible_and_complete_in_all_themes(stage: Stage) -> None:
    faults = {}
    for view in plain_views(_Routes(stage.showcase.settings).all()):
        stage.enter(view)
        faults[view.path] = _faults(stage)
        assert stage.visitor.driver.title.endswith("– Answer Arena"), view
    assert {path: found for path, found in faults.items() if found} == {}


def test_script_inside_page_does_not_run(stage: Stage) -> None:
    """The policy blocks and reports injected scripts and scripts of foreign hosts."""
    stage.enter(View("/methodology"))
    driver = stage.visitor.driver
    driver.execute_script(INTRUDERS)
    stage.visitor.until(lambda: len(driver.execute_script(REFUSED)) > 1, "nothing is reported")
    assert driver.execute_script("return window.ran") is None
    assert any("foreign.invalid" in address for address in driver.execute_script(REFUSED))


@pytest.mark.parametrize("width", [800, 1024, 1440])
@pytest.mark.parametrize("who", [Who.PUBLIC, Who.ORGANISER])
def test_all_menus_are_visible(stage: Stage, who: Who, width: int) -> None:
    stage.enter(View("/methodology", who))
    stage.visitor.size(width)
    stage.settle()
    items = stage.visitor.driver.find_elements(By.CSS_SELECTOR, "[data-testid=stTopNav] > *")
    names = [item.text for item in items if item.is_displayed() and item.text]
    stage.visitor.size(1440)
    assert names[:4] == ["Board", "Questions", "Trust and method", "Data"]
    assert names[-1].startswith("Organise" if who is Who.ORGANISER else "More")


@pytest.mark.parametrize("page", [page for page in pages() if page])
def test_deep_link_opens_with_and_without_trailing_slash(stage: Stage, page: str) -> None:
    for path in (f"/{page}", f"/{page}/"):
        answer = httpx.get(f"{stage.url}{path}", params={"board": SUMMER}, follow_redirects=True)
        assert answer.status_code == 200
        assert answer.url.params["board"] == SUMMER
        assert f"<title>{pages()[page].title} – Answer Arena</title>" in answer.text


# Any search words are valid.
SEARCHED = frozenset({"words", "find"})


def _unknown() -> Iterator[View]:
    """Yield each address with each parameter in turn replaced with an unknown value."""
    seen = set()
    for view in VIEWS:
        path, _, query = view.path.partition("?")
        named = dict(parse_qsl(query))
        for key in named:
            changed = {**named, key: NOWHERE}
            if key not in SEARCHED and (path, key) not in seen:
                seen.add((path, key))
                yield View(f"{path}?{urlencode(changed)}", view.who)


@pytest.mark.parametrize("view", list(_unknown()), ids=str)
def test_unknown_value_is_reported_with_link(stage: Stage, view: View) -> None:
    stage.enter(view)
    main = stage.visitor.driver.find_element(By.CSS_SELECTOR, "[data-testid=stMain]")
    said = [node.text for node in main.find_elements(By.CSS_SELECTOR, SENTENCE) if node.is_displayed()]
    assert any(NO.search(text) for text in said), main.text[:600]
    assert main.find_elements(By.CSS_SELECTOR, WAY_ON)


SENTENCE = "[data-testid=stAlert], [role=status]"
NO = re.compile(r"\b(no|not|nothing|nobody)\b", re.IGNORECASE)
WAY_ON = "a[href], input, [role=radio]"
