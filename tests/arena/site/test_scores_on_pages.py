from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from arena.container import Arena
from arena.settings import Settings
from data.models import EMBEDDED_ENGINE
from judges.metrics.relations.model import scorer_of
from tests.arena.conftest import play, quiet, settings_of, write_lines
from tests.opened_pages import html_of, page_of

PASSAGES = [
    {"id": "p1", "title": "Guide", "text": "The Alder bridge was opened in 1960. It is 330 metres long."},
    {"id": "p2", "title": "Chronicle", "text": "The Alder bridge was opened in 1970 after long delays."},
    {"id": "p3", "title": "Toll office", "text": "Crossing the Alder bridge costs four euros for cars."},
    {"id": "p4", "title": "Leaflet", "text": "The Alder bridge was opened in 1960 by the mayor."},
]
QUESTION = {
    "id": "b-1",
    "domain": "bridges",
    "question": "When was the Alder bridge opened, how long is it and what does crossing it cost?",
    "reference": "The Alder bridge was opened in 1960. It is 330 metres long. Crossing it costs four euros.",
    "passages": PASSAGES,
    "aspects": ["opening of the Alder bridge in 1960", "toll for crossing the Alder bridge in euros"],
    "sub_questions": [
        "When was the Alder bridge opened?",
        "How long is the Alder bridge in metres?",
        "What does crossing the Alder bridge cost for cars?",
    ],
}
ANSWERS = {
    "whole": (
        "The Alder bridge was opened in 1960. It is 330 metres long. Cars cross it for four euros.",
        [PASSAGES[0], PASSAGES[2]],
    ),
    "late": ("The Alder bridge was opened in 1970. It is 530 metres long. <script>alert(1)</script>", None),
    "narrow": ("The Alder bridge was opened in 1960.", [PASSAGES[0], PASSAGES[3]]),
}


@pytest.fixture(scope="module")
def bridges(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Published round with conflicting passages, aspects, sub-questions, and contexts of two systems."""
    folder = tmp_path_factory.mktemp("bridges")
    (folder / "set").mkdir()
    (folder / "set" / "set.toml").write_text(
        'name = "bridges"\ntitle = "Bridges"\nreference_name = "human"\n[domains]\nbridges = "Bridges"\n'
    )
    questions = [{**QUESTION, "id": f"b-{number}"} for number in (1, 2)]
    write_lines(folder / "set" / "questions.jsonl", questions)
    settings = settings_of(folder)
    arena = Arena(settings)
    arena.sets.import_from(folder / "set")
    for system, (text, contexts) in ANSWERS.items():
        row = {"answer": text} if contexts is None else {"answer": text, "contexts": contexts}
        rows = [{"question_id": question["id"], **row} for question in questions]
        arena.submissions.add(write_lines(folder / f"{system}.jsonl", rows), "bridges", system=system)
    play(arena, "bridges", set_name="bridges")
    arena.boards.publish("bridges", report=quiet, score=True)
    arena.close()
    return settings


def opened(settings: Settings, name: str, **query: str) -> AppTest:
    page = page_of(settings, name, board="bridges", **query).run()
    assert not page.exception
    return page


@pytest.fixture
def html_of_page(bridges: Settings) -> Callable[..., str]:
    def show(name: str, **query: str) -> str:
        page = opened(bridges, name, **query)
        html = html_of(page)
        return html + "\n" + "\n".join(element.value for element in page.text)

    return show


def test_question_page_shows_claims_with_passages_for_and_against(html_of_page: Callable[..., str]) -> None:
    html = html_of_page("questions.question_page", id="b-1", part="answers")
    assert 'class="aa-for' in html
    assert 'class="aa-open' in html
    assert "not confirmed: probability that the claim is true" in html
    assert scorer_of("", EMBEDDED_ENGINE).sentence in html.replace("&#x27;", "'").replace("&#39;", "'")
    assert re.search(r"supported by p2 \(.*; contradicted by p1 \(.*, p4 \(", html)
    assert "contradicted by p1" in html
    assert "<strong>against, p1: </strong>" in html
    assert "&lt;script&gt;" in html


def test_question_page_compares_facts_of_answers(html_of_page: Callable[..., str]) -> None:
    html = html_of_page("questions.question_page", id="b-1", part="facts")
    assert len(re.findall(">[✓–]</span>", html)) >= 3 * len(ANSWERS)
    assert 'title="whole: covered"' in html
    assert 'title="narrow: not covered"' in html
    assert "Facts covered" in html_of_page("questions.question_page", id="b-1", part="answers")


def test_system_page_separates_retrieval_from_writing(html_of_page: Callable[..., str]) -> None:
    narrow = html_of_page("systems.system_page", id="narrow", part="facts")
    assert "Lost in retrieval" in narrow
    assert "33.3 %" in narrow
    late = html_of_page("systems.system_page", id="late", part="facts")
    assert "Not available. The answer file has no contexts" in late


def test_system_page_shows_means_missed_facts_and_doubtful_claims(html_of_page: Callable[..., str]) -> None:
    means = html_of_page("systems.system_page", id="late", part="domains")
    for label in ("Comprehensiveness", "Factual precision (lexical)", "Aspects", "Sub-questions"):
        assert f'<th scope="col"><span class="aa-turned">{label}</span></th>' in means
    assert "10,000 resamples" in means
    html = html_of_page("systems.system_page", id="late", part="facts")
    assert "– Crossing the Alder bridge costs four euros for cars." in html
    assert "of 3 other answers" in html
    assert 'href="./question?board=bridges&amp;id=b-1"' in html
