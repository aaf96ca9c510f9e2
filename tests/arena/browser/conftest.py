from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.browsing import Visitor, open_browser
from tests.page_checks import is_still
from tests.served import served
from tests.showcase import Showcase, prepare
from tests.site_views import View

WATCH = """
window.violations = [];
window.moved = 0;
new PerformanceObserver((list) => list.getEntries().forEach((shift) => { window.moved += shift.value; }))
  .observe({ type: "layout-shift", buffered: true });
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI} in ${event.sourceFile}`);
});
"""
LOOKS = {"light": (1440, "light"), "dark": (1440, "dark"), "phone": (390, "light")}


@dataclass(frozen=True, slots=True)
class Stage:
    """Served arena and a shared browser."""

    showcase: Showcase
    url: str
    visitor: Visitor

    def enter(self, view: View, look: str = "light") -> None:
        """Open a page as a user, ending the previous session."""
        token = getattr(self.showcase, view.who, "")
        if self._who() != view.who:
            self.visitor.go("/healthz")
            self.visitor.driver.delete_all_cookies()
            if token:
                self.visitor.sign_in(token)
            self.visitor.driver.add_cookie({"name": "arena_who", "value": view.who})
        self.look(look)
        self.visitor.go(view.path)
        self.settle()

    def _who(self) -> str:
        cookie = self.visitor.driver.get_cookie("arena_who")
        return str(cookie["value"]) if cookie else ""

    def look(self, name: str) -> None:
        width, scheme = LOOKS[name]
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.visitor.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        self.visitor.size(width)

    def settle(self) -> None:
        """Wait until the page is drawn, with its fonts and charts."""
        self.visitor.until(lambda: is_still(self.visitor.driver), "the page does not come to rest")


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    showcase = prepare(tmp_path_factory.mktemp("showcase") / "home")
    with served(showcase.settings, tmp_path_factory.mktemp("form") / "log") as url:
        driver = open_browser()
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        try:
            yield Stage(showcase, url, Visitor(driver, url))
        finally:
            driver.quit()
