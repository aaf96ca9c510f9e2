"""The checks of pages find what is planted in a page that is whole, and let pass what is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.page_checks import (
    KnownFault,
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
    "cut below": (
        layout_faults,
        '<p style="width:4em;height:1em;overflow:hidden">A sentence of which one word is seen.</p>',
        "text is cut off",
    ),
    "overlap": (
        layout_faults,
        '<p style="margin:0">One text here.</p><p style="margin:-1.1em 0 2em">Another over it.</p>',
        "lies over",
    ),
    "outside": (layout_faults, '<p style="position:relative;left:-300px">Gone to the left.</p>', "outside"),
    "chart of nothing": (
        layout_faults,
        '<div data-testid="stVegaLiteChart"><svg><g class="role-axis"><path d="M0,0L90,0"/></g></svg></div>',
        "a chart without marks",
    ),
    "canvas of nothing": (
        layout_faults,
        '<div data-testid="stVegaLiteChart"><canvas width="90" height="50"></canvas></div>',
        "a chart without marks",
    ),
    "table of nothing": (
        layout_faults,
        '<table><thead><tr><th scope="col">A</th></tr></thead><tbody></tbody></table>',
        "a table without rows",
    ),
    "lost picture": (layout_faults, '<img src="data:image/png;base64,AA" alt="a map">', "did not load"),
    "icon alone": (
        layout_faults,
        '<button style="min-height:24px"><span data-testid="stIconMaterial">close</span></button>',
        "a button without a name",
    ),
    "second title": (heading_faults, "<h1>Another page</h1>", "2 headings of the first level"),
    "skipped level": (heading_faults, "<h3>Deep down</h3>", "level 3 follows level 1"),
    "empty heading": (heading_faults, '<h2 style="height:1em"></h2>', "without words"),
    "faint": (
        accessibility_faults,
        '<p style="color:rgb(170,170,170);background:white">Hardly to be read.</p>',
        "color-contrast (serious)",
    ),
    "no label": (accessibility_faults, '<input type="text">', "label (critical)"),
    "minor": (
        accessibility_faults,
        '<table><tbody><tr><th scope="col"></th></tr><tr><td>1</td></tr></tbody></table>',
        "empty-table-header (minor)",
    ),
    "no outline": (
        focus_faults,
        '<button style="outline:none;min-height:24px">Press</button>',
        "the focus cannot be seen on button “Press”",
    ),
    "mouse alone": (focus_faults, '<span title="the meaning">word</span>', "only a mouse finds the title"),
    "no keyboard": (focus_faults, '<span class="aa-term">word</span>', "no keyboard reaches the meaning"),
    "hidden meaning": (
        focus_faults,
        '<span class="aa-term" tabindex="0">word<span class="aa-tip" style="display:none">why</span></span>',
        "does not appear",
    ),
}
MEANT = {
    "shortened": """<p style="width:4em;overflow:hidden;white-space:nowrap;text-overflow:ellipsis">
A long name</p>""",
    "for screen readers": """<span style="position:absolute;width:1px;height:1px;overflow:hidden;
clip-path:inset(50%)">Said, not shown, and quite long.</span>""",
    "scrolled": """<div style="width:5em;overflow-x:auto" tabindex="0" role="region" aria-label="Wide">
<p style="width:60em">A wide text that is reached by scrolling.</p></div>""",
    "drawn": """<div data-testid="stVegaLiteChart"><svg width="90" height="50" role="img" aria-label="a line">
<g class="role-mark"><path d="M0,0L90,50" stroke="teal"></path></g></svg></div>""",
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
def page(open_browser: Callable[[], webdriver.Chrome]) -> Iterator[webdriver.Chrome]:
    """A browser of these tests alone."""
    driver = open_browser()
    yield driver
    driver.quit()


def _open(page: webdriver.Chrome, planted: str) -> None:
    page.get(SOUND.replace("\n", "%0A"))
    page.execute_script(PLANT, planted)
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)


def _all_faults(page: webdriver.Chrome) -> list[str]:
    return [
        fault
        for check in (heading_faults, layout_faults, accessibility_faults, focus_faults)
        for fault in check(page)
    ]


def test_whole_page_has_no_fault(page: webdriver.Chrome) -> None:
    """The page into which faults are planted has none itself."""
    _open(page, "")
    assert _all_faults(page) == []


@pytest.mark.parametrize("name", list(PLANTED))
def test_planted_fault_is_found_by_its_check(page: webdriver.Chrome, name: str) -> None:
    """A fault of each kind, planted into a whole page, is named by the check whose part it is."""
    check, planted, sentence = PLANTED[name]
    _open(page, planted)
    assert any(sentence in fault for fault in check(page)), _all_faults(page)


@pytest.mark.parametrize("name", list(MEANT))
def test_what_is_meant_is_no_fault(page: webdriver.Chrome, name: str) -> None:
    """Shortened names, words for screen readers, boxes that scroll, drawn charts and named icons pass."""
    _open(page, MEANT[name])
    assert _all_faults(page) == []


def test_a_known_fault_passes_at_its_element_alone(page: webdriver.Chrome) -> None:
    known = KnownFault(rule="label", selector="#theirs", reason="a field that we do not make")
    _open(page, '<input id="theirs" type="text">')
    assert accessibility_faults(page, (known,)) == []
    _open(page, '<input id="ours" type="text">')
    assert len(accessibility_faults(page, (known,))) == 1
