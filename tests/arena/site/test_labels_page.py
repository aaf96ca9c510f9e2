from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from arena.api.dependencies import Rates
from arena.container import Arena
from arena.services.accounts.tokens import COOKIE
from arena.site import labels_page
from tests.arena.conftest import play
from tests.opened_pages import page_of


@pytest.fixture
def arena(filled: Callable[..., Arena]) -> Arena:
    arena = filled()
    play(arena, publish=True, pairs="complete:12")
    return arena


def opened(arena: Arena, monkeypatch: pytest.MonkeyPatch, cookie: str = "") -> AppTest:
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda _self: {COOKIE: cookie}))
    page = page_of(arena.settings, "labels_page").run()
    assert not page.exception
    return page


def shown(page: AppTest) -> str:
    html = "".join(one.proto.body for one in page.get("html"))
    return html + "\n".join(str(one.value) for kind in (page.text, page.error) for one in kind)


def test_closed_page_says_how_to_be_invited(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(arena, monkeypatch)
    assert "No round is open" in shown(page)
    assert not page.button


def test_visitor_labels_and_is_limited(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    arena.labels.open("r", everybody=True)
    rates = Rates(requests=2, intakes=2)
    monkeypatch.setattr(labels_page, "RATES", rates)
    page = opened(arena, monkeypatch)
    assert "no name and no address" in shown(page)
    for _ in range(3):
        page.button(key="label-a").click().run()
    assert "as many labels as one may" in shown(page)
    assert list(arena.labels.show("r")["people"].values()) == [2]
