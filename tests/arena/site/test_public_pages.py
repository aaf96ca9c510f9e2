from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from arena.container import Arena
from arena.services.boards.snapshot import read_board
from arena.site.boards.trust_page import WITHOUT_REFERENCE
from arena.site.questions.question_page import standing
from arena.site.services import as_secrets
from data.models import BattleEvidence, Preference
from tests.arena.conftest import play
from tests.cases import cases
from tests.opened_pages import html_of, page_of
from tests.served import published

WEB = Path(__file__).parents[3] / "arena" / "site"
EVIL = "<script>alert(1)</script>"


def visit(name: str, **query: str) -> AppTest:
    """Open a page over the published boards: `visit("systems.system_page", board="tiny", id="full")`."""
    if name != "main":
        return page_of(published(), name, **query).run()
    page = AppTest.from_file(WEB / "main.py", default_timeout=30)
    page.secrets.update({key: dict(value) for key, value in as_secrets(published()).items()})
    page.query_params.update(query)
    return page.run()


def words_of(page: AppTest) -> str:
    """Words of all HTML on a page, without marks and their figures."""
    return re.sub(r"<[^>]*>", "", re.sub(r"<sup>.*?</sup>", "", html_of(page)))


@pytest.mark.parametrize(("name", "query", "words"), cases(__file__, "SHOWN"))
def test_page_shows_its_content(name: str, query: Mapping[str, str], words: Sequence[str]) -> None:
    page = visit(name, **query)
    assert not page.exception
    html = html_of(page) + words_of(page)
    assert [text for text in words if text not in html] == []


def test_reference_with_equal_wins_is_equal() -> None:
    arena = Arena(published())
    evidence = arena.evidence.question("tiny", "q3")
    view = read_board(arena.boards.get("tiny"))
    arena.close()
    a, b, tie = Preference.A, Preference.B, Preference.TIE
    name = view.reference

    def met(one: str, other: str, preference: Preference | None) -> BattleEvidence:
        battle = replace(evidence.battles[0].battle, system_a=one, system_b=other, preference=preference)
        return BattleEvidence(battle=battle, judgments=())

    def said(*battles: BattleEvidence) -> str:
        return standing(replace(view, reference_by="people"), replace(evidence, battles=battles))

    lost = met("full", "short", a), met(name, "short", a)
    equal = "full and the human-written reference gave the best answers: each won"
    assert said(lost[0], met("full", name, a)) == "full gave the best answer: it won 2 of its 2 battles here."
    assert said(lost[1], met("full", name, b)) == (
        "The human-written reference gave the best answer: it won 2 of its 2 battles here."
    )
    assert said(*lost, met("full", name, tie)) == f"{equal} 1 of its 2 battles here."
    assert said(*lost, met("full", "hostile", tie)) == f"{equal} 1 more of its battles here than it lost."
    assert said(met("full", name, None)) == "No answer to this question was judged in this round."


def test_battle_in_url_is_selected() -> None:
    page = visit("questions.question_page", board="tiny", id="q3")
    assert len(page.selectbox[0].options) == 6
    page.selectbox[0].select_index(4).run()
    chosen = page.query_params["battle"]
    again = visit("questions.question_page", board="tiny", id="q3", battle=chosen)
    assert again.selectbox[0].value == page.selectbox[0].value


def test_user_text_is_never_markup() -> None:
    page = visit("questions.question_page", board="tiny", id="q3", part="answers")
    html = html_of(page)
    assert escape(EVIL) in html
    assert "<script" not in html
    assert "![x](http://evil.invalid/p.png)" in html
    assert "<img" not in html
    assert all("evil.invalid" not in element.value for element in page.markdown)


def test_closest_battle_is_first_and_explained() -> None:
    page = visit("questions.question_page", board="tiny", id="q3")
    assert re.findall("<h2[^>]*>([^<]*)<", html_of(page))[:2] == ["The closest battle", "Answers"]
    margins = [float(label.rpartition(" ")[2]) for label in page.selectbox[0].options]
    assert margins == sorted(margins)
    assert "best here" in html_of(page)
    sentence = page.selectbox[0].options[0].rpartition(", by")[0]
    assert f"<strong>{sentence}</strong>" in html_of(page)


def test_no_page_allows_raw_html() -> None:
    for path in WEB.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword):
                assert node.arg not in {"unsafe_allow_html", "unsafe_allow_javascript"}, path


@pytest.mark.slow
def test_questions_are_found_by_pair_and_result() -> None:
    numbers = []
    for result in ("won", "lost", "tied", "undecided"):
        page = visit("questions.list_page", board="tiny", system="full", opponent="short", result=result)
        assert not page.exception
        match = re.search(r"(\d+) of 12 questions", html_of(page))
        assert match is not None
        numbers.append(int(match[1]))
    assert sum(numbers) == 12


def test_unselected_columns_are_not_sent() -> None:
    page = visit("main", board="tiny", columns="Rating,Words", find="sho")
    table = next(element.proto.body for element in page.get("html") if "aa-standings" in element.proto.body)
    heads = re.findall(r"class=\"aa-term[^>]*>([^<]*)<", table.split("<tbody")[0])
    assert heads == ["#", "System", "Rating", "Words"]
    assert systems_of(page) == ["short"]


def test_ratings_between_systems_are_offered() -> None:
    page = visit("boards.trust_page", board="tiny")
    every = re.findall(r'<details class="aa-folded">(.*?)</details>', html_of(page), re.DOTALL)
    (sentence,) = [sentence for sentence in every if "between systems only" in sentence]
    said = f"{sentence} {words_of(page)}"
    assert "without those against human" in said
    assert WITHOUT_REFERENCE in said
    assert ">full<" in sentence
    assert ">human<" not in sentence


def systems_of(page: AppTest) -> list[str]:
    """Return the systems of the table in order, without the reference."""
    heads = r'<tbody class="aa-entrant">.*?<th scope="row"[^>]*><a[^>]*>([^<]*)</a>'
    return re.findall(heads, html_of(page), re.DOTALL)


def test_reference_is_line_without_rank() -> None:
    page = visit("main", board="tiny")
    (line,) = re.findall(r'<tbody class="aa-line">(.*?)</tbody>', html_of(page), re.DOTALL)
    assert "id=human" in line
    assert re.search(r'aa-c-rank"[^>]*>(?:<[^>]*>)*–', line)
    assert "Dashed line: the reference (human) at" in words_of(page)
    assert "aa-even" in html_of(page)


def test_boards_of_one_set_have_distinct_labels(filled: Callable[..., Arena]) -> None:
    arena = filled()
    for name in ("spring", "summer"):
        play(arena, name, publish=True)
    day = f"{arena.boards.get('spring').published_at:%Y-%m-%d}"
    page = page_of(arena.settings, "boards.leaderboard_page")
    (menu, *_) = re.findall(r'<details class="aa-menu">.*?</details>', html_of(page.run()), re.DOTALL)
    assert sorted(re.findall(r"<a [^>]*>([^<]*)<", menu)) == [
        f"A tiny set – spring, lexical, {day}",
        f"A tiny set – summer, lexical, {day}",
    ]
