from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from tests.arena.conftest import write_many
from tests.opened_pages import page_of

QUESTIONS = 30
GOOD, NOTHING = "Item {n} weighs {w} grams and is blue.", "I couldn't find an answer."
PARTS = ["Questions", "Facts and claims", "Domains and scores", "Card"]


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Two published rounds: `sys` finds half of its answers, and two thirds in its second version."""
    folder = tmp_path_factory.mktemp("items")
    settings = Settings(home=folder / "home", database_url=f"sqlite:///{folder / 'arena.sqlite'}")
    arena = Arena(settings)
    arena.sets.import_from(write_many(folder / "many", QUESTIONS))
    _send(arena, folder, "sys", lambda n: NOTHING if n % 2 else GOOD)
    _send(arena, folder, "other", lambda n: "Item {n} weighs 99 grams." if n % 4 == 0 else GOOD)
    _judge(arena, "first")
    _send(arena, folder, "sys", lambda n: NOTHING if n % 3 == 0 else GOOD)
    _judge(arena, "second")
    arena.close()
    return settings


def _send(arena: Arena, folder: Path, system: str, texts: Callable[[int], str]) -> None:
    path = folder / "answers.jsonl"
    rows = [{"question_id": f"q{n:02}", "answer": texts(n).format(n=n, w=n + 10)} for n in range(QUESTIONS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arena.submissions.add(path, "many", system=system, team="alpha")


def _judge(arena: Arena, name: str) -> None:
    arena.rounds.create(RoundRequest(set_name="many", judge="lexical", pairs="all", name=name))
    arena.rounds.run(name, concurrency=2, report=lambda _progress: None)
    arena.boards.publish(name, report=lambda _line: None, score=False)


@pytest.fixture
def opened(items: Settings) -> Callable[..., AppTest]:
    def open_page(**query: str) -> AppTest:
        page = page_of(items, "systems.system_page", **query).run()
        assert not page.exception
        return page

    return open_page


def _html(page: AppTest) -> str:
    return "".join(found.proto.body for found in page.get("html"))


def _words(page: AppTest) -> str:
    return re.sub(r"<[^>]*>", " ", _html(page))


def test_verdict_comes_first_with_both_rates(opened: Callable[..., AppTest]) -> None:
    page = opened(board="second", id="sys")
    (verdict,) = re.findall(r'<p class="aa-lead">(Rank [^<]*)</p>', _html(page))
    assert re.match(
        r"Rank \d of 2 systems( \([^)]*\))?: it wins or ties [\d.]+ % of its battles against", verdict
    )
    assert "95 % interval" in verdict
    assert ". Against the other systems: " in verdict
    words = _words(page)
    assert words.index("Rank ") < words.index("Kind of question")
    assert re.findall("<h2[^>]*>([^<]*)<", _html(page))[0] == "Where it loses"


def test_losses_are_by_domain_kind_and_opponent(opened: Callable[..., AppTest]) -> None:
    words = _words(opened(board="first", id="sys"))
    assert words.index(" One ") < words.index(" Zero ")
    assert "How …" in words
    assert "What …" in words
    assert " human " in words
    assert " other " in words


def test_the_rest_stands_in_four_parts(opened: Callable[..., AppTest]) -> None:
    page = opened(board="second", id="sys")
    links = _html(page).partition('aria-label="Parts"')[2].partition("</nav>")[0]
    assert re.findall(r">([^<]*)</a>", links) == PARTS
    headers = re.findall("<h2[^>]*>([^<]*)<", _html(page))
    assert {"Lost", "Won"} <= set(headers)
    assert "System card" not in headers
    assert ">System card<" in _html(opened(board="second", id="sys", part="card"))
    unknown = opened(board="second", id="sys", part="nowhere")
    assert ">Lost<" in _html(unknown)


def test_a_system_stands_against_another(opened: Callable[..., AppTest]) -> None:
    page = opened(board="second", id="sys")
    assert 'href="./system?board=second&amp;id=sys&amp;against=other"' in _html(page)
    pair = _words(opened(board="second", id="sys", against="other"))
    assert "sys minus other, in percentage points of the win" in pair
    assert "The questions that decide it" in pair
    assert "Where it loses" not in pair


def test_strip_has_rating_and_interval(opened: Callable[..., AppTest]) -> None:
    strip = re.search(r'<dl class="aa-strip">(.*?)</dl>', _html(opened(board="second", id="sys")), re.DOTALL)
    assert strip is not None
    assert re.match(r"\s*<div><dt>Rating \(95 % interval [^)]*\)</dt><dd>−?\d+</dd>", strip[1])


def test_reference_page_has_losses(opened: Callable[..., AppTest]) -> None:
    words = _words(opened(board="second", id="human"))
    assert "Kind of question" in words
