"""An organiser's day in a browser alone: import, dry run, launch, a killed worker, publish, retract."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.settings import Settings
from data.records import TokenScope

ROOT = Path(__file__).parents[3]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
PATIENCE = 60
QUICK, SLOW = 0.1, 8.0

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None or DRIVER is None,
        reason="SKIPPED, ORGANISERS' PAGES ARE NOT TESTED IN A BROWSER: install chromium, chromium-driver",
    ),
]


class Hands:
    """What somebody does in a browser; everything is waited for."""

    def __init__(self, driver: webdriver.Chrome, site: str) -> None:
        self.driver, self.site = driver, site

    def go(self, path: str) -> None:
        """Open an address of the site."""
        self.driver.get(f"{self.site}{path}")

    def see(self, text: str, *, seconds: float = PATIENCE) -> None:
        """Wait until the page says something."""

        def look(driver: webdriver.Chrome) -> bool:
            return text in driver.find_element(By.TAG_NAME, "body").text

        self._until(look, f"{text!r} did not appear", seconds)

    def gone(self, text: str) -> None:
        """Wait until it does not any more."""

        def look(driver: webdriver.Chrome) -> bool:
            return text not in driver.find_element(By.TAG_NAME, "body").text

        self._until(look, f"{text!r} did not go away", PATIENCE)

    def click(self, path: str) -> None:
        """Click the first shown element of an XPath."""

        def click(driver: webdriver.Chrome) -> bool:
            found = [one for one in driver.find_elements(By.XPATH, path) if one.is_displayed()]
            if found:
                driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", found[0])
                found[0].click()
            return bool(found)

        self._until(click, f"{path} did not appear", PATIENCE)

    def button(self, label: str) -> None:
        """Click a button that can be clicked."""
        self.click(
            f"//button[not(@disabled)][.//*[normalize-space()='{label}'] or normalize-space()='{label}']"
        )

    def tick(self, label: str) -> None:
        """Tick a box, or push a switch."""
        self.click(f"//*[@data-testid='stCheckbox']//label[contains(., \"{label}\")]")

    def write(self, label: str, text: str, *, tag: str = "input") -> None:
        """Write into a field and leave it."""
        path = f'//{tag}[@aria-label="{label}"]'
        self.click(path)
        field: WebElement = self.driver.find_element(By.XPATH, path)
        field.send_keys(text, "\t")

    def choose(self, label: str, option: str) -> None:
        """Choose in a list."""
        self.click(f"//*[@data-testid='stSelectbox'][.//label[normalize-space()='{label}']]//input")
        self.click(f"//*[@role='option'][contains(., '{option}')]")

    def upload(self, file: Path) -> None:
        """Give a file to the first upload."""

        def send(driver: webdriver.Chrome) -> bool:
            found = driver.find_elements(By.CSS_SELECTOR, "input[type=file]")
            if found:
                found[0].send_keys(str(file))
            return bool(found)

        self._until(send, "there is no upload", PATIENCE)
        self.see(file.name)

    def _until(self, look: Callable[[webdriver.Chrome], bool], message: str, seconds: float) -> None:
        wait = WebDriverWait(self.driver, seconds, ignored_exceptions=(WebDriverException,))
        try:
            wait.until(look)
        except Exception as error:
            shown = self.driver.find_element(By.TAG_NAME, "body").text
            message = f"{message} on {self.driver.current_url}:\n{shown}"
            raise AssertionError(message) from error


@pytest.fixture
def browser() -> Iterator[webdriver.Chrome]:
    """A browser without a window."""
    options = webdriver.ChromeOptions()
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-background-networking"):
        options.add_argument(f"--{argument}")
    options.add_argument("--disable-dev-shm-usage")
    options.add_argument("--window-size=1440,1400")
    options.binary_location = str(CHROMIUM)
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with an organiser's account and an empty database."""
    return tmp_path / "home"


@pytest.fixture
def token(home: Path) -> str:
    """An organiser's token."""
    arena = Arena(Settings(home=home, database_url=f"sqlite:///{home / 'arena.sqlite'}"))
    arena.teams.add_account("Ada", is_organiser=True, caller=OPERATOR)
    made = arena.tokens.create(name="site", scopes=[TokenScope.ORGANISE], account="Ada", caller=OPERATOR)
    arena.close()
    return made.secret


