"""Questions that a stranger brings, answered by following nothing but the words on the pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urldefrag

import pytest
from selenium.webdriver.common.by import By

from arena.container import Arena
from data.models import JobState
from tests.arena.browser.conftest import Stage

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("form")]

MOST_CHANGES = 4
QUESTION = (
    "Why do bond prices fall when interest rates go up, and is the loss real if I simply wait until the bond "
    "matures?"
)
IN_TWO_CLICKS = {
    "who leads, and is it sure": ((), r"meridian leads, and surely: the battles separate it"),
    "is B better than C": (("More of slipshod",), r"partisan\n9 won, 0 tied, 9 lost"),
    "where does C lose": (("pithy",), r"Biomedical\s+96 %\s+72 to 100 %"),
    "may I trust the judge": (("Trust and method",), r"Does it decide as people do\?\s+Not calibrated"),
    "what changed": ((), r"What changed since spring\nRank changed beyond chance: meridian from 3–4 to 1"),
    "what does a question depend on": (("Questions", QUESTION), r"answered it best: it won \d of its \d"),
    "download": (("Download",), r"CSV\s+JSON\s+Parquet"),
    "how do I enter": (("Submit",), r"Sign in to check and submit a file"),
}
# What can be chosen and has these words, without those of icons and hidden meanings; the first after a text.
CHOICE = """
const [words, after] = arguments;
const said = (node) => {
  const copy = node.cloneNode(true);
  copy.querySelectorAll("[data-testid=stIconMaterial], .aa-tip, style").forEach((part) => part.remove());
  return copy.textContent.replace(/\\s+/g, " ").trim();
};
const chosen = "a, button, summary, label, [role=tab], [role=radio], [role=menuitem]";
const texts = [...document.querySelectorAll("p, h1, h2, h3, div, span, th, td")];
const start = after && texts.findLast((node) => node.checkVisibility() && said(node) === after);
if (after && !start) return null;
const follows = (node) => !start || start.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING;
const offers = (node) => node.checkVisibility() && !node.disabled && follows(node) && said(node) === words;
return [...document.querySelectorAll(chosen)].find(offers) || null;
"""


class Stranger:
    """Somebody who knows no address: they read what a page shows, and choose words that stand on it."""

    def __init__(self, stage: Stage) -> None:
        self._stage, self._visitor = stage, stage.visitor
        self.changes = 0
        """How often a link led them to another page; signing in is not counted."""
        self._visitor.go("/healthz")
        self._visitor.driver.delete_all_cookies()
        stage.look("light")
        self._visitor.go("/")
        stage.settle()

    def choose(self, words: str, *, after: str = "") -> None:
        """Choose what has these words: the first of the page, or the first after a text."""
        before = self._address()
        is_link = False

        def click() -> bool:
            nonlocal is_link
            node = self._visitor.driver.execute_script(CHOICE, words, after)
            if node is not None:
                is_link = node.tag_name == "a"
                self._visitor.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", node)
                node.click()
            return node is not None

        self._visitor.until(click, f"nothing to choose says {words!r}")
        if is_link:
            self._visitor.until(lambda: self._address() != before, f"{words!r} leads nowhere")
            self.changes += "/auth/" not in self._address()
        self._stage.settle()

    def reads(self, pattern: str) -> str:
        """Wait until the page says something, and return it."""
        found: list[str] = []

        def look() -> bool:
            match = re.search(pattern, self._visitor.text)
            found[:] = [match.group()] if match else []
            return match is not None

        self._visitor.until(look, f"{pattern!r} did not appear", seconds=30)
        return found[0]

    def signs_in(self, token: str) -> None:
        """From any page to the form, and in."""
        self.choose("Sign in")
        self._visitor.driver.find_element(By.CSS_SELECTOR, "input:not([type=hidden])").send_keys(token)
        self._visitor.button("Sign in")
        self._visitor.until(lambda: "/auth/" not in self._address(), "signing in did not end")
        self._stage.settle()

    def _address(self) -> str:
        return str(urldefrag(self._visitor.driver.current_url).url)


@pytest.fixture
def stranger(stage: Stage) -> Iterator[Stranger]:
    """Somebody at the start page, who needs at most four pages for what they came for."""
    somebody = Stranger(stage)
    yield somebody
    assert somebody.changes <= MOST_CHANGES


@pytest.mark.parametrize("wish", IN_TWO_CLICKS)
def test_two_clicks_answer(stranger: Stranger, wish: str) -> None:
    """Each of the eight tasks of a fresh reader is done by at most two clicks from the board."""
    clicks, answer = IN_TWO_CLICKS[wish]
    for words in clicks:
        stranger.choose(words)
    stranger.reads(answer)


def test_which_system_is_best_for_finance_and_is_it_certain(stranger: Stranger) -> None:
    """The domain's name shows who leads in it, and whether the lead is significant."""
    stranger.choose("Finance")
    said = stranger.reads(r"\S+ leads in Finance[^,]*, (?:not surely|and surely): the battles [^.]*\.")
    assert said.startswith("meridian")


def test_why_did_a_system_lose_a_question(stranger: Stranger) -> None:
    """From the system to its lost question, to the battle that is explained."""
    stranger.choose("pithy")
    stranger.choose(QUESTION)
    stranger.choose("pithy – reference")
    stranger.reads(r"reference beats pithy\.")
    stranger.reads(r"The judge held both answers against the passages\. pithy: coverage")
    stranger.reads(r"Only reference covers \d+")


def test_may_i_trust_this_judge(stranger: Stranger) -> None:
    """The strip leads to a page that asks the questions of a judge's worth and answers each."""
    stranger.choose("Trust and method")
    stranger.reads(r"May I trust this judge\?")
    for question, answer in (
        ("Does it decide as people do", "Not calibrated"),
        ("Have people checked this board", r"Not checked by people\. There are no votes"),
    ):
        stranger.reads(rf"{question}\?\s+{answer}")


def test_launch_a_round_under_five_dollars(stage: Stage, stranger: Stranger) -> None:
    """An organiser plans with a cap, reads what it costs, and launches: workers find it in the queue."""
    stranger.signs_in(stage.showcase.organiser)
    stranger.choose("Plan a round")
    visitor = stage.visitor
    visitor.choose("Judge", "reference-free")
    visitor.write("Cap in USD", "5")
    visitor.write("Name of the round", "launched")
    stranger.choose("Plan")
    costs = stranger.reads(r"[\d.]+ USD")
    assert float(costs.removesuffix(" USD")) < 5
    visitor.tick("Judge 72 battles")
    stranger.choose("Launch")
    stranger.reads("place 2 in the queue")
    arena = Arena(stage.showcase.settings)
    try:
        launched, _ = arena.rounds.status("launched")
        assert launched.budget_usd == 5
        job = arena.jobs.of_round(launched.id)
        assert job is not None
        assert job.job.state is JobState.QUEUED
    finally:
        arena.close()
