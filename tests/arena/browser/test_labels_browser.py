"""Labelling in a browser by keys alone: two people, a hundred pairs, an adjudicator, the corrected board."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.annotation.requests import TaskRequest
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from data.records import TokenScope
from tests.browsing import CHROMIUM, DRIVER, PATIENCE, Visitor, open_browser

ROOT = Path(__file__).parents[3]
PAIRS = 100
DISPUTED = 5
REST = 0.2
TEXTS = ("Item {n} is red.", "Item {n} is red, and it weighs {n} grams at noon.")
# On one question in four the system that says less elsewhere says more, so that both can be rated.
MOSTLY = {"half": 0, "whole": 1}
TURNED = 4

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(1_800),
    pytest.mark.skipif(
        CHROMIUM is None or DRIVER is None,
        reason="SKIPPED, LABELLING IS NOT TESTED IN A BROWSER: install chromium, chromium-driver",
    ),
]


@pytest.fixture
def labelling(tmp_path: Path) -> Iterator[tuple[Arena, dict[str, str]]]:
    """An arena with a task of a hundred pairs, an organiser, two people, and their tokens."""
    folder = tmp_path / "many"
    folder.mkdir()
    (folder / "set.toml").write_text('name = "many"\ntitle = "Many"\n[domains]\nd = "D"\n')
    rows = [
        {
            "id": f"q{n}",
            "domain": "d",
            "question": f"What is item {n}?",
            "passages": [
                {"id": f"p{n}", "text": f"Item {n} is red. It weighs {n} grams at noon."},
                {"id": f"o{n}", "text": "Another one."},
            ],
        }
        for n in range(PAIRS)
    ]
    (folder / "questions.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    home = tmp_path / "home"
    arena = Arena(Settings(home=home, database_url=f"sqlite:///{home / 'arena.sqlite'}"))
    arena.sets.import_from(folder)
    for system, text in MOSTLY.items():
        file = tmp_path / f"{system}.jsonl"
        texts = (TEXTS[text if n % TURNED else 1 - text].format(n=n) for n in range(PAIRS))
        lines = (json.dumps({"question_id": f"q{n}", "answer": each}) for n, each in enumerate(texts))
        file.write_text("".join(f"{line}\n" for line in lines))
        arena.submissions.add(file, "many", system=system)
    tokens = {}
    for name in ("olga", "ann", "bob"):
        arena.teams.add_account(name, is_organiser=name == "olga", caller=OPERATOR)
        scope = TokenScope.ORGANISE if name == "olga" else TokenScope.READ
        tokens[name] = arena.tokens.create(name=name, scopes={scope}, account=name, caller=OPERATOR).secret
    request = TaskRequest(
        name="people", set_name="many", systems=("half", "whole"), overlap=2, annotators=("ann", "bob")
    )
    arena.annotation.open(request, caller=OPERATOR)
    yield arena, tokens
    arena.close()


@pytest.fixture
def site(labelling: tuple[Arena, dict[str, str]], program: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a running site over it."""
    settings = labelling[0].settings
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,  # noqa: TID251 - of the command
        "ARENA_HOME": str(settings.home),
        "ARENA_DATABASE_URL": settings.database_url,
    }
    with (tmp_path / "log").open("wb") as log:
        command = [str(program), "serve", "--no-worker", "--port", str(port)]
        process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            httpx.get(f"{address}/healthz", timeout=5).raise_for_status()
            break
        except httpx.HTTPError:
            time.sleep(0.2)
    yield address
    process.terminate()
    process.wait(timeout=30)
    assert "Traceback" not in (tmp_path / "log").read_text()


class Keyboard(Visitor):
    """Somebody at a browser who has no mouse."""

    def see(self, text: str, *, seconds: float = PATIENCE) -> None:
        """Wait until the page shows a text and has come to rest."""
        super().see(text, seconds=seconds)
        self.rest()
        # A page that names its choice in the address runs twice; a key in between would be for nobody.
        time.sleep(REST)
        super().see(text, seconds=seconds)
        self.rest()

    def answer(self, place: int | str) -> str:
        """The text of an answer."""
        return self.find(f".st-key-prose-answer-{place}")

    def choose(self, label: str, option: str) -> None:
        """Choose from a list by typing what is wanted."""
        box = f"//*[@data-testid='stSelectbox'][.//label[normalize-space()='{label}']]//input"
        self.type(box, option + Keys.ENTER)
        self.rest()

    def push(self, button: str) -> None:
        """Press a button by the space bar."""
        self.type(f"//button[contains(., '{button}') and not(@disabled)]", Keys.SPACE)


@pytest.fixture
def keyboard(site: str) -> Iterator[Keyboard]:
    """A browser without a window, as narrow as a phone."""
    driver = open_browser()
    driver.set_window_size(420, 1400)
    yield Keyboard(driver, site)
    driver.quit()