@pytest.fixture
def endpoint(scripted_llm: Callable[..., object]) -> Any:  # noqa: ANN401 - a ScriptedLLM, of a module loaded by path
    """A scripted LLM."""
    return scripted_llm(latency=QUICK)


@pytest.fixture
def start(
    home: Path,
    token: str,
    endpoint: Any,  # noqa: ANN401 - as above
    tmp_path: Path,
) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start `arena …` in a process of its own, with a scripted endpoint; all are stopped at the end."""
    assert token
    environment = {
        **os.environ,  # noqa: TID251 - of the command
        "ARENA_HOME": str(home),
        "ARENA_DATABASE_URL": f"sqlite:///{home / 'arena.sqlite'}",
        "ARENA_LEASE": "4",
        "OPENAI_BASE_URL": endpoint.url,
        "OPENAI_API_KEY": "none",
    }
    running: list[subprocess.Popen[bytes]] = []

    def run(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "arena", *words]
        with (tmp_path / f"log-{len(running)}").open("wb") as log:
            running.append(subprocess.Popen(command, env=environment, cwd=ROOT, stdout=log, stderr=log))
        return running[-1]

    yield run
    for process in running:
        process.terminate()
    for process in running:
        process.wait(timeout=30)
    for log in tmp_path.glob("log-*"):
        assert "Traceback" not in log.read_text(), log.read_text()


@pytest.fixture
def hands(start: Callable[..., subprocess.Popen[bytes]], browser: webdriver.Chrome, token: str) -> Hands:
    """A browser that is signed in as an organiser, on a site without a worker of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    start("serve", "--no-worker", "--port", str(port))
    site = f"http://127.0.0.1:{port}"
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{site}/healthz", timeout=2):  # noqa: S310 - our own address
                break
        except OSError:
            time.sleep(0.2)
    hands = Hands(browser, site)
    hands.go("/admin-rounds")
    hands.see("Sign in as an organiser")
    hands.go("/auth/sign-in")
    browser.find_element(By.ID, "token").send_keys(token)
    browser.find_element(By.CSS_SELECTOR, "button[type=submit]").click()
    # The answer to the form leads to a page of its own, over one that is opened before.
    hands.see("Signed in as")
    return hands


def test_organiser_runs_a_round_in_the_browser_alone(
    hands: Hands,
    start: Callable[..., subprocess.Popen[bytes]],
    endpoint: Any,  # noqa: ANN401 - as above
    home: Path,
    set_folder: Path,
    answers_file: Callable[..., Path],
    tmp_path: Path,
) -> None:
    """Import, calibrate, dry sample, launch with a cap, pause, a killed worker, resume, publish, retract."""
    _bring(hands, set_folder, tmp_path / "tiny.zip")
    _hand_in(home, answers_file)
    _calibrate_and_cancel(hands, tmp_path / "labels.jsonl")
    worker = start("worker", "--name", "first")
    _try_and_launch(hands, endpoint, home)
    hands.see("\nfirst")
    hands.button("Pause")
    hands.see("paused:")
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait(timeout=10)
    assert _one(home, "SELECT COUNT(*) FROM battle WHERE outcome IS NULL") > 0
    endpoint.script = replace(endpoint.script, latency=QUICK)
    hands.button("Resume")
    hands.see("place 1 in the queue")
    start("worker", "--name", "second")
    hands.see("finished: 100%", seconds=120)
    assert _one(home, "SELECT COUNT(*) FROM battle WHERE outcome = 'judged'") == 24
    _publish_and_retract(hands)
    hands.go("/admin-audit")
    hands.see("board-retracted")
    hands.see("set-imported")
    by_ada = "SELECT COUNT(*) FROM audit WHERE actor LIKE 'Ada%' AND action = 'board-published'"
    assert _one(home, by_ada) == 1


