from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from arena.container import Arena
from arena.services.accounts.auth import PUBLIC, Caller, CallerKind
from arena.site.services import as_secrets
from data.models import Role, TokenScope
from tests.arena.conftest import ADA
from tests.opened_pages import html_of
from tests.private_texts import EVERY, OURS, PASSAGE, QUESTION, marks_in, private_round

pytestmark = pytest.mark.slow
TEAM = Caller(
    kind=CallerKind.SESSION, name="a", roles=(("alpha", Role.MEMBER),), scopes=frozenset({TokenScope.READ})
)
PAGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("boards.leaderboard_page", {}),
    ("boards.matrix_page", {}),
    ("boards.data_page", {}),
    ("boards.trust_page", {}),
    ("questions.list_page", {}),
    ("questions.list_page", {"words": QUESTION}),
    ("questions.question_page", {"id": "q1"}),
    ("questions.question_page", {"id": "q1", "part": "answers"}),
    ("compare.compare_page", {"a": "ours", "b": "theirs"}),
    ("systems.system_page", {"id": "ours"}),
)


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    arena, _ = private_round(tmp_path_factory.mktemp("private"))
    yield arena
    arena.close()


@pytest.fixture
def seen(private: Arena, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Everything that a page sends to a user: `seen(TEAM, "questions.question_page", id="q1")`."""

    def look(caller: Caller, name: str, **query: str) -> str:
        st.cache_data.clear()
        st.cache_resource.clear()
        monkeypatch.setattr("arena.site.queries.present", lambda: caller)
        page = AppTest.from_string(
            f"import importlib\nfrom arena.site.ui.messages import guarded\n"
            f"guarded(importlib.import_module('arena.site.{name}').show)",
            default_timeout=60,
        )
        page.secrets.update({key: dict(value) for key, value in as_secrets(private.settings).items()})
        page.query_params.update(board="first", **query)
        page.run()
        assert not page.exception
        return f"{page.main!r} {page.sidebar!r}" + html_of(page)

    return look


def test_pages_hide_private_texts_from_visitors(seen: Callable[..., str]) -> None:
    for name, query in PAGES:
        assert not marks_in(seen(PUBLIC, name, **query)), name


def test_pages_explain_what_is_not_public(seen: Callable[..., str]) -> None:
    for name in ("questions.list_page", "questions.question_page", "compare.compare_page"):
        html = seen(PUBLIC, name, id="q1", a="ours", b="theirs")
        assert "The texts of tiny are not public" in html, name
        assert "public_texts = false" in html, name


def test_team_sees_questions_and_its_own_answers(seen: Callable[..., str]) -> None:
    html = seen(TEAM, "questions.question_page", id="q1", part="answers")
    assert marks_in(html) == {QUESTION, PASSAGE, OURS}
    assert "the answers of your team" in html
    assert marks_in(seen(ADA, "questions.question_page", id="q1", part="answers")) == set(EVERY)


def test_session_shows_nothing_of_previous_session(
    monkeypatch: pytest.MonkeyPatch, seen: Callable[..., str]
) -> None:
    assert marks_in(seen(ADA, "questions.question_page", id="q1")) >= {QUESTION, PASSAGE}
    monkeypatch.setattr(st.cache_data, "clear", lambda: None)
    monkeypatch.setattr(st.cache_resource, "clear", lambda: None)
    assert not marks_in(seen(PUBLIC, "questions.question_page", id="q1"))
    assert marks_in(seen(ADA, "questions.question_page", id="q1")) >= {QUESTION, PASSAGE}
