"""Measure the speed of the site on a round of 50 systems, 7 domains and 16,000 questions (800,000 battles).

    PYTHONPATH=. python benchmarks/site.py [--runs 9] [--home FOLDER] [--questions 16000]
        [--systems 50] [--only-sessions] [--only-pages]

It measures in one run, on one machine and with the site's own configuration:

- every page relative to the empty page, from the navigation to the footer, which comes last: cold (with an
  empty browser cache, for the first time since the server started) and warm, as an organiser if sign-in is
  required; also the time until the page's text is readable, which the server caches (cold here: only an empty
  browser cache), and processor time of server and browser, which is more reliable on a busy machine;
- 50 open sessions over websockets (Streamlit's own protocol, a light client in this process, which shares the
  machine's cores with the server). Load model: each session is a person who switches to another domain of the
  leaderboard every 5 to 10 s at random, about 6.7 switches/s; p95 of 300 switches, compared with 300 by one
  session that switches at the same rate; three runs of each, alternating. For information: processor time of
  server and client per switch (for 50 sessions, including opening them).

With --home, the round is reused.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from large_round import DOMAINS, NAME, make_large_round
from made import ROOT, free_port, wait_for
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from site_sessions import acting, p95, processor_time

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.settings import Settings
from data.models import TokenScope

READERS = 50
ACTS = 6
ALONE = 300
"""Actions of a single session: as many as of all sessions together, so that both p95 depend on 15 values."""
WARMED = 50
REPEATS = 3
WARMING = 2
"""Uncounted visits that warm the browser's caches."""
SETTLED = 1.0
"""Seconds on a blank page before a visit."""
BOARD = f"board={NAME}"
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
)
EMPTY, TEXT, WHOLE = "[data-testid=stText]", "#first-view p, #root .aa-footer", "#root .aa-footer"
PAGES = (
    *("", "compare", "questions", "matrix", "retrieval", "rounds", "data", "trust", "methodology", "about"),
    *("system?id=system-07", "question?id=q17", "submit", "team"),
)
ORGANISERS = tuple(f"admin{name}" for name in ("", "-rounds", "-data", "-people"))
ORGANISER = "olga"
EVERY_PAGE, SESSIONS = 1.5, 1.7
SERVE = """
import sys
from pathlib import Path
from arena.settings import Settings
from arena.site.server import configuration, serve_site
if sys.argv[1] == "site":
    home = Path(sys.argv[2])
    serve_site("127.0.0.1", int(sys.argv[3]), Settings(home=home, database_url=f"sqlite:///{home}/arena.sqlite"))
else:
    import streamlit as st
    at = {"server.address": "127.0.0.1", "server.port": int(sys.argv[3])}
    st.App(sys.argv[2]).run(config={**configuration(), **at})
"""
WATCH = """
window.firstSeen = {};
const look = () => {
  for (const selector of SELECTORS) {
    if (document.querySelector(selector)) window.firstSeen[selector] ??= performance.now();
  }
};
new MutationObserver(look).observe(document, {childList: true, subtree: true});
"""


@contextmanager
def server(kind: str, what: Path, health: str) -> Iterator[tuple[str, int]]:
    """Run a server during the block and yield its address and process."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", SERVE, kind, str(what), str(port)], cwd=ROOT)
    try:
        wait_for(f"http://127.0.0.1:{port}{health}")
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait(timeout=20)


def visited(driver: webdriver.Chrome, url: str, selectors: Sequence[str]) -> dict[str, float]:
    """Return the milliseconds from navigation to the first element of each selector."""
    driver.get("about:blank")
    # Cleanup of the previous page must not count for this one.
    time.sleep(SETTLED)
    source = WATCH.replace("SELECTORS", json.dumps(selectors))
    handle = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    driver.get(url)
    WebDriverWait(driver, 60, poll_frequency=0.05).until(
        lambda browser: len(browser.execute_script("return window.firstSeen")) == len(selectors)
    )
    seen: dict[str, float] = driver.execute_script("return window.firstSeen")
    driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", handle)
    return seen


def every_page(
    driver: webdriver.Chrome, site: tuple[str, int], nothing: tuple[str, int], token: str, runs: int
) -> None:
    """Print every page's cold and warm times as ratios to the empty page."""
    driver.execute_cdp_cmd("Network.enable", {})
    over, late = 0, 0
    print(f"{'':28}" + f"{'whole page':>16}{'text':>16}{'processor':>10}" * 2)
    both = f"{'cold':>8}{'warm':>8}" * 2
    print(f"{'page':28}{both}{'':10}{both}")
    for page in (*PAGES, *ORGANISERS):
        if page == ORGANISERS[0]:
            sign_in(driver, site[0], token)
        address = f"{site[0]}/{page}{'&' if '?' in page else '?'}{BOARD}"
        cold = [_cold(driver, nothing[0], EMPTY), _cold(driver, address, WHOLE)]
        text = [_cold(driver, nothing[0], EMPTY), _cold(driver, address, TEXT)]
        # Clearing also removed the empty page's files; compiled scripts are kept from the second visit on.
        for _ in range(WARMING):
            for url, element in ((nothing[0], EMPTY), (address, WHOLE)):
                visited(driver, url, (element,))
        warm: dict[str, list[float]] = {EMPTY: [], TEXT: [], WHOLE: []}
        used = [0.0, 0.0]
        for _ in range(runs):
            for at, (url, selectors, pid) in enumerate(
                ((nothing[0], (EMPTY,), nothing[1]), (address, (TEXT, WHOLE), site[1]))
            ):
                before = _spent(driver, pid)
                for selector, milliseconds in visited(driver, url, selectors).items():
                    warm[selector].append(milliseconds)
                used[at] += _spent(driver, pid) - before
        median = {selector: statistics.median(each) for selector, each in warm.items()}
        times = cold[1], median[WHOLE], text[1], median[TEXT]
        ratios = (
            *(cold[1] / cold[0], median[WHOLE] / median[EMPTY]),
            *(text[1] / text[0], median[TEXT] / median[EMPTY]),
        )
        over += max(ratios[:2]) > EVERY_PAGE
        late += max(ratios[2:]) > EVERY_PAGE
        times_text = "".join(f"{each:5.0f} ms" for each in times) + f"{1000 * used[1] / runs:7.0f} ms"
        print(
            f"/{page:27}{times_text}{''.join(f'{each:7.2f}×' for each in ratios)}{used[1] / used[0]:9.2f}×",
            flush=True,
        )
    print(f"{over} whole pages and the text of {late} over {EVERY_PAGE}×")
    driver.delete_all_cookies()


