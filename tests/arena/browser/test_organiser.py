from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from arena.site.pages import pages
from data.models import TokenScope
from tests.arena.conftest import answers_file, write_set
from tests.browsing import PATIENCE, Visitor
from tests.scripted_llm import ScriptedLLM
from tests.served import program, reader

ROOT = Path(__file__).parents[3]
QUICK, SLOW = 0.1, 8.0
REFRESHED = 2.0
"""Seconds between two refreshes of a round's figures."""
PLACE = """
const [said, after] = [".aa-told", "#standing"].map(selector => document.querySelector(selector));
return said.compareDocumentPosition(after);
"""
PRECEDING = 2
"""Answer of a browser about an element that stands before another."""

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def token(home: Path) -> str:
    arena = Arena(Settings(home=home, database_url=f"sqlite:///{home / 'arena.sqlite'}"))
    arena.teams.add_account("Ada", is_organiser=True, caller=OPERATOR)
    made = arena.tokens.create(name="site", scopes=[TokenScope.ORGANISE], account="Ada", caller=OPERATOR)
    arena.close()
    return made.secret


@pytest.fixture
def endpoint(scripted_llm: Callable[..., ScriptedLLM]) -> ScriptedLLM:
    return scripted_llm(latency=QUICK)


@pytest.fixture
def start(
    home: Path, token: str, endpoint: ScriptedLLM, tmp_path: Path
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
        command = [str(program()), *words]
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
def hands(start: Callable[..., subprocess.Popen[bytes]], token: str) -> Visitor:
    """A browser that is signed in as an organiser, on a site without a worker of its own."""
    walk = reader()
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
    hands = Visitor(walk.driver, site)
    hands.size(1440)
    hands.go("/admin-rounds")
    hands.see("Sign in as an organiser")
    hands.sign_in(token)
    hands.see("Signed in as")
    return hands


def test_organiser_runs_a_round_in_the_browser_alone(
    hands: Visitor,
    start: Callable[..., subprocess.Popen[bytes]],
    endpoint: ScriptedLLM,
    home: Path,
    tmp_path: Path,
) -> None:
    _bring(hands, write_set(tmp_path), tmp_path / "tiny.zip")
    _hand_in(home, tmp_path)
    _calibrate_and_cancel(hands, tmp_path / "labels.jsonl")
    worker = start("worker", "--name", "first")
    _test_a_judge(hands)
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
    hands.see("finished: 100 %", seconds=120)
    assert _one(home, "SELECT COUNT(*) FROM battle WHERE outcome = 'judged'") == 24
    _publish_and_retract(hands)


def test_a_round_under_5_usd_is_launched_by_following_visible_words(
    hands: Visitor, home: Path, tmp_path: Path
) -> None:
    _bring(hands, write_set(tmp_path), tmp_path / "tiny.zip")
    _hand_in(home, tmp_path)
    hands.go("/")
    hands.click("//*[@data-testid='stTopNavSection'][contains(., 'Organise')]")
    hands.click("//*[@data-testid='stTopNavDropdownLink'][contains(., 'Organise rounds')]")
    hands.see("New round")
    hands.choose("Judge", "reference-free")
    hands.button("Plan")
    hands.see("the round has no cap")
    hands.see("was not calibrated")
    hands.see("The round can be launched once what is needed above is there.")
    hands.tick("Judge 24 battles")
    assert hands.driver.find_elements("xpath", "//button[@disabled][contains(., 'Launch')]")
    hands.write("Cap in USD", "5")
    hands.button("Plan")
    hands.gone("the round has no cap")
    hands.tick("Judge 24 battles")
    hands.button("Launch")
    hands.see("The round is launched and waits for a worker.")
    hands.see("cap 5.00 USD")
    assert _one(home, "SELECT COUNT(*) FROM round WHERE budget_usd = 5") == 1
    hands.go("/admin")
    hands.see("Rounds under way")


def test_what_was_done_is_said_where_it_was_done(hands: Visitor, home: Path, tmp_path: Path) -> None:
    _bring(hands, write_set(tmp_path), tmp_path / "tiny.zip")
    _hand_in(home, tmp_path)
    arena = Arena(Settings(home=home, database_url=f"sqlite:///{home / 'arena.sqlite'}"))
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="spring"))
    arena.close()
    hands.go("/admin-rounds?round=spring")
    hands.button("Resume")
    hands.find("[class*='aa-told']", "The round is resumed and waits for a worker.")
    hands.button("Pause")
    hands.find("[class*='aa-told']", "The round is paused")
    time.sleep(3 * REFRESHED)
    assert "The round is paused" in hands.find(".aa-told")
    assert hands.driver.execute_script(PLACE) & PRECEDING
    hands.go("/admin-people")
    hands.see("Add an account")
    assert "The round is paused" not in hands.text


