"""Browser checks of a page: accessibility with axe-core, layout, headings, focus."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from selenium import webdriver

HERE = Path(__file__).parent
AXE_PACKAGE = "axe_playwright_python"
"""The package that contains the axe-core script; only the script is used."""


RUN_AXE = """
const done = arguments[arguments.length - 1];
const text = (rule, node) => `${rule.id} (${rule.impact}): ${node.html.slice(0, 160)} ${node.failureSummary}`;
axe.run(document).then((found) => done({
  passes: found.passes.length,
  faults: found.violations.flatMap(
    (rule) => rule.nodes.map((node) => text(rule, node))),
})).catch((error) => done({ passes: 0, faults: [String(error)] }));
"""
HEADINGS = """
return [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
  .filter((node) => node.checkVisibility())
  .map((node) => [Number(node.tagName[1]), node.textContent.trim()]);
"""

# Resolves to true if the script has ended, nothing is being redrawn, and the page was unchanged for 0.25 s.
# Streamlit reports the end at least 0.2 s before it draws; the footer comes last.
STILL = """
const done = arguments[arguments.length - 1];
const rests = "[data-testid=stApp][data-test-script-state=notRunning] .aa-footer";
const unfinished = `.aa-bones, [data-stale=true], #root:not(:has(${rests}))`;
const waits = () => document.querySelector(unfinished) !== null;
let changed = document.fonts.status !== "loaded" || waits();
const watch = new MutationObserver(() => { changed = true; });
watch.observe(document.body, { childList: true, subtree: true, attributes: true });
setTimeout(() => { watch.disconnect(); done(!changed && !waits()); }, 250);
"""


def is_still(driver: webdriver.Chrome) -> bool:
    """Return whether the page is drawn, with its fonts and charts."""
    return bool(driver.execute_async_script(STILL))


def accessibility_faults(driver: webdriver.Chrome) -> list[str]:
    """Return axe-core's findings at every impact level, including best practices."""
    if not driver.execute_script("return 'axe' in window"):
        driver.execute_script(_axe())
    driver.set_script_timeout(60)
    violations: dict[str, Any] = driver.execute_async_script(RUN_AXE)
    if not violations["passes"]:
        violations["faults"].append("axe-core checked nothing")
    return [" ".join(str(fault).split()) for fault in violations["faults"]]


def layout_faults(driver: webdriver.Chrome) -> list[str]:
    """Return elements that overflow, are cut off, overlap, are empty, or have no name."""
    return _measured(driver, "layout.js")


def focus_faults(driver: webdriver.Chrome) -> list[str]:
    """Return elements without a visible focus or reachable only by mouse; press a key first."""
    return _measured(driver, "focus.js")


def heading_faults(driver: webdriver.Chrome) -> list[str]:
    """Return heading faults: not exactly one of level 1, an empty one, or a skipped level."""
    headings = [(int(level), str(text)) for level, text in driver.execute_script(HEADINGS)]
    tops = [text for level, text in headings if level == 1]
    faults = [] if len(tops) == 1 else [f"{len(tops)} headings of level 1: {tops}"]
    faults += [f"an empty heading of level {level}" for level, text in headings if not text]
    above = 0
    for level, text in headings:
        if level > above + 1:
            faults.append(f"level {level} follows level {above} at “{text}”")
        above = level
    return faults


def _measured(driver: webdriver.Chrome, script: str) -> list[str]:
    return [str(fault) for fault in driver.execute_script((HERE / script).read_text(encoding="utf-8"))]


@cache
def _axe() -> str:
    return files(AXE_PACKAGE).joinpath("axe.min.js").read_text(encoding="utf-8")