def _cold(driver: webdriver.Chrome, url: str, selector: str) -> float:
    driver.execute_cdp_cmd("Network.clearBrowserCache", {})
    return visited(driver, url, (selector,))[selector]


def _spent(driver: webdriver.Chrome, server: int) -> float:
    """Return the processor seconds of a server and the browser's processes, including ended ones."""
    browser = {driver.service.process.pid}
    parents = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            parents[int(entry.name)] = (int(fields[1]), sum(map(int, fields[11:15])))
    grown = True
    while grown:
        children = {pid for pid, (parent, _) in parents.items() if parent in browser} - browser
        browser |= children
        grown = bool(children)
    ticks = sum(parents[pid][1] for pid in browser if pid in parents)
    return ticks / os.sysconf("SC_CLK_TCK") + processor_time(server)


def sign_in(driver: webdriver.Chrome, site: str, token: str) -> None:
    """Sign an organiser in."""
    driver.get(f"{site}/auth/sign-in")
    driver.find_element(By.ID, "token").send_keys(token)
    driver.find_element(By.CSS_SELECTOR, "button").click()
    WebDriverWait(driver, 60).until(lambda browser: browser.get_cookie("arena_session"))


def organiser(settings: Settings) -> str:
    """Return an organiser's token, creating the account if necessary."""
    arena = Arena(settings)
    try:
        if not any(account.name == ORGANISER for account in arena.teams.accounts(caller=OPERATOR)):
            arena.teams.add_account(ORGANISER, is_organiser=True, caller=OPERATOR)
        scopes = (TokenScope.ORGANISE, TokenScope.READ)
        return arena.tokens.create(name="speed", account=ORGANISER, scopes=scopes, caller=OPERATOR).secret
    finally:
        arena.close()


async def _one_and_many(site: str, pid: int, addresses: list[str]) -> float:
    """Print the p95 of one session and of many, and return their ratio."""
    percentiles = []
    for name, acts in (
        ("one session", acting(site, addresses, ALONE, of=READERS)),
        (f"{READERS} sessions", acting(site, addresses, ACTS, count=READERS)),
    ):
        server, client = processor_time(pid), time.process_time()
        times = await acts
        server, client = processor_time(pid) - server, time.process_time() - client
        spent = f"{1000 * server / len(times):.1f} and {1000 * client / len(times):.1f} ms"
        middle = f"median {1000 * statistics.median(times):.0f} ms, p95 {1000 * p95(times):.1f}"
        print(f"{name:26} {middle}; server and client {spent} an act", flush=True)
        percentiles.append(p95(times))
    return percentiles[1] / percentiles[0]


async def readers(site: str, pid: int) -> None:
    """Print the waits of many concurrent readers."""
    addresses = [f"{BOARD}&domain={domain}" for domain in DOMAINS]
    await acting(site, addresses, WARMED, of=READERS)
    ratios = [await _one_and_many(site, pid, addresses) for _ in range(REPEATS)]
    listed = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"{'p95 of many to one':26} {listed}: median {statistics.median(ratios):.2f}×, target {SESSIONS}×")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--questions", type=int, default=16_000)
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--only-sessions", action="store_true", help="measure open sessions alone")
    parser.add_argument("--only-pages", action="store_true", help="measure every page alone")
    parser.add_argument("--home", type=Path, help="where the round is kept; by default a temporary folder")
    arguments = parser.parse_args()
    options = webdriver.ChromeOptions()
    options.page_load_strategy = "eager"
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.py"
        empty.write_text('import streamlit as st\nst.text("empty")\n')
        settings = make_large_round(
            arguments.home or Path(folder) / "home", systems=arguments.systems, questions=arguments.questions
        )
        if arguments.only_sessions:
            with server("site", settings.home, "/healthz") as (site, pid):
                asyncio.run(readers(site, pid))
            return
        token = organiser(settings)
        with (
            server("site", settings.home, "/healthz") as (site, pid),
            server("empty", empty, "/_stcore/health") as (nothing, other),
            webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver"))) as driver,
        ):
            every_page(driver, (site, pid), (nothing, other), token, max(1, arguments.runs // 3))
            if arguments.only_pages:
                return
            driver.get("about:blank")
            asyncio.run(readers(site, pid))


if __name__ == "__main__":
    main()
