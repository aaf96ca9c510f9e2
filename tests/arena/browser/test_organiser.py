from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.site.pages import pages
from data.models import TokenScope
from tests.arena.conftest import answers_file, settings_of, write_set
from tests.browsing import Visitor
from tests.scripted_llm import ScriptedLLM
from tests.served import ROOT, environment_of, program, reader, serving_by

QUICK, SLOW = 0.1, 8.0
REFRESHED = 2.0
"""Seconds between two refreshes of a round's figures."""
PLACE = """
const [said, after] = [".aa-told", "#standing"].map(selector => document.querySelector(selector));
return said.compareDocumentPosition(after);
"""
PRECEDING = 2
"""Result of `compareDocumentPosition` for an earlier element."""

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclass(frozen=True, kw_only=True)
class Office:
    """Served arena without a worker, and an organiser's browser."""

    home: Path
    hands: Visitor
    endpoint: ScriptedLLM
    worker: Callable[[str], subprocess.Popen[bytes]]


@pytest.fixture
def office(tmp_path: Path, scripted_llm: Callable[..., ScriptedLLM]) -> Iterator[Office]:
    """Serve an arena to the organiser Ada, who is signed in; stop workers at the end."""
    home, endpoint = tmp_path / "home", scripted_llm(latency=QUICK)
    arena = Arena(settings_of(home))
    arena.teams.add_account("Ada", is_organiser=True, caller=OPERATOR)
    made = arena.tokens.create(name="site", scopes=[TokenScope.ORGANISE], account="Ada", caller=OPERATOR)
    arena.close()
    variables = {
        **environment_of(arena.settings),
        "ARENA_LEASE": "4",
        "OPENAI_BASE_URL": endpoint.url,
        "OPENAI_API_KEY": "none",
    }
    running: list[subprocess.Popen[bytes]] = []

    def worker(name: str) -> subprocess.Popen[bytes]:
        command = [str(program()), "worker", "--name", name]
        with (tmp_path / f"log-{name}").open("wb") as log:
            running.append(subprocess.Popen(command, env=variables, cwd=ROOT, stdout=log, stderr=log))
        return running[-1]

    hands = reader()
    with serving_by("--no-worker", log=tmp_path / "log", start=None, **variables) as hands.site:
        hands.size(1440)
        hands.go("/admin-rounds")
        hands.see("Sign in as an organiser")
        hands.sign_in(made.secret)
        hands.see("Signed in as")
        yield Office(home=home, hands=hands, endpoint=endpoint, worker=worker)
    for process in running:
        process.terminate()
        process.wait(timeout=30)
    for log in tmp_path.glob("log-*"):
        assert "Traceback" not in log.read_text(), log.read_text()


def test_organiser_runs_round_in_browser(office: Office, tmp_path: Path) -> None:
    hands, home = office.hands, office.home
    _bring(hands, write_set(tmp_path), tmp_path / "tiny.zip")
    _hand_in(home, tmp_path)
    _calibrate_and_cancel(hands, tmp_path / "labels.jsonl")
    worker = office.worker("first")
    _test_a_judge(hands)
    _plan_and_launch(hands, office.endpoint, home)
    hands.see("\nfirst")
    hands.button("Pause")
    hands.find("[class*='aa-told']", "The round is paused")
    time.sleep(3 * REFRESHED)
    assert "The round is paused" in hands.find(".aa-told")
    assert hands.driver.execute_script(PLACE) & PRECEDING
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait(timeout=10)
    assert _one(home, "SELECT COUNT(*) FROM battle WHERE outcome IS NULL") > 0
    office.endpoint.script = replace(office.endpoint.script, latency=QUICK)
    hands.button("Resume")
    hands.see("place 1 in the queue")
    office.worker("second")
    hands.see("finished: 24 of 24 battles judged", seconds=120)
    assert _one(home, "SELECT COUNT(*) FROM battle WHERE outcome = 'judged'") == 24
    _publish_and_retract(hands)
    _find_every_page_on_a_phone(hands)


def _find_every_page_on_a_phone(hands: Visitor) -> None:
    hands.size(390)
    hands.go("/admin")
    hands.see("Waiting for you")
    assert "Board retracted" not in hands.text
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
    """Without a worker, the job waits until it is cancelled."""
    row = {"id": "1", "domain": "x", "question": "Q?", "answer_a": "a b", "answer_b": "a", "label": "a"}
    labels.write_text(json.dumps(row) + "\n")
    hands.go("/admin-judges")
    hands.see("No judge has been calibrated yet")
    hands.upload(labels)
    hands.button("Calibrate")
    hands.see("Spending: cap 5.00 USD")
    hands.button("Cancel")
    hands.see("The job was cancelled")


def _test_a_judge(hands: Visitor) -> None:
    """The worker tries the judge, and the page shows the reply and its cost."""
    hands.go("/admin-judges")
    hands.see("three demo battles")
    hands.choose("Judge", "reference-free")
    hands.button("Test")
    hands.see("3 of 3 battles have a verdict", seconds=60)
    hands.see("time per reply")


def _plan_and_launch(hands: Visitor, endpoint: ScriptedLLM, home: Path) -> None:
    """Launch a round by following only visible words, once the plan is complete."""
    hands.go("/")
    hands.click("//*[@data-testid='stTopNavSection'][contains(., 'Organise')]")
    hands.click("//*[@data-testid='stTopNavDropdownLink'][contains(., 'Organise rounds')]")
    hands.see("New round")
    hands.choose("Judge", "reference-free")
    hands.write("Name of the round", "spring")
    hands.button("Plan")
    hands.see("the round has no cap")
    hands.see("is not calibrated")
    hands.see("The round can be launched once every item marked as needed is done.")
    hands.tick("Judge 24 battles")
    assert hands.driver.find_elements("xpath", "//button[@disabled][contains(., 'Launch')]")
    hands.write("Cap in USD", "5")
    # Slow enough to be interrupted.
    endpoint.script = replace(endpoint.script, latency=SLOW)
    hands.choose("Answer order", "both")
    hands.see("plan again")
    hands.button("Plan")
    hands.gone("plan again")
    assert _one(home, "SELECT COUNT(*) FROM round") == 0
    hands.tick("Judge 24 battles")
    hands.button("Launch")
    hands.see("Round launched")
    hands.see("cap 5.00 USD")
    assert _one(home, "SELECT COUNT(*) FROM round WHERE budget_usd = 5") == 1


def _publish_and_retract(hands: Visitor) -> None:
    hands.tick("Preview the board")
    hands.see("As it would be published")
    hands.tick("First score the answers")
    hands.button("Publish")
    hands.see("Open the board")
    hands.go("/?board=spring")
    hands.see("How it was computed")
    hands.go("/admin-rounds?round=spring")
    hands.write("Notice to readers", "A prompt was wrong.", tag="textarea")
    hands.tick("I understand: take it down")
    hands.button("Retract")
    hands.see("A prompt was wrong.")


def _hand_in(home: Path, folder: Path) -> None:
    arena = Arena(settings_of(home))
    for system, template in (("half", "Item {n} is {word}."), ("whole", "{n} is {word}, {weight} grams.")):
        arena.submissions.add(answers_file(folder, system, template), "tiny", system=system)
    arena.close()


def _one(home: Path, query: str) -> int:
    with closing(sqlite3.connect(home / "arena.sqlite")) as connection:
        return int(connection.execute(query).fetchone()[0])
