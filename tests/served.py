"""Published boards, the program, its server and a browser, shared by the tests of a session."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from selenium import webdriver

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from data.models import EMBEDDED_ENGINE, Outcome, RoundState, Score
from tests.browsing import Visitor, open_browser
from tests.databases import ENDING
from tests.forked_arena import serving

METRIC = "comprehensiveness-nli"
PATIENCE = 60
ROOT = Path(__file__).parents[1]
FULL = "Item {n} is {word}. It weighs {weight} grams."
NOTHING = "I couldn't find an answer."
HOSTILE = "Item {n} is {word}.\n<script>alert(1)</script> ![x](http://evil.invalid/p.png) **bold** $x$"


def kept_folder() -> Path:
    """Create a folder that is deleted at the end of the session."""
    return Path(ENDING.enter_context(TemporaryDirectory()))


@cache
def published() -> Settings:
    """Home with a judged and published round named `tiny`, and the paper's board.

    `full` answers completely, `short` in part, `hostile` with markup; every answer of `full` has a
    comprehensiveness of 0.75 with one covered and one missing statement.
    """
    from tests.arena.conftest import write_answers, write_set  # noqa: PLC0415 - which imports this module

    folder = kept_folder()
    home = folder / "home"
    settings = Settings(home=home, database_url=f"sqlite:///{home / 'arena.sqlite'}")
    arena = Arena(settings)
    arena.sets.import_from(write_set(folder))
    templates = {
        "full": (NOTHING, FULL, FULL, FULL),
        "short": ("It is {word}.", "Item {n} is {word}.", FULL),
        "hostile": (HOSTILE, f"{HOSTILE} It weighs {{weight}} grams."),
    }
    for system, cycle in templates.items():
        path = write_answers(folder / f"{system}.jsonl", cycle, 12)
        arena.submissions.add(path, "tiny", system=system)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="tiny"))
    arena.rounds.run("tiny", concurrency=2, report=lambda _progress: None)
    _score(arena, "full")
    standings = arena.boards.standings("tiny").as_json()
    number = arena.store.rounds.get("tiny").id
    arena.store.boards.publish("tiny", round_id=number, standings=standings)
    arena.store.rounds.move("tiny", to=RoundState.PUBLISHED, allowed=(RoundState.FINISHED,))
    arena.boards.publish_paper()
    arena.close()
    return settings


def _score(arena: Arena, system: str) -> None:
    (submission,) = arena.store.submissions.find(set_name="tiny", system=system)
    details = {
        "engine": EMBEDDED_ENGINE,
        "covered": ["A covered statement."],
        "missing": ["A missing statement."],
    }
    batch = [
        (number, Score(id=item.id, metric=METRIC, outcome=Outcome.JUDGED, score=0.75, details=details))
        for number, item, _ in arena.store.scores.unscored({METRIC: [submission.id]}, judge="")
    ]
    arena.store.scores.put("", batch)


@cache
def program() -> Path:
    """Executable `arena`, whose commands are forks of a loaded process."""
    return ENDING.enter_context(serving(kept_folder()))


def free_port() -> int:
    """Return an unused port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def others() -> dict[str, str]:
    """Return this process's variables without those of an arena and its endpoint."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("ARENA_", "OPENAI_"))}  # noqa: TID251 - of another process


def environment_of(settings: Settings) -> dict[str, str]:
    """Return the variables of a process over an arena."""
    return {**others(), "ARENA_HOME": str(settings.home), "ARENA_DATABASE_URL": settings.database_url}


@contextmanager
def served(
    settings: Settings, log: Path, start: Callable[[str], Path] | None = None, **variables: str
) -> Iterator[str]:
    """Serve an arena by the command, and yield its address; the log goes to a file.

    `start` prepares the working folder for an address; keywords are further variables.
    """
    with serving_by("--no-worker", log=log, start=start, **environment_of(settings), **variables) as url:
        yield url


@contextmanager
def serving_by(
    *words: object, log: Path, start: Callable[[str], Path] | None = None, arena: str = "", **variables: str
) -> Iterator[str]:
    """Run `arena serve` with words and variables, and yield its address."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    cwd = start(url) if start else ROOT
    with log.open("wb") as output:
        command = [arena or str(program()), "serve", *map(str, words), "--port", str(port)]
        process = subprocess.Popen(command, env=others() | variables, cwd=cwd, stdout=output, stderr=output)
        try:
            _wait(f"{url}/healthz", process, log)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=2 * PATIENCE)
    text = log.read_text()
    assert "Traceback" not in text, text


@cache
def site() -> str:
    """Address of the published boards, served by the command."""
    return ENDING.enter_context(served(published(), kept_folder() / "log"))


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - our own address
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"{url} does not answer: {log.read_text()}")


@cache
def browser() -> webdriver.Chrome:
    """Headless browser."""
    driver = open_browser()
    ENDING.callback(driver.quit)
    return driver


def reader(url: str = "") -> Visitor:
    """Browser on a site, in a clean state."""
    browser().get("about:blank")
    return Visitor(browser(), url)