def _label(keyboard: Keyboard, token: str, tied: set[str]) -> None:
    """Prefer the longer answer everywhere but on some questions, which are tied."""
    keyboard.sign_in(token)
    keyboard.see("Before you begin")
    assert "What is item" not in keyboard.text
    keyboard.press("a")
    for done in range(PAIRS):
        keyboard.see(f"{done} of {PAIRS}")
        question = keyboard.find(".st-key-question-text")
        longer = "1" if len(keyboard.answer(1)) > len(keyboard.answer(2)) else "5"
        keyboard.press("3" if any(f"item {n}?" in question for n in tied) else longer)
    keyboard.see("Nothing is left for you here")


def test_hundred_pairs_are_labelled_and_adjudicated_without_a_mouse(
    labelling: tuple[Arena, dict[str, str]], keyboard: Keyboard
) -> None:
    """Two people by keys alone, on a phone's width; an adjudicator decides what they dispute, by keys too."""
    arena, tokens = labelling
    tied = {str(n) for n in range(DISPUTED)}
    _label(keyboard, tokens["ann"], set())
    _label(keyboard, tokens["bob"], tied)
    quality = arena.curation.quality("people", caller=OPERATOR)
    assert (quality.labels, quality.complete, len(quality.disputed)) == (2 * PAIRS, PAIRS, DISPUTED)
    keyboard.sign_in(tokens["olga"])
    keyboard.go("/admin-annotation?task=people")
    for left in range(DISPUTED, 0, -1):
        keyboard.see(f"Labelled items without a majority: {left}")
        longer = "1" if len(keyboard.answer("a")) > len(keyboard.answer("b")) else "5"
        keyboard.press(longer)
    keyboard.see("The item is adjudicated.")
    quality = arena.curation.quality("people", caller=OPERATOR)
    assert quality.disputed == ()
    preferred = {
        result.item.question_id: result.item.system_b if result.result == "b" else result.item.system_a
        for result in quality.items
    }
    assert preferred == {f"q{n}": "whole" if n % TURNED else "half" for n in range(PAIRS)}

    arena.rounds.create(RoundRequest(set_name="many", judge="lexical", pairs="all", name="many"))
    arena.rounds.run("many", concurrency=2, report=lambda _progress: None)
    arena.boards.publish("many", report=lambda _line: None, score=False)
    keyboard.go("/admin-rounds?round=many")
    keyboard.see("Not checked by people")
    keyboard.choose("Votes of people", "labels of the task people")
    keyboard.push("Publish the correction")
    keyboard.see("The corrected board is published")
    keyboard.go("/?board=many&says=people")
    keyboard.see("corrected by 200 votes of 2 people")
    keyboard.see("How far each system moves")


def test_every_action_has_a_key(labelling: tuple[Arena, dict[str, str]], keyboard: Keyboard) -> None:
    """Passages, comment, skip with a reason, back, change, next: by keys; saved at every step."""
    arena, tokens = labelling
    keyboard.sign_in(tokens["ann"])
    keyboard.see("Before you begin")
    keyboard.press("a")
    keyboard.see(f"0 of {PAIRS}")
    keyboard.press("p")
    keyboard.see("Another one.")
    keyboard.press("p")
    keyboard.see("Show the passages (2)")
    keyboard.press("n")
    keyboard.see("Label this one first, or skip it.")
    keyboard.press("m")
    keyboard.see("Comment (kept with your label)")
    field = keyboard.driver.find_element(By.TAG_NAME, "textarea")
    field.send_keys("1 of the two says more.", Keys.TAB)
    keyboard.see("Comment (kept with your label)")
    # Keys do nothing while one writes: nothing is labelled yet.
    assert arena.store.labels.given(1) == ()
    keyboard.driver.execute_script("document.activeElement.blur()")
    keyboard.press("1")
    keyboard.see(f"1 of {PAIRS}")
    keyboard.press("b")
    keyboard.see("Saved: Answer 1 is better.")
    (label,) = arena.store.labels.given(1)
    assert label.comment == "1 of the two says more."
    keyboard.driver.execute_script("document.activeElement.blur()")
    keyboard.press("4")
    keyboard.see(f"1 of {PAIRS}")
    keyboard.press("s")
    keyboard.see("Why do you skip it?")
    keyboard.press("1")
    keyboard.see(f"2 of {PAIRS}, 1 of them skipped")
    given = arena.store.labels.given(1)
    assert sorted((abs(label.value or 0), label.skip_reason) for label in given) == [
        (0, "I do not know enough about it"),
        (1, None),
    ]
    # Every button and field has a name for a screen reader, and what happened is announced.
    names = keyboard.driver.execute_script(
        "return [...document.querySelectorAll('button, input, textarea')].filter(e => e.offsetParent)"
        ".map(e => e.innerText || e.ariaLabel || (e.labels && e.labels[0] && e.labels[0].innerText) || '')"
    )
    assert all(names)
    assert keyboard.driver.find_elements(By.CSS_SELECTOR, "[role=status]")
