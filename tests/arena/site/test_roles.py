from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.accounts.tokens import COOKIE
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from arena.site.app import SCRIPT, make_app
from arena.site.services import as_secrets
from arena.version import own_version
from data.models import Phase, Role, TokenScope
from tests.arena.conftest import mix, play, write_answers
from tests.opened_pages import html_of, page_of
from tests.served import published

FOOTER = 'class="aa-footer"'


def opened(settings: Settings, name: str, **query: str) -> AppTest:
    page = page_of(settings, name, **query)
    page.run()
    assert not page.exception
    return page


def html(page: AppTest) -> str:
    texts = "\n".join(element.value for element in page.text)
    return html_of(page) + texts


@pytest.fixture
def sign_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def enter(arena: Arena, account: str, *scopes: TokenScope) -> None:
        made = arena.tokens.create(name="site", scopes=scopes, account=account, caller=OPERATOR)
        cookie = arena.sessions.sign_in(made.secret, client="test").cookie
        monkeypatch.setattr(ContextProxy, "cookies", property(lambda _self: {COOKIE: cookie}))

    return enter


def test_only_organisers_have_overview(
    filled: Callable[..., Arena], sign_in: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    arena = filled()
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda _self: {}))
    assert "Waiting for you" not in html(opened(arena.settings, "admin.overview_page"))
    arena.teams.add_account("ben", caller=OPERATOR)
    sign_in(arena, "ben", TokenScope.READ)
    assert "Waiting for you" not in html(opened(arena.settings, "admin.overview_page"))


def test_team_page_starts_with_open_tasks(
    filled: Callable[..., Arena], sign_in: Callable[..., None], tmp_path: Path
) -> None:
    arena = filled()
    arena.teams.add("ours", caller=OPERATOR)
    arena.teams.add_account("ann", caller=OPERATOR)
    arena.teams.add_member("ours", "ann", role=Role.OWNER, caller=OPERATOR)
    end = datetime.now(UTC) + timedelta(days=3)
    phase = Phase(name="dev", closes_at=end, daily_quota=4, total_quota=9)
    arena.policies.put_phase("tiny", phase, caller=OPERATOR)
    answers = write_answers(tmp_path / "ours.jsonl", ("Item {n} is {word}.",), 12)
    arena.submissions.add(answers, "tiny", system="judged-soon", team="ours")
    other = write_answers(tmp_path / "other.jsonl", ("It is {word}.",), 12)
    arena.submissions.add(other, "tiny", system="unsent", team="ours", confirm=False)
    arena.rounds.create(
        RoundRequest(set_name="tiny", judge="lexical", systems=("judged-soon",), name="spring")
    )
    sign_in(arena, "ann", TokenScope.READ, TokenScope.SUBMIT, TokenScope.MANAGE)
    text = html(opened(arena.settings, "teams.team_page"))
    assert "Submit unsent, version 1: it passed the check but does not count yet" in text
    assert "judged-soon, version 1 is in round spring, place 1 in the queue" in text
    assert "3 of 4" in text
    assert "8 of 9" in text


def test_about_page_names_operator_and_stored_data(filled: Callable[..., Arena]) -> None:
    arena = filled()
    assert "No contact is listed" in html(opened(arena.settings, "about_page"))
    settings = replace(
        arena.settings,
        operator="The <b>lab</b>",
        contact="arena@example.org",
        privacy="https://example.org/privacy",
        docs_url="https://docs.example.org",
    )
    page = opened(settings, "about_page")
    text = html(page)
    for address in ("mailto:arena@example.org", "https://example.org/privacy", "https://docs.example.org"):
        assert f'href="{address}"' in text
    assert "Run by The <b>lab</b>." in [element.value for element in page.text]


@pytest.mark.slow
def test_footer_names_signed_in_account(filled: Callable[..., Arena], sign_in: Callable[..., None]) -> None:
    arena = filled()
    arena.teams.add_account("olga", is_organiser=True, caller=OPERATOR)
    page = AppTest.from_file(SCRIPT, default_timeout=60)
    page.secrets.update({key: dict(value) for key, value in as_secrets(arena.settings).items()})
    text = html(page.run())
    assert "Nothing is published yet" in text
    assert "Loading this page" not in text
    assert ">Sign in</a>" in text
    assert "admin-data" not in text
    sign_in(arena, "olga", TokenScope.ORGANISE)
    text = html(page.run())
    assert 'target="_self">Signed in as olga</a>' in text
    assert 'href="./admin-data"' in text


@pytest.mark.slow
def test_every_plain_page_has_footer() -> None:
    with TestClient(make_app(published())) as visitor:
        for path in ("/auth/sign-in", "/api/v1/", "/nothing/there"):
            text = visitor.get(path, headers={"Accept": "text/html"}).text
            assert text.count(FOOTER) == 1, path
            assert f"Answer Arena {own_version()}" in text
            assert "Sign in or out</a>" in text
            up = "../" * (path.count("/") - 1) or "./"
            assert f'href="{up}about"' in text, path


@pytest.mark.slow
def test_timeline_describes_changes_between_boards(filled: Callable[..., Arena], tmp_path: Path) -> None:
    arena = mix(filled(), tmp_path)
    for name, systems, seed in (("spring", ("full", "wrong"), 0), ("summer", ("full", "short"), 7)):
        play(arena, name, publish=True, systems=systems, seed=seed)
    arena.boards.put_notice("spring", "One file was corrupt.")
    lines = arena.boards.history()[0].sentences
    assert {"New: short.", "Left: wrong."} <= set(lines)
    assert any("beyond chance" in line for line in lines)
    page = html(opened(arena.settings, "boards.history_page"))
    assert [text for text in ("Left: wrong.", "One file was corrupt.") if text not in page] == []
