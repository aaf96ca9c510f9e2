from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from arena.api.dependencies import Rates
from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.accounts.tokens import COOKIE
from arena.services.rounds.models import RoundRequest
from arena.site import labels_page
from data.models import TokenScope
from tests.opened_pages import page_of


@pytest.fixture
def arena(filled: Callable[..., Arena]) -> Arena:
    arena = filled()
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="complete:12", name="r"))
    arena.rounds.run("r", concurrency=2, report=lambda _progress: None)
    arena.boards.publish("r", report=lambda _line: None, score=False)
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


def test_invited_person_labels_pairs(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    arena.teams.add_account("ann", caller=OPERATOR)
    token = arena.tokens.create(name="ann", scopes={TokenScope.READ}, account="ann", caller=OPERATOR)
    arena.labels.open("r", ["ann"])
    page = opened(arena, monkeypatch, arena.sessions.sign_in(token.secret, client="test").cookie)
    assert [button.label for button in page.button] == [
        "A is better",
        "B is better",
        "Tie",
        "Both are bad",
        "Skip",
    ]
    assert "the name of your account" in shown(page)
    for name in ("full", "short", "wrong"):
        assert name not in shown(page)
    assert {expander.label for expander in page.expander} == {"Reference", "Passages (2)"}
    first = [text.value for text in page.text]
    page.run()
    assert [text.value for text in page.text] == first
    for key in ("a", "b", "tie", "bothbad", "skip"):
        page.button(key=f"label-{key}").click().run()
    counts = arena.labels.show("r")
    assert counts["people"] == {"ann": 5}
    assert counts["labels"]["skip"] == counts["labels"]["bothbad"] == counts["labels"]["tie"] == 1


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
