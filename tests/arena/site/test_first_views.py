"""What documents begin with: what the page of their address says, for those who are signed in nowhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from arena.container import Arena
from arena.services.accounts.sessions import COOKIE
from arena.settings import Settings
from arena.site.app import _Routes
from arena.site.boards import leaderboard_page
from arena.site.first_views import FRESH, FirstViews, is_public
from arena.site.pages import pages
from arena.site.services import as_secrets, opened
from data.errors import NotFoundError

WEB = Path(__file__).parents[3] / "arena" / "site"
EVIL = "<script>alert(1)</script>"
PUBLIC = [page for page in pages() if page not in {"report", "rank"} and not page.startswith("admin")]
NAMED = {"system": {"id": "short"}, "question": {"id": "q4", "part": "answers"}}
FURTHER = [
    ("", {"domain": "d1"}),
    ("", {"ratings": "length"}),
    ("", {"sort": "words", "find": "o"}),
    ("", {"board": "rag-qa-arena"}),
    ("system", {"id": "human"}),
    ("system", {"board": "rag-qa-arena", "id": "LFRQA"}),
    ("question", {"id": "q3", "part": "facts"}),
    ("compare", {"a": "short", "b": "hostile"}),
    ("questions", {"domain": "d1"}),
    ("questions", {"words": "item"}),
]
SAID = re.compile(r"<(h1|h2|h3|p|td|th|li|dt|dd|caption|summary|pre)\b[^>]*>(.*?)</\1>", re.DOTALL)
CONTROL = re.compile(
    r'<div class="aa-asked".*?</span></div>|<(nav|p) class="aa-(?:tabbed|folded)".*?</\1>', re.DOTALL
)


@pytest.fixture(scope="module")
def views(published: Settings) -> FirstViews:
    """The first views of the published boards."""
    return FirstViews(opened(as_secrets(published)))


@pytest.fixture
def page_of(published: Settings, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """All that a page says to a visitor, as words."""
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda _self: {}))

    def open_page(page: str, query: dict[str, str]) -> str:
        script = (
            "import streamlit as st\n"
            "from arena.site.pages import pages\n"
            "from arena.site.ui.errors import guarded\n"
            f"guarded(pages()[{page!r}].run)\n"
        )
        app = AppTest.from_string(script, default_timeout=60)
        app.secrets.update({key: dict(value) for key, value in as_secrets(published).items()})
        app.query_params.update(query)
        app.run()
        assert not app.exception
        return _words("".join(found.proto.body for found in app.get("html")))

    return open_page


@pytest.fixture
def client(published: Settings) -> Iterator[TestClient]:
    """A browser without scripts."""
    with TestClient(Starlette(routes=_Routes(published).all())) as found:
        yield found


def _words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", html)))


@pytest.mark.parametrize(
    ("page", "query"), [*((page, NAMED.get(page, {})) for page in PUBLIC), *FURTHER], ids=str
)
def test_first_view_has_the_texts_of_the_page(
    views: FirstViews, page_of: Callable[..., str], page: str, query: dict[str, str]
) -> None:
    """What a document begins with stands on the page too, word for word; markup of others is text in both."""
    address = {"board": "tiny", **query}
    view = views.of(page, address.items())
    assert view.count("<h1") == 1
    assert EVIL not in view
    body = CONTROL.sub("", view[view.index("</header>") : view.index('<footer class="aa-footer"')])
    said = [text for _, html in SAID.findall(body) if (text := _words(html).strip())]
    assert said
    shown_there = page_of(page, address)
    assert [text for text in said if text not in shown_there] == []


@pytest.mark.parametrize("page", PUBLIC)
def test_every_public_document_begins_with_its_page(client: TestClient, page: str) -> None:
    """A heading, what the page says, and the footer are there before a script runs, at the first visit."""
    query = {"board": "tiny", **NAMED.get(page, {})}
    text = client.get(f"/{page}", params=query).text
    begun = text[text.index('id="first-view"') : text.index('<div id="root">')]
    assert begun.count("<h1") == 1
    assert "<script" not in begun
    assert "aa-footer" in begun
    assert not page or page in NAMED or f"<h1>{pages()[page].title}</h1>" in begun


COMMAND = re.compile(
    r"\barena (?:rank|demo|rounds|sets|submissions|metrics|labels|leaderboard|questions|teams)\b"
)
OWN_WORDS = re.compile(r"<(p|dd|h1|h2|h3|summary|caption)\b[^>]*>(.*?)</\1>", re.DOTALL)
MOST_WORDS = 20
STATISTICS = ("inflation", "condition number", "bootstrap", "sandwich", "bradley-terry strength")


@pytest.mark.parametrize("page", PUBLIC)
def test_public_pages_speak_to_visitors(views: FirstViews, page: str) -> None:
    """Sentences of at most 20 words, no command of a shell, and statistics' words with the method alone."""
    view = views.of(page, [("board", "tiny"), *NAMED.get(page, {}).items()])
    body = CONTROL.sub("", view[: view.index('<footer class="aa-footer"')])
    texts = [_words(html).strip() for _, html in OWN_WORDS.findall(body)]
    assert [text for text in texts if COMMAND.search(text)] == []
    sentences = [one for text in texts for one in re.split(r"(?<=[.?!:;]) ", text)]
    assert [one for one in sentences if len(one.split()) > MOST_WORDS] == []
    if page not in {"trust", "methodology"}:
        assert [text for text in texts if any(word in text.lower() for word in STATISTICS)] == []


