"""Take pictures of every page in three looks: light and dark on a desk (1440 px), and on a phone (390 px).

    python benchmarks/screenshots.py FOLDER [--only NAME] [--odd | --url http://127.0.0.1:8501 [--token aa_…]]

With --odd the boards of `tests/odd_boards.py` are taken, in both themes at 360, 390 and 1440 px.
Without --url an arena is made for the occasion in which every page has something to show, and each page is
taken as those see it whom it is for: the public, a team, an organiser. With --url that site is
taken as `arena demo` fills it: the public pages, or with a token those behind the sign-in, as its owner sees
them. The list of pages is the site's own.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from urllib.parse import parse_qsl

from selenium import webdriver
from site_server import free_port, wait_for

sys.path.append(str(Path(__file__).parents[1]))

from arena.settings import Settings
from arena.site.app import _Routes
from tests import odd_boards
from tests.browsing import Visitor, open_browser
from tests.page_checks import is_still
from tests.showcase import NAMES, prepare
from tests.site_views import DEMO, View, Who, page_views, plain_views

LOOKS = (("light", 1440), ("dark", 1440), ("light", 390))
ODD_LOOKS = tuple((scheme, width) for scheme in ("light", "dark") for width in (360, 390, 1440))
TALLEST = 12_000
PATIENCE = 20.0
"""Seconds that a page may take to come to rest."""


def take_all(
    url: str,
    folder: Path,
    views: Sequence[View],
    tokens: Mapping[Who, str],
    only: str = "",
    looks: Sequence[tuple[str, int]] = LOOKS,
) -> None:
    """Take every picture into a folder, each as the owner of the token of whom the page is for."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [view for view in views if only in _name(view)]
    for who in Who:
        mine = [view for view in wanted if view.who is who]
        if mine:
            driver = open_browser()
            try:
                if who in tokens:
                    Visitor(driver, url).sign_in(tokens[who])
                _take_views(driver, url, folder, mine, looks)
            finally:
                driver.quit()


def _take_views(
    driver: webdriver.Chrome, url: str, folder: Path, views: Sequence[View], looks: Sequence[tuple[str, int]]
) -> None:
    for scheme, width in looks:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        for view in views:
            path = folder / f"{_name(view)}-{scheme}-{width}.png"
            print(f"{path}  {_take(driver, f'{url}{view.path}', width, path)}".rstrip(), flush=True)


def _name(view: View) -> str:
    """Return the page, with what its address says; no two views have one name."""
    added = (re.sub(r"\W+", "-", value).strip("-") for _, value in parse_qsl(view.path.partition("?")[2]))
    return "-".join((view.page.replace("/", "-") or "leaderboard", *added))


def _take(driver: webdriver.Chrome, url: str, width: int, path: Path) -> str:
    """Take one picture of the whole page; says whether it scrolls sideways."""
    _resize(driver, width, 900)
    driver.get(url)
    rests = _settle(driver)
    main = "(document.querySelector('[data-testid=stMain]') || document.documentElement)"
    for _ in range(2):
        height = driver.execute_script(f"return {main}.scrollHeight")
        _resize(driver, width, min(int(height) + 8, TALLEST))
        rests = _settle(driver) and rests
    sideways = driver.execute_script(f"return {main}.scrollWidth - {main}.clientWidth")
    driver.save_screenshot(str(path))
    faults = ["" if rests else "did not come to rest", f"scrolls sideways by {sideways} px" * (sideways > 0)]
    return ", ".join(filter(None, faults))


def _settle(driver: webdriver.Chrome) -> bool:
    """Wait until the page has drawn itself; False where it does not end."""
    end = time.monotonic() + PATIENCE
    while not is_still(driver):
        if time.monotonic() > end:
            return False
    return True


def _resize(driver: webdriver.Chrome, width: int, height: int) -> None:
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


@contextmanager
def _showcase() -> Iterator[tuple[str, list[View], Mapping[Who, str]]]:
    """Fill and serve an arena in a temporary home: its address, its pages, its people's tokens."""
    with tempfile.TemporaryDirectory() as folder:
        showcase = prepare(Path(folder) / "home")
        views = [*page_views(NAMES), *plain_views(NAMES, _Routes(showcase.settings).all())]
        tokens = {Who.MEMBER: showcase.member, Who.ORGANISER: showcase.organiser}
        with _served(showcase.settings) as url:
            yield url, views, tokens


@contextmanager
def _served(settings: Settings) -> Iterator[str]:
    """Serve an arena: its address."""
    port = free_port()
    command = [sys.executable, "-m", "arena", "serve", "--no-worker", "--port", str(port)]
    home = {"ARENA_HOME": str(settings.home), "ARENA_DATABASE_URL": settings.database_url}
    process = subprocess.Popen(command, env={**os.environ, **home})  # noqa: TID251 - of a process to start
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(f"{url}/healthz")
        yield url
    finally:
        process.terminate()
        process.wait(timeout=20)


def main() -> None:
    """Read the command line and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url", help="a site that is served already")
    parser.add_argument("--only", default="", help="part of the name of the pages to take")
    parser.add_argument("--token", default="", help="of somebody who signs in there")
    parser.add_argument("--odd", action="store_true", help="boards as they seldom are, at 360 px too")
    arguments = parser.parse_args()
    if arguments.token and not arguments.url:
        parser.error("--token is of a site that is served already: say --url too")
    if arguments.odd:
        with tempfile.TemporaryDirectory() as home:
            served = (
                nullcontext(arguments.url)
                if arguments.url
                else _served(odd_boards.prepare(Path(home) / "home"))
            )
            with served as url:
                take_all(url, arguments.folder, odd_boards.views(), {}, arguments.only, ODD_LOOKS)
        return
    if arguments.url:
        behind = [view for view in page_views(DEMO) if (view.who is not Who.PUBLIC) is bool(arguments.token)]
        owner = dict.fromkeys(Who, arguments.token) if arguments.token else {}
        take_all(arguments.url, arguments.folder, behind, owner, arguments.only)
        return
    with _showcase() as (url, views, tokens):
        take_all(url, arguments.folder, views, tokens, arguments.only)


if __name__ == "__main__":
    main()
