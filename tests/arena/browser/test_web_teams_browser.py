"""A team at the browser: from a faulty file to the report of its published submission."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.common.exceptions import ElementClickInterceptedException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from data.records import Role, TokenScope

# Streamlit may draw an element anew between finding and using it.
REDRAWN = (StaleElementReferenceException, ElementClickInterceptedException)
PATIENCE = 60

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclass(frozen=True, kw_only=True)
class Club:
    """A served arena with the set `tiny`, and the tokens of two teams."""

    url: str
    settings: Settings
    ours: str
    theirs: str


@pytest.fixture
def club(
    filled: Callable[..., Arena],
    served: Callable[[Settings, Path], AbstractContextManager[str]],
    tmp_path: Path,
) -> Iterator[Club]:
    """Serve an arena with three systems and two teams."""
    arena = filled()
    tokens = []
    for team in ("ours", "theirs"):
        arena.teams.add(team, caller=OPERATOR)
        scopes = {TokenScope.READ, TokenScope.SUBMIT, TokenScope.MANAGE}
        made = arena.tokens.create(name="laptop", scopes=scopes, team=team, caller=OPERATOR)
        tokens.append(made.secret)
    log = tmp_path / "site.log"
    with served(arena.settings, log) as url:
        yield Club(url=url, settings=arena.settings, ours=tokens[0], theirs=tokens[1])
    told = log.read_text()
    assert not [token for token in tokens if token.rsplit("_", 1)[1] in told], "a secret is in the log"


class Visitor:
    """Somebody at a browser of their own."""

    def __init__(self, driver: webdriver.Chrome, url: str) -> None:
        self.driver, self.url = driver, url

    def open(self, path: str) -> None:
        """Open a page."""
        self.driver.get(f"{self.url}{path}")

    def sign_in(self, token: str) -> None:
        """Sign in by the form."""
        self.open("/auth/sign-in")
        self.driver.find_element(By.ID, "token").send_keys(token)
        self.driver.find_element(By.CSS_SELECTOR, "button").click()
        self.sees(".aa-eyebrow", "Signed in")

    def sees(self, selector: str, text: str = "") -> str:
        """Wait until an element's text holds `text`, and return what the matching elements say."""

        def look(found: webdriver.Chrome) -> str:
            said = [one.text for one in found.find_elements(By.CSS_SELECTOR, selector)]
            return ("\n".join(said) or " ") if any(text in one for one in said) else ""

        message = f"{selector} with {text!r} did not appear on {self.driver.current_url}"
        return str(WebDriverWait(self.driver, PATIENCE, ignored_exceptions=REDRAWN).until(look, message))

    def clicks(self, path: str) -> None:
        """Click the first element of an XPath that can be clicked."""

        def click(found: webdriver.Chrome) -> bool:
            elements = [one for one in found.find_elements(By.XPATH, path) if one.is_enabled()]
            if elements:
                # Where it would lie under the bar at the top, it could not be clicked.
                found.execute_script("arguments[0].scrollIntoView({block: 'center'})", elements[0])
                elements[0].click()
            return bool(elements)

        message = f"{path} did not appear on {self.driver.current_url}"
        WebDriverWait(self.driver, PATIENCE, ignored_exceptions=REDRAWN).until(click, message)

    def drops(self, path: Path) -> None:
        """Drop a file into the page's first field for files."""
        self.sees("[data-testid=stFileUploader]", "File of answers")
        self.driver.find_elements(By.CSS_SELECTOR, "input[type=file]")[0].send_keys(str(path))

    def writes(self, label: str, text: str) -> None:
        """Fill in a field by its label."""
        field = f"//input[@aria-label={json.dumps(label)}]"
        self.clicks(field)
        self.driver.find_element(By.XPATH, field).send_keys(f"{text}\n")


@pytest.fixture
def visitor(club: Club, open_browser: Callable[[], webdriver.Chrome]) -> Iterator[Callable[[], Visitor]]:
    """Open browsers: `visitor()` is somebody new."""
    opened: list[webdriver.Chrome] = []

    def come() -> Visitor:
        opened.append(open_browser())
        return Visitor(opened[-1], club.url)

    yield come
    for driver in opened:
        driver.quit()


