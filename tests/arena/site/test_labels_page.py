from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.runtime.context import ContextProxy

from arena.api.dependencies import Rates
from arena.container import Arena
from arena.site import labels_page
from tests.arena.conftest import play
from tests.opened_pages import html_of, page_of


def test_visitor_labels_and_is_limited(filled: Callable[..., Arena], monkeypatch: pytest.MonkeyPatch) -> None:
    arena = filled()
    play(arena, publish=True, pairs="complete:12")
    arena.labels.open("r", everybody=True)
    monkeypatch.setattr(labels_page, "RATES", Rates(requests=2, intakes=2))
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda _self: {}))
    page = page_of(arena.settings, "labels_page").run()
    assert not page.exception
    assert "but no name or address" in html_of(page)
    for _ in range(3):
        page.button(key="label-a").click().run()
    assert "the limit of labels per hour" in page.error[0].value
    assert list(arena.labels.show("r")["people"].values()) == [2]
