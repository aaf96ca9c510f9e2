"""Time to the first table of a published board, against an empty Streamlit page in the same run.

    python benchmarks/site.py [--runs 9]

Both servers have the site's configuration. Visits alternate; each starts from a blank page and ends when
the browser has the first row in its document (for the empty page: its one text), by the browser's own
clock. Boards: the bundled paper (12 systems, 7 domains) and one of 50 systems in 7 domains.
"""

from __future__ import annotations

import argparse
import copy
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait
from site_server import free_port, wait_for

from arena.bootstrap import open_arena
from arena.settings import Settings

ROOT = Path(__file__).parents[1]
SYSTEMS = 50
TARGET = 2.0
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
)
SERVE = """
import sys
from pathlib import Path
from arena.settings import Settings
from arena.web.serve import configuration, serve_site
if sys.argv[1] == "site":
    home = Path(sys.argv[2])
    serve_site("127.0.0.1", int(sys.argv[3]), Settings(home=home, database_url=f"sqlite:///{home}/arena.sqlite"))
else:
    import streamlit as st
    at = {"server.address": "127.0.0.1", "server.port": int(sys.argv[3])}
    st.App(sys.argv[2]).run(config={**configuration(), **at})
"""
WATCH = """
window.firstSeen = null;
const look = () => {
  if (window.firstSeen === null && document.querySelector(SELECTOR)) window.firstSeen = performance.now();
};
new MutationObserver(look).observe(document, {childList: true, subtree: true});
"""


def prepare(home: Path) -> None:
    """Publish the paper's board, and one with many systems made of its lines."""
    arena = open_arena(Settings(home=home, database_url=f"sqlite:///{home}/arena.sqlite"))
    paper = arena.boards.publish_paper()
    large = copy.deepcopy(dict(paper.standings))
    for domain, lines in large["lines"].items():
        many = [copy.deepcopy(lines[at % len(lines)]) for at in range(SYSTEMS)]
        for at, line in enumerate(many):
            line["system"] = f"system-{at:02d}"
        large["lines"][domain] = many
    arena.store.boards.publish("large", round_id=None, standings={**large, "title": "Fifty systems"})
    arena.close()


@contextmanager
def server(kind: str, what: Path, health: str) -> Iterator[str]:
    """Start one of the two servers and stop it afterwards."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", SERVE, kind, str(what), str(port)], cwd=ROOT)
    try:
        wait_for(f"http://127.0.0.1:{port}{health}")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=20)


def visit(driver: webdriver.Chrome, url: str, selector: str) -> float:
    """Milliseconds from the start of the navigation to the first element."""
    driver.get("about:blank")
    source = WATCH.replace("SELECTOR", repr(selector))
    handle = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    driver.get(url)
    seen = WebDriverWait(driver, 60, poll_frequency=0.05).until(
        lambda found: found.execute_script("return window.firstSeen")
    )
    driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", handle)
    return float(seen)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    options = webdriver.ChromeOptions()
    options.page_load_strategy = "eager"
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory() as folder:
        home, empty = Path(folder) / "home", Path(folder) / "empty.py"
        home.mkdir()
        prepare(home)
        empty.write_text('import streamlit as st\nst.text("empty")\n')
        with (
            server("site", home, "/healthz") as site,
            server("empty", empty, "/_stcore/health") as nothing,
            webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver"))) as driver,
        ):
            pages = {
                "empty page": (nothing, "[data-testid=stText]"),
                "paper board, 12 systems": (f"{site}/?board=rag-qa-arena", ".aa-board tbody tr"),
                f"large board, {SYSTEMS} systems": (f"{site}/?board=large", ".aa-board tbody tr"),
            }
            times: dict[str, list[float]] = {name: [] for name in pages}
            for run in range(runs + 1):
                for name, (url, selector) in pages.items():
                    taken = visit(driver, url, selector)
                    if run:  # The first round fills the browser's and the servers' caches.
                        times[name].append(taken)
    base = statistics.median(times["empty page"])
    for name, taken in times.items():
        middle = statistics.median(taken)
        print(f"{name:28} median {middle:6.0f} ms  ({min(taken):.0f}–{max(taken):.0f})  {middle / base:.2f}×")
    print(f"target: at most {TARGET}× the empty page; {runs} visits each")


if __name__ == "__main__":
    main()