def test_organiser_runs_a_round_in_waves(
    hands: Hands,
    start: Callable[..., subprocess.Popen[bytes]],
    home: Path,
    set_folder: Path,
    answers_file: Callable[..., Path],
    tmp_path: Path,
) -> None:
    """Plan with a cheap judge, launch, watch the waves, and publish what was judged and what is estimated."""
    _bring(hands, set_folder, tmp_path / "tiny.zip")
    _hand_in(home, answers_file)
    hands.go("/admin-rounds")
    hands.choose("Judge", "reference-free")
    hands.choose("Pairs", "every pair on every question")
    hands.write("Cap in USD", "5")
    hands.write("Name of the round", "waves")
    hands.click("//*[@data-testid='stMultiSelect'][.//label[contains(., 'Cheap judges')]]//input")
    hands.click("//*[@role='option'][contains(., 'lexical')]")
    # The list of choices lies over the fields below it.
    hands.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    hands.see("Spend")
    hands.write("Spend", f"{Keys.CONTROL}a{Keys.NULL}14")
    hands.button("Plan")
    hands.see("Expected widths")
    hands.see("battles assumed to be even")
    hands.tick("Judge 36 battles by lexical, and some by reference-free until 14 are spent")
    hands.button("Launch")
    hands.see("place 1 in the queue")
    hands.see("none yet")
    start("worker", "--name", "first")
    hands.see("finished: 100%", seconds=120)
    hands.see("what it was to spend")
    hands.see("lexical: 36 judged")
    assert _one(home, "SELECT COUNT(*) FROM battle WHERE outcome = 'judged'") == 14
    assert _one(home, "SELECT COUNT(*) FROM battle WHERE outcome = 'estimated'") == 22
    hands.tick("Preview the board")
    hands.see("14 of 36 battles judged by reference-free, the others estimated")
    hands.tick("Score the answers")
    hands.button("Publish")
    hands.see("Open the board")
    hands.go("/?board=waves")
    hands.see("14 of 36 battles judged by reference-free, the others estimated")
    hands.see("A plain sample would have needed")


def _bring(hands: Hands, set_folder: Path, packed: Path) -> None:
    with zipfile.ZipFile(packed, "w") as archive:
        for file in set_folder.iterdir():
            archive.write(file, f"tiny/{file.name}")
    hands.go("/admin-data")
    hands.see("There are no sets yet")
    hands.upload(packed)
    hands.button("Import")
    hands.see("tiny: 12 questions, imported")


def _calibrate_and_cancel(hands: Hands, labels: Path) -> None:
    """No worker is there yet, so that the job waits until it is cancelled."""
    row = {"id": "1", "domain": "x", "question": "Q?", "answer_a": "a b", "answer_b": "a", "label": "a"}
    labels.write_text(json.dumps(row) + "\n")
    hands.go("/admin-calibration")
    hands.see("Compare judges with labels")
    hands.upload(labels)
    hands.button("Calibrate")
    hands.see("Spending: cap 5.00 USD")
    hands.button("Cancel")
    hands.see("Somebody cancelled it")


def _try_and_launch(hands: Hands, endpoint: Any, home: Path) -> None:  # noqa: ANN401 - as above
    hands.go("/admin-rounds")
    hands.choose("Judge", "reference-free")
    hands.write("Cap in USD", "5")
    hands.write("Name of the round", "spring")
    hands.button("Plan")
    hands.see("Dry sample")
    hands.button("Try 20 battles")
    hands.see("cost of the round at that")
    hands.see("cap 5.00 USD")
    # E3: the launch is confirmed at the cost that the sample measured.
    hands.see("a battle, as the dry sample of 20 measured")
    assert _one(home, "SELECT COUNT(*) FROM round") == 0
    # Both orders, so that the round asks more than the sample did, slowly enough to be cut off.
    endpoint.script = replace(endpoint.script, latency=SLOW)
    hands.choose("Answer order", "both")
    hands.see("plan again")
    hands.button("Plan")
    hands.gone("plan again")
    hands.tick("Judge 24 battles")
    hands.button("Launch")


def _publish_and_retract(hands: Hands) -> None:
    hands.tick("Preview the board")
    hands.see("no other board of this set")
    hands.tick("Score the answers")
    hands.button("Publish")
    hands.see("Open the board")
    hands.go("/?board=spring")
    hands.see("Leaderboard")
    hands.go("/admin-rounds?round=spring")
    hands.write("Notice for readers, if it is retracted", "A prompt was wrong.", tag="textarea")
    hands.button("Retract")
    hands.see("A prompt was wrong.")


def _hand_in(home: Path, answers_file: Callable[..., Path]) -> None:
    arena = Arena(Settings(home=home, database_url=f"sqlite:///{home / 'arena.sqlite'}"))
    for system, template in (("half", "Item {n} is {word}."), ("whole", "{n} is {word}, {weight} grams.")):
        arena.submissions.add(answers_file(system, template), "tiny", system=system)
    arena.close()


def _one(home: Path, query: str) -> int:
    connection = sqlite3.connect(home / "arena.sqlite")
    try:
        return int(connection.execute(query).fetchone()[0])
    finally:
        connection.close()
