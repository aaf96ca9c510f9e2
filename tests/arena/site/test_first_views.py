"""What documents begin with: the page as it was drawn last, for those who are signed in nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from arena.services.accounts.sessions import COOKIE
from arena.settings import Settings
from arena.site.app import _Routes
from arena.site.first_views import FRESH, MOST_CHARACTERS, Address, FirstViews, first_views, is_public
from arena.site.services import as_secrets, opened
from data.errors import StoreError

WEB = Path(__file__).parents[3] / "arena" / "site"
EVIL = "<script>alert(1)</script>"
HOME = Address.of("", [("board", "tiny"), ("domain", "d1")])


@pytest.fixture
def views(published: Settings) -> Iterator[FirstViews]:
    """The views of the published boards' site, none at first."""
    first_views.cache_clear()
    yield first_views(opened(as_secrets(published)))
    first_views.cache_clear()


@pytest.fixture
def open_home(
    published: Settings, monkeypatch: pytest.MonkeyPatch, views: FirstViews
) -> Callable[..., AppTest]:
    """Open the leaderboard with parameters, with or without a cookie: `open_home(domain="d1")`."""

    def open_page(cookies: tuple[str, ...] = (), **query: str) -> AppTest:
        monkeypatch.setattr(ContextProxy, "cookies", property(lambda _self: dict.fromkeys(cookies, "x")))
        page = AppTest.from_file(WEB / "main.py", default_timeout=30)
        page.secrets.update({key: dict(value) for key, value in as_secrets(published).items()})
        page.query_params.update(query)
        return page.run()

    assert views.of(HOME) == ""
    return open_page


@pytest.fixture
def client(published: Settings) -> Iterator[TestClient]:
    """A browser without scripts."""
    with TestClient(Starlette(routes=_Routes(published).all())) as found:
        yield found


def test_the_next_document_begins_with_what_the_page_showed(
    open_home: Callable[..., AppTest], client: TestClient
) -> None:
    """Whoever opens an address after another visitor has its texts in the document, in any order."""
    assert "first-view" not in client.get("/?board=tiny&domain=d1").text
    open_home(board="tiny", domain="d1")
    text = client.get("/?domain=d1&board=tiny").text
    begun = text[text.index('id="first-view"') : text.index('<div id="root">')]
    assert begun.count("<h1>Leaderboard</h1>") == 1
    assert "leads in One" in begun
    assert "<script" not in begun
    assert "aa-footer" in begun
    assert "first-view" not in client.get("/?board=tiny&domain=d2").text


@pytest.mark.parametrize("cookie", [COOKIE, "_streamlit_user", "_streamlit_user_1"])
def test_whoever_is_signed_in_neither_leaves_a_view_nor_gets_one(
    open_home: Callable[..., AppTest], client: TestClient, views: FirstViews, cookie: str
) -> None:
    """A page that somebody sees who is signed in stays theirs, and they see no page of the public's."""
    assert not is_public(["theme", cookie])
    open_home(cookies=(cookie,), board="tiny", domain="d1")
    assert views.of(HOME) == ""
    open_home(board="tiny", domain="d1")
    assert views.of(HOME)
    client.cookies.set(cookie, "x")
    assert "first-view" not in client.get("/?board=tiny&domain=d1").text


def test_only_the_first_run_of_a_visit_is_kept(open_home: Callable[..., AppTest], views: FirstViews) -> None:
    """What somebody chose on a page is no view of its address."""
    page = open_home(board="tiny")
    next(one for one in page.button_group if one.label == "Domain").set_value("d1").run()
    assert views.of(HOME) == ""


def test_a_view_holds_until_something_changes_or_time_goes_by() -> None:
    """A board that is published or taken down, or ten minutes, end every view that was kept before."""
    state, now = ["one board"], [0.0]
    views = FirstViews(lambda: tuple(state), lambda: now[0])
    views.keep(HOME, "<p>as it was</p>", tuple(state))
    assert views.of(HOME) == "<p>as it was</p>"
    state.append("another board")
    assert views.of(HOME) == ""
    views.keep(HOME, "<p>as it is</p>", tuple(state))
    now[0] = FRESH
    assert views.of(HOME) == "<p>as it is</p>"
    now[0] = FRESH + 1
    assert views.of(HOME) == ""


