from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from data.models import TokenScope
from tests.arena.conftest import answers_file, write_lines
from tests.browsing import Visitor
from tests.served import reader, served

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclass(frozen=True, kw_only=True)
class Club:
    """Served arena with the set `tiny`, and a browser signed in for the team `ours`."""

    settings: Settings
    visitor: Visitor
    theirs: str


@pytest.fixture
def club(filled: Callable[..., Arena], tmp_path: Path) -> Iterator[Club]:
    arena, log = filled(), tmp_path / "site.log"
    scopes = {TokenScope.READ, TokenScope.SUBMIT, TokenScope.MANAGE}
    tokens = []
    for team in ("ours", "theirs"):
        arena.teams.add(team, caller=OPERATOR)
        made = arena.tokens.create(name="laptop", scopes=scopes, team=team, caller=OPERATOR)
        tokens.append(made.secret)
    with served(arena.settings, log) as url:
        visitor = reader(url)
        visitor.size(1440)
        visitor.sign_in(tokens[0])
        yield Club(settings=arena.settings, visitor=visitor, theirs=tokens[1])
        visitor.driver.delete_all_cookies()
    text = log.read_text()
    assert not [token for token in tokens if token.split("_", 2)[2] in text], "a secret is in the log"


def test_team_corrects_file_and_reaches_board(club: Club, tmp_path: Path) -> None:
    ours = club.visitor
    ours.go("/submit?set=tiny")
    good = answers_file(tmp_path, "good", "Item {n} is {word}, they say.")
    bad = good.with_name("bad.jsonl")
    bad.write_text(good.read_text().replace('"q3"', '"<i>nowhere</i>"'))
    ours.upload(bad)
    assert "<i>nowhere</i>" in ours.find(".aa-claims", "unknown-question")
    assert not ours.driver.find_elements(By.XPATH, "//button[.//*[normalize-space()='Submit']]")

    ours.click("//button[contains(@aria-label, 'Remove')]")
    ours.find("[data-testid=stFileUploader]", "File with answers")
    ours.upload(good)
    ours.find("[data-testid=stAlert]", "can be submitted")
    ours.write("Name of the system", "mine", end=Keys.ENTER)
    ours.click("//button[.//*[normalize-space()='Submit']]")
    ours.find(".aa-told", "mine, version 1 (12 answers) is accepted")
    ours.click("//a[normalize-space()='Follow it on My team']")
    ours.find(".aa-state", "accepted")
    number = ours.driver.current_url.rsplit("id=", 1)[1]

    arena = Arena(club.settings)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="r"))
    ours.go(f"/team?team=ours&id={number}")
    ours.find(".aa-state", "queued")
    arena.rounds.run("r", concurrency=2, report=lambda _progress: None)
    arena.boards.publish("r", report=lambda _line: None, score=False)
    # The page refreshes itself while something is waiting.
    ours.find(".aa-state", "published")
    ours.go(f"/team?team=ours&id={number}")
    ours.follow("r")
    ours.find("h1", "mine")
    ours.find("h2", "Where it loses")

    ours.driver.delete_all_cookies()
    ours.sign_in(club.theirs)
    ours.go(f"/team?team=ours&id={number}")
    assert "mine" not in ours.find("[data-testid=stMain]", "Nothing has been submitted yet")
    arena.close()


LARGE = 40 * 1024 * 1024


def test_large_file_is_accepted_and_larger_one_refused(club: Club, tmp_path: Path) -> None:
    """The page accepts 40 MiB and refuses files above the limit; files keep their names."""
    ours = club.visitor
    ours.go("/submit?set=tiny")
    contexts = [{"id": f"c{number}", "text": "river stone " * 8_000} for number in range(37)]
    rows = [{"question_id": f"q{n}", "answer": f"Item {n} it is.", "contexts": contexts} for n in range(12)]
    large = write_lines(tmp_path / "my large file (1).jsonl", rows)
    assert large.stat().st_size > LARGE
    ours.upload(large)
    ours.find("[data-testid=stAlert]", "This file can be submitted")
    assert not list((club.settings.uploads_folder / "browser").glob("*")), "a checked file was not deleted"

    ours.go("/submit?set=tiny")
    limit = club.settings.max_upload_mb
    larger = tmp_path / "larger.jsonl"
    with larger.open("wb") as file:
        file.truncate((limit + 1) * 1024 * 1024)
    ours.upload(larger)
    ours.find("[data-testid=stFileUploader]", f"File must be {limit}.0MB or smaller")

    ours.go("/submit?set=tiny")
    other = tmp_path / "my answers (1).csv"
    other.write_text("a,b\n1,2\n")
    ours.upload(other)
    assert "There is no column question_id" in ours.find(".aa-claims", "'a', 'b'")
