"""Take pictures of every page: light and dark, on a phone (390 px) and on a desk (1440 px).

    python benchmarks/screenshots.py FOLDER [--url http://127.0.0.1:8501 [--token aa_…]]

Without --url the bundled boards are prepared in a temporary home and served for the occasion. With a token
the pages behind the sign-in are taken instead, as its owner sees them: an organiser sees every one.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from site_server import served

ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
)
WIDTHS = (390, 1440)
SCHEMES = ("light", "dark")
TALLEST = 12_000


@dataclass(frozen=True, slots=True)
class Shot:
    """One page to take, and what must be on it before it is taken."""

    name: str
    path: str
    ready: str = "[data-testid='stHtml']"


SHOTS = (
    Shot("leaderboard", "/?board=demo", ".aa-board"),
    Shot("leaderboard-domain", "/?board=demo&domain=finance", ".aa-board"),
    Shot("leaderboard-paper", "/?board=rag-qa-arena", ".aa-board"),
    Shot(
        "leaderboard-columns",
        "/?board=demo&columns=Rating,Win,Factual,Aspects,Context&control=1",
        ".aa-board",
    ),
    Shot("leaderboard-nobody", "/?board=demo&find=nobody", "[data-testid='stAlert']"),
    Shot("compare", "/compare?board=demo&a=meridian&b=reference&c=partisan", ".aa-questions"),
    Shot("compare-paper", "/compare?board=rag-qa-arena", ".aa-board"),
    Shot("matrix", "/matrix?board=demo", ".aa-matrix"),
    Shot("trust", "/trust?board=demo", ".aa-board"),
    Shot("trust-paper", "/trust?board=rag-qa-arena", "#cycles"),
    Shot("matrix-paper", "/matrix?board=rag-qa-arena", ".aa-matrix"),
    Shot("system", "/system?board=demo&id=partisan", ".aa-board"),
    Shot("questions", "/questions?board=demo", ".aa-questions"),
    Shot(
        "questions-pair",
        "/questions?board=demo&system=partisan&opponent=slipshod&result=lost",
        ".aa-questions",
    ),
    Shot("question", "/question?board=demo&id=bio-1", ".aa-text"),
    Shot("question-conflict", "/question?board=demo&id=bio-6", ".aa-conflict"),
    Shot("rounds", "/rounds", ".aa-entry"),
    Shot("methodology", "/methodology", ".katex"),
    Shot("data", "/data?board=demo", ".aa-board"),
    Shot("static", "/leaderboard.html?board=demo", ".aa-board"),
    Shot("embed", "/embed/demo", ".aa-board"),
    Shot("not-found", "/?board=nobody", "[data-testid='stAlert']"),
)

ORGANISING = ("admin-data", "admin-rounds", "admin-calibration", "annotate", "admin-people", "admin-audit")
BEHIND_THE_SIGN_IN = (
    Shot("submit", "/submit", "h3"),
    Shot("team", "/team", ".aa-eyebrow"),
    Shot("report", "/report?id=2", ".aa-board"),
    *(Shot(name, f"/{name}", "h1") for name in ORGANISING),
)


def take_all(url: str, folder: Path, only: str = "", token: str = "") -> None:
    """Take every picture into a folder; with a token, those of the pages behind the sign-in."""
    folder.mkdir(parents=True, exist_ok=True)
    signed_in = False
    for driver, scheme, width in _browsers():
        if token and not signed_in:
            _sign_in(driver, url, token)
            signed_in = True
        for shot in BEHIND_THE_SIGN_IN if token else SHOTS:
            if only in shot.name:
                path = folder / f"{shot.name}-{scheme}-{width}.png"
                print(f"{path}  {_take(driver, f'{url}{shot.path}', shot.ready, width, path)}")


def _sign_in(driver: webdriver.Chrome, url: str, token: str) -> None:
    driver.get(f"{url}/auth/sign-in")
    driver.find_element(By.ID, "token").send_keys(token)
    driver.find_element(By.CSS_SELECTOR, "button").click()
    WebDriverWait(driver, 20).until(lambda found: found.get_cookie("arena_session"))


def _browsers() -> Iterator[tuple[webdriver.Chrome, str, int]]:
    options = webdriver.ChromeOptions()
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium") or ""
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        for scheme in SCHEMES:
            feature = {"name": "prefers-color-scheme", "value": scheme}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            for width in WIDTHS:
                yield driver, scheme, width
    finally:
        driver.quit()


def _take(driver: webdriver.Chrome, url: str, ready: str, width: int, path: Path) -> str:
    """Take one picture of the whole page; says whether it scrolls sideways."""
    _resize(driver, width, 900)
    driver.get(url)
    try:
        WebDriverWait(driver, 20).until(lambda found: found.find_elements(By.CSS_SELECTOR, ready))
    except TimeoutException:
        print(f"{url}: {ready} did not appear")
    time.sleep(1.2)
    main = "(document.querySelector('[data-testid=stMain]') || document.documentElement)"
    for _ in range(2):
        height = driver.execute_script(f"return {main}.scrollHeight")
        _resize(driver, width, min(int(height) + 8, TALLEST))
        time.sleep(0.4)
    sideways = driver.execute_script(f"return {main}.scrollWidth - {main}.clientWidth")
    driver.save_screenshot(str(path))
    return f"scrolls sideways by {sideways} px" if sideways > 0 else ""


def _resize(driver: webdriver.Chrome, width: int, height: int) -> None:
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def main() -> None:
    """Read the command line and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url", help="a site that is served already")
    parser.add_argument("--only", default="", help="part of the name of the pages to take")
    parser.add_argument("--token", default="", help="of somebody who signs in there")
    arguments = parser.parse_args()
    if arguments.token and not arguments.url:
        parser.error("--token is of a site that is served already: say --url too")
    if arguments.url:
        take_all(arguments.url, arguments.folder, arguments.only, arguments.token)
        return
    with served() as url:
        take_all(url, arguments.folder, arguments.only)


if __name__ == "__main__":
    main()