def test_choices_of_a_first_view_are_links(views: FirstViews) -> None:
    """Domains and ratings can be chosen before the page is whole, and what is chosen is marked."""
    view = views.of("", {"board": "tiny", "domain": "d1"}.items())
    assert '<a href="./?board=tiny&amp;domain=d1" target="_self" aria-current="true">One</a>' in view
    assert '<a href="./?board=tiny" target="_self">Overall</a>' in view
    assert "ratings=length" in views.of("", {"board": "tiny"}.items())


def test_every_first_view_has_the_menu(views: FirstViews) -> None:
    """Before scripts the main menu is there, of links that work at once, and marks the page that is open."""
    head = views.of("data", {"board": "tiny"}.items()).partition("</header>")[0]
    found = r'<a href="\./([^"]*)" target="_self"( aria-current="page")? data-title="([^"]*)">'
    links = re.findall(found, head)
    titles = ["Board", "Questions", "Trust and method", "Data", "Submit"]
    assert [title for _, _, title in links[:5]] == titles
    assert [name for name, marked, _ in links[:5] if marked] == ["data"]
    assert "<summary>More</summary>" in head
    assert {"rounds", "about"} <= {name for name, _, _ in links}
    assert not {"compare", "matrix", "methodology", "admin"} & {name for name, _, _ in links}


def test_the_sole_owner_is_signed_in_from_the_start(published: Settings) -> None:
    """Who alone reaches the arena is signed in: the footer names the owner, and the menu has their pages."""
    view = FirstViews(Arena(replace(published, sole_owner=True))).of("about", ())
    assert "Signed in as owner" in view
    assert "Sign in<" not in view
    assert "./admin" in view


@pytest.mark.parametrize("cookie", [COOKIE, "_streamlit_user", "_streamlit_user_1"])
def test_whoever_is_signed_in_gets_no_first_view(client: TestClient, cookie: str) -> None:
    """Whoever is signed in sees their own page alone."""
    assert not is_public(["theme", cookie])
    client.cookies.set(cookie, "x")
    assert "first-view" not in client.get("/?board=tiny").text


@pytest.mark.parametrize(
    ("page", "query"), [("", {"board": "none"}), ("system", {"id": "nobody"}), ("question", {"id": "q999"})]
)
def test_what_does_not_exist_has_no_first_view(
    views: FirstViews, client: TestClient, page: str, query: dict[str, str]
) -> None:
    """An address with an unknown name is left to the page, which says so."""
    with pytest.raises(NotFoundError):
        views.of(page, query.items())
    assert "first-view" not in client.get(f"/{page}", params=query).text


def test_pages_of_organisers_and_long_searches_have_none(views: FirstViews) -> None:
    """What depends on who looks, and what hardly anybody opens again, begins empty."""
    assert views.of("admin", ()) == ""
    assert views.of("report", ()) == ""
    assert views.of("question", ()) == ""
    assert views.of("questions", [("words", "x" * 300)]) == ""


def test_an_arena_without_boards_has_no_first_view_of_them(tmp_path: Path) -> None:
    """Where nothing is published the page says what to do."""
    arena = Arena(Settings(home=tmp_path, database_url=f"sqlite:///{tmp_path / 'arena.sqlite'}"))
    assert FirstViews(arena).of("", ()) == ""
    assert "<h1>About</h1>" in FirstViews(arena).of("about", ())
    arena.close()


def test_a_view_is_made_once_until_something_changes_or_time_goes_by(
    published: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry of the audit log, such as of a change of rights, or ten minutes, end every view."""
    made: list[str] = []
    now = [0.0]

    def look() -> str:
        made.append("once more")
        return made[-1]

    monkeypatch.setattr(leaderboard_page, "look", look)
    arena = opened(as_secrets(published))
    views = FirstViews(arena, lambda: now[0])
    for _ in range(2):
        views.of("", {"board": "tiny", "domain": "d1"}.items())
        views.of("", {"domain": "d1", "board": "tiny"}.items())
    assert len(made) == 1
    now[0] = FRESH
    views.of("", {"board": "tiny", "domain": "d1"}.items())
    assert len(made) == 2
    monkeypatch.setattr(type(arena.boards), "heads", lambda _self: ())
    views.of("", {"board": "tiny", "domain": "d1"}.items())
    assert len(made) == 3
