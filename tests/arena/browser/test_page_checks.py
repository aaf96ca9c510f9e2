from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests import page_checks
from tests.browsing import open_browser
from tests.cases import cases

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SOUND = """data:text/html;charset=utf-8,<!doctype html><html lang="en"><title>A page</title>
<style>:focus-visible { outline: 3px solid teal }</style>
<body style="margin:0"><main data-testid="stMain" style="height:600px;overflow:auto">
<h1>A page</h1><p>Its text.</p><button style="min-height:24px">Go on</button>
<table><caption>T</caption><tbody><tr><th scope="row">One</th><td>1</td></tr></tbody></table>
</main></body></html>"""
CHECKS = {
    name: getattr(page_checks, f"{name}_faults") for name in ("heading", "layout", "accessibility", "focus")
}
PLANTED, MEANT = cases(__file__, "PLANTED"), cases(__file__, "MEANT")
PLANT = """
const box = document.createElement("div");
box.innerHTML = arguments[0];
document.querySelector("main").append(box);
return Promise.all([...document.images].map((image) => image.decode().catch(() => null)));
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
    return [fault for check in CHECKS.values() for fault in check(page)]


@pytest.mark.parametrize("name", list(PLANTED))
def test_planted_fault_is_detected(page: webdriver.Chrome, name: str) -> None:
    check, planted, sentence = PLANTED[name]
    _open(page, planted)
    assert any(sentence in fault for fault in CHECKS[check](page)), _all_faults(page)


@pytest.mark.parametrize("name", list(MEANT))
def test_valid_values_are_accepted(page: webdriver.Chrome, name: str) -> None:
    _open(page, MEANT[name])
    assert _all_faults(page) == []
