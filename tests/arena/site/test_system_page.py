from __future__ import annotations

import re

from streamlit.testing.v1 import AppTest

from tests.opened_pages import html_of, page_of
from tests.served import published

PARTS = ["Questions", "Facts and claims", "Domains and scores", "Card"]


def opened(name: str, **query: str) -> AppTest:
    page = page_of(published(), "systems.system_page", board="tiny", id=name, **query).run()
    assert not page.exception
    return page


def _html(page: AppTest) -> str:
    return html_of(page)


def _words(page: AppTest) -> str:
    return re.sub(r"<[^>]*>", " ", _html(page))


def test_verdict_comes_first_with_both_rates() -> None:
    page = opened("full")
    (verdict,) = re.findall(r'<p class="aa-lead">(Rank [^<]*)</p>', _html(page))
    assert re.match(r"Rank 1–3 of 3 systems: it wins or ties [\d.]+ % of its battles against", verdict)
    assert "95 % interval" in verdict
    assert ". Against the other systems: " in verdict
    words = _words(page)
    assert not [text for text in (" One ", " Zero ", "What …", " human ", " short ") if text not in words]
    assert words.index("Rank ") < words.index("Kind of question")
    assert re.findall("<h2[^>]*>([^<]*)<", _html(page))[0] == "Where it loses"


def test_system_page_has_four_parts() -> None:
    page = opened("full")
    links = _html(page).partition('aria-label="Parts"')[2].partition("</nav>")[0]
    assert re.findall(r">([^<]*)</a>", links) == PARTS
    headers = re.findall("<h2[^>]*>([^<]*)<", _html(page))
    assert {"Lost", "Won"} <= set(headers)
    assert "System card" not in headers
    assert ">System card<" in _html(opened("full", part="card"))
    unknown = opened("full", part="nowhere")
    assert ">Lost<" in _html(unknown)


def test_system_is_compared_with_opponent() -> None:
    page = opened("full")
    assert 'href="./system?board=tiny&amp;id=full&amp;against=short"' in _html(page)
    pair = _words(opened("full", against="short"))
    assert "full minus short, in percentage points of win share" in pair
    assert "Questions with the largest differences" in pair
    assert "Where it loses" not in pair