def test_no_page_is_hidden_from_an_organiser_on_a_phone(hands: Visitor) -> None:
    hands.size(390)
    hands.go("/admin")
    hands.see("Waiting for you")
    hands.click("//*[@data-testid='stExpandSidebarButton']")
    hands.see("People")
    for name, page in pages().items():
        if page.menu is not None and name not in {"", "label"}:
            hands.find("[data-testid=stSidebarNav]", page.title)


def _bring(hands: Visitor, set_folder: Path, packed: Path) -> None:
    with zipfile.ZipFile(packed, "w") as archive:
        for file in set_folder.iterdir():
            archive.write(file, f"tiny/{file.name}")
    hands.go("/admin-data")
    hands.see("There are no sets yet")
    hands.upload(packed)
    hands.button("Import")
    hands.see("tiny: 12 questions, imported")


def _calibrate_and_cancel(hands: Visitor, labels: Path) -> None:
    """No worker is there yet, so that the job waits until it is cancelled."""
    row = {"id": "1", "domain": "x", "question": "Q?", "answer_a": "a b", "answer_b": "a", "label": "a"}
    labels.write_text(json.dumps(row) + "\n")
    hands.go("/admin-judges")
    hands.see("Nothing has been calibrated yet")
    hands.upload(labels)
    hands.button("Calibrate")
    hands.see("Spending: cap 5.00 USD")
    hands.button("Cancel")
    hands.see("Somebody cancelled it")


def _test_a_judge(hands: Visitor) -> None:
    """The worker tries the judge, and the page shows what it replied and what it cost."""
    hands.go("/admin-judges")
    hands.see("Three battles of the demo")
    hands.choose("Judge", "reference-free")
    hands.button("Test")
    hands.see("3 of 3 battles have a verdict", seconds=60)
    hands.see("time of a reply")


def _try_and_launch(hands: Visitor, endpoint: ScriptedLLM, home: Path) -> None:
    hands.go("/admin-rounds")
    hands.choose("Judge", "reference-free")
    hands.write("Cap in USD", "5")
    hands.write("Name of the round", "spring")
    hands.button("Plan")
    hands.see("Launch")
    assert _one(home, "SELECT COUNT(*) FROM round") == 0
    # Slowly enough to be cut off.
    endpoint.script = replace(endpoint.script, latency=SLOW)
    hands.choose("Answer order", "both")
    hands.see("plan again")
    hands.button("Plan")
    hands.gone("plan again")
    hands.tick("Judge 24 battles")
    hands.button("Launch")


def _publish_and_retract(hands: Visitor) -> None:
    hands.tick("Preview the board")
    hands.see("As it would be published")
    hands.tick("Score the answers")
    hands.button("Publish")
    hands.see("Open the board")
    hands.go("/?board=spring")
    hands.see("How it was computed")
    hands.go("/admin-rounds?round=spring")
    hands.write("Notice for readers, if it is retracted", "A prompt was wrong.", tag="textarea")
    hands.tick("Take it down for everybody")
    hands.button("Retract")
    hands.see("A prompt was wrong.")


def _hand_in(home: Path, folder: Path) -> None:
    arena = Arena(Settings(home=home, database_url=f"sqlite:///{home / 'arena.sqlite'}"))
    for system, template in (("half", "Item {n} is {word}."), ("whole", "{n} is {word}, {weight} grams.")):
        arena.submissions.add(answers_file(folder, system, template), "tiny", system=system)
    arena.close()


def _one(home: Path, query: str) -> int:
    connection = sqlite3.connect(home / "arena.sqlite")
    try:
        return int(connection.execute(query).fetchone()[0])
    finally:
        connection.close()