def test_views_take_no_more_memory_than_they_may() -> None:
    """Those that nobody has asked for the longest make room; one that is kept again counts once."""
    views = FirstViews(lambda: 0)
    page = "x" * (MOST_CHARACTERS // 4)
    addresses = [Address.of(f"page-{number}", ()) for number in range(5)]
    for address in addresses[:4]:
        views.keep(address, page, 0)
        views.keep(address, page, 0)
    assert all(views.of(address) for address in addresses[:4])
    assert views.of(addresses[0])
    views.keep(addresses[4], page, 0)
    assert [bool(views.of(address)) for address in addresses] == [True, False, True, True, True]


def test_an_address_that_nobody_opens_again_is_not_kept() -> None:
    """Long searches take no place."""
    assert Address.of("questions", [("words", "rate of interest")]).is_kept
    assert not Address.of("questions", [("words", "x" * 300)]).is_kept


def _script() -> None:
    import streamlit as st  # noqa: PLC0415 - AppTest runs this function as a script of its own

    from arena.site.first_views import Address  # noqa: PLC0415 - as above
    from arena.site.ui.markup import element, put  # noqa: PLC0415 - as above

    evil = st.session_state["evil"]
    with st.session_state["views"].recorded(Address.of("page", ())):
        put(element("p", f"A table {evil}", class_="aa-lead"))
        st.text(f"An answer {evil}")
        left, right = st.columns((2, 1))
        left.button(f"A button {evil}", icon=":material/download:")
        right.selectbox(f"A list {evil}", ["first", "second"], index=1)
        with st.expander(f"Closed {evil}"):
            st.text("behind a click")
        with st.expander("Open", expanded=True):
            st.text("in sight")
        for tab, text in zip(st.tabs(["One", f"Two {evil}"]), ("first tab", "second tab"), strict=True):
            tab.text(text)
        with st.container(key="corner", horizontal=True, border=True):
            st.checkbox(f"A box {evil}")
            st.radio(f"A choice {evil}", [f"Either {evil}", "or"])
            st.text_input("A field", placeholder=f"words {evil}")
        st.info(f"Said \\*plainly\\* in [a link](./x) {evil}")
        st.code(f"arena {evil}")
        st.empty().text("gone").empty()
        if st.session_state["breaks"]:
            st.error("Try again in a moment.")


def _drawn(*, breaks: bool = False, stops: bool = False, state_of: Callable[[], object] = lambda: 0) -> str:
    views = FirstViews(state_of)
    page = AppTest.from_function(_stopping if stops else _script, default_timeout=30)
    page.session_state["views"], page.session_state["evil"] = views, EVIL
    page.session_state["breaks"] = breaks
    assert not page.run().exception
    assert page.text
    return views.of(Address.of("page", ()))


def _stopping() -> None:
    import streamlit as st  # noqa: PLC0415 - AppTest runs this function as a script of its own

    from arena.site.first_views import Address  # noqa: PLC0415 - as above

    with st.session_state["views"].recorded(Address.of("page", ())):
        st.text("half of it")
        st.stop()


def test_a_view_has_the_texts_of_a_page_and_no_markup_of_others() -> None:
    """Texts, labels and what is chosen are there, escaped; what is behind a click or another tab is not."""
    html = _drawn()
    assert EVIL not in html
    assert html.count("&lt;script&gt;") == 12
    for text in ("A table", "An answer", "A button", "A list", "second", "Closed", "in sight", "first tab"):
        assert text in html
    for text in ("behind a click", "second tab", "gone", ":material/"):
        assert text not in html
    assert "Said *plainly* in a link" in html
    assert "st-key-corner" in html


def test_a_page_that_failed_or_broke_off_leaves_no_view() -> None:
    """An error may be gone at the next visit, and half a page is none."""
    assert _drawn(breaks=True) == ""
    assert _drawn(stops=True) == ""


def test_a_page_is_shown_where_the_database_cannot_be_asked() -> None:
    """What a view rests on is not known then, so there is none; the page itself says what is wrong."""

    def unavailable() -> object:
        raise StoreError("The database does not answer.")

    assert _drawn(state_of=unavailable) == ""