def test_team_goes_from_a_faulty_file_to_its_report(
    club: Club, visitor: Callable[[], Visitor], answers_file: Callable[..., Path]
) -> None:
    """Sign in, drop a file with an error, mend it, submit; once judged and published, read the report."""
    ours = visitor()
    ours.sign_in(club.ours)
    ours.open("/submit?set=tiny")
    good = answers_file("good", "Item {n} is {word}, they say.")
    bad = good.with_name("bad.jsonl")
    bad.write_text(good.read_text().replace('"q3"', '"<i>nowhere</i>"'))
    ours.drops(bad)
    assert "<i>nowhere</i>" in ours.sees(".aa-claims", "unknown-question")
    assert not ours.driver.find_elements(By.XPATH, "//button[.//*[normalize-space()='Submit']]")

    ours.clicks("//button[contains(@aria-label, 'Remove')]")
    ours.sees("[data-testid=stFileUploader]", "File of answers")
    ours.drops(good)
    ours.sees("[data-testid=stAlert]", "can be submitted")
    ours.writes("Name of the system", "mine")
    ours.clicks("//button[.//*[normalize-space()='Submit']]")
    ours.sees(".aa-told", "mine, version 1 (12 answers) is accepted")
    ours.clicks("//a[normalize-space()='Follow it on My team']")
    ours.sees(".aa-state", "accepted")
    number = ours.driver.current_url.rsplit("id=", 1)[1]

    arena = Arena(club.settings)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="r"))
    ours.open(f"/team?team=ours&id={number}")
    ours.sees(".aa-state", "queued")
    arena.rounds.run("r", concurrency=2, report=lambda _progress: None)
    arena.boards.publish("r", report=lambda _line: None, score=False)
    # The page looks again by itself while something waits.
    ours.sees(".aa-state", "published")
    ours.open(f"/team?team=ours&id={number}")
    ours.clicks("//a[normalize-space()='Read its report']")
    assert "mine" in ours.sees("h2", "mine, version 1")
    ours.sees("h2", "Its worst questions")
    ours.sees("[data-testid=stText]", "What do we know of item")

    theirs = visitor()
    theirs.sign_in(club.theirs)
    theirs.open(f"/report?id={number}")
    theirs.sees("[data-testid=stAlert]", f"There is no submission {number}")
    theirs.open("/team?team=ours")
    assert "mine" not in theirs.sees("[data-testid=stMain]", "Nothing was submitted yet")
    arena.close()


def test_sign_in_ends_with_its_token(club: Club, visitor: Callable[[], Visitor]) -> None:
    """A revoked token ends the visit at the next click; signing out does too."""
    ours = visitor()
    ours.sign_in(club.ours)
    ours.sees("[data-testid=stMain]", "Nothing was submitted yet")
    cookies = {one["name"]: one for one in ours.driver.get_cookies()}
    assert cookies["arena_session"]["httpOnly"] is True
    arena = Arena(club.settings)
    assert arena.teams.add_account("ann", caller=OPERATOR).name == "ann"
    arena.teams.add_member("ours", "ann", role=Role.OWNER, caller=OPERATOR)
    (token,) = arena.tokens.all(team="ours", caller=OPERATOR)
    arena.tokens.revoke(token.id, caller=OPERATOR)
    ours.clicks("//button[normalize-space()='Members']")
    ours.sees("[data-testid=stMain]", "Sign in to see your team")
    assert "ann" not in ours.sees("[data-testid=stMain]")
    theirs = visitor()
    theirs.sign_in(club.theirs)
    theirs.clicks("//a[normalize-space()='Sign out']")
    theirs.clicks("//button[normalize-space()='Sign out']")
    WebDriverWait(theirs.driver, PATIENCE).until(lambda found: "/auth/" not in found.current_url)
    theirs.open("/team")
    theirs.sees("[data-testid=stMain]", "Sign in to see your team")
    arena.close()


LARGE = 40 * 1024 * 1024


def test_large_file_is_taken_and_a_larger_one_is_refused_in_words(
    club: Club, visitor: Callable[[], Visitor], tmp_path: Path
) -> None:
    """E4, E6: 40 MiB are checked on the page; more than the limit is refused, and files keep their names."""
    ours = visitor()
    ours.sign_in(club.ours)
    ours.open("/submit?set=tiny")
    contexts = [{"id": f"c{number}", "text": "river stone " * 8_000} for number in range(37)]
    rows = [{"question_id": f"q{n}", "answer": f"Item {n} it is.", "contexts": contexts} for n in range(12)]
    large = tmp_path / "my large file (1).jsonl"
    large.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert large.stat().st_size > LARGE
    ours.drops(large)
    ours.sees("[data-testid=stAlert]", "This file can be submitted")
    assert [path.stat().st_size for path in (club.settings.uploads_folder / "browser").iterdir()] == [
        large.stat().st_size
    ]

    ours.open("/submit?set=tiny")
    limit = club.settings.max_upload_mb
    larger = tmp_path / "larger.jsonl"
    with larger.open("wb") as file:
        file.truncate((limit + 1) * 1024 * 1024)
    ours.drops(larger)
    told = ours.sees("[data-testid=stAlert]", "are taken")
    assert f"The file has {limit + 1:.1f} MiB; up to {limit} MiB are taken. Bring a smaller file." in told

    ours.open("/submit?set=tiny")
    other = tmp_path / "my answers (1).csv"
    other.write_text("a,b\n1,2\n")
    ours.drops(other)
    assert "my answers (1).csv looks like CSV" in ours.sees(".aa-claims", "looks like CSV")
