from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.browsing import open_browser
from tests.page_checks import (
    accessibility_faults,
    focus_faults,
    heading_faults,
    layout_faults,
)

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Check = Callable[[webdriver.Chrome], list[str]]
SOUND = """data:text/html;charset=utf-8,<!doctype html><html lang="en"><title>A page</title>
<style>:focus-visible { outline: 3px solid teal }</style>
<body style="margin:0"><main data-testid="stMain" style="height:600px;overflow:auto">
<h1>A page</h1><p>Its text.</p><button style="min-height:24px">Go on</button>
<table><caption>T</caption><tbody><tr><th scope="row">One</th><td>1</td></tr></tbody></table>
</main></body></html>"""
PLANTED: dict[str, tuple[Check, str, str]] = {
    "sideways": (layout_faults, '<div style="width:9000px">wide</div>', "scrolls sideways"),
    "cut across": (
        layout_faults,
        '<p style="width:4em;overflow:hidden;white-space:nowrap">A sentence that is cut in its middle.</p>',
        "text is cut off",
    ),
    "overlap": (
        layout_faults,
        '<p style="margin:0">One text here.</p><p style="margin:-1.1em 0 2em">Another over it.</p>',
        "lies over",
    ),
    "canvas of nothing": (
        layout_faults,
        '<div data-testid="stVegaLiteChart"><canvas width="90" height="50"></canvas></div>',
        "a chart without marks",
    ),
    "skipped level": (heading_faults, "<h3>Deep down</h3>", "level 3 follows level 1"),
    "faint": (
        accessibility_faults,
        '<p style="color:rgb(170,170,170);background:white">Hardly to be read.</p>',
        "color-contrast (serious)",
    ),
    "no outline": (
        focus_faults,
        '<button style="outline:none;min-height:24px">Press</button>',
        "the focus cannot be seen on button “Press”",
    ),
    "mouse alone": (focus_faults, '<span title="the meaning">word</span>', "only a mouse finds the title"),
    "hidden meaning": (
        focus_faults,
        '<span class="aa-term" tabindex="0">word<span class="aa-tip" style="display:none">why</span></span>',
        "does not appear",
    ),
}
MEANT = {
    "nothing": "",
    "shortened": """<p style="width:4em;overflow:hidden;white-space:nowrap;text-overflow:ellipsis">
A long name</p>""",
    "scrolled": """<div style="width:5em;overflow-x:auto" tabindex="0" role="region" aria-label="Wide">
<p style="width:60em">A wide text that is reached by scrolling.</p></div>""",
    "named icon": """<button aria-label="Close" style="min-height:24px">
<span data-testid="stIconMaterial" aria-hidden="true">close</span></button>""",
}
PLANT = """
const box = document.createElement("div");
box.innerHTML = arguments[0];
document.querySelector("main").append(box);
return Promise.all([...document.images].map((one) => one.decode().catch(() => null)));
"""


@pytest.fixture(scope="module")
def page() -> Iterator[webdriver.Chrome]:
    driver = open_browser()
    yield driver
    driver.quit()


def _open(page: webdriver.Chrome, planted: str) -> None:
    page.get(SOUND.replace("\n", "%0A"))
    page.execute_script(PLANT, planted)
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)


def _all_faults(page: webdriver.Chrome) -> list[str]:
    checks = (heading_faults, layout_faults, accessibility_faults, focus_faults)
    return [fault for check in checks for fault in check(page)]


@pytest.mark.parametrize("name", list(PLANTED))
def test_planted_fault_is_found_by_its_check(page: webdriver.Chrome, name: str) -> None:
    check, planted, sentence = PLANTED[name]
    _open(page, planted)
    assert any(sentence in fault for fault in check(page)), _all_faults(page)


@pytest.mark.parametrize("name", list(MEANT))
def test_intended_values_are_no_fault(page: webdriver.Chrome, name: str) -> None:
    _open(page, MEANT[name])
    assert _all_faults(page) == []
