from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from html import escape, unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from arena.site.boards.sentences import name_and_model
from arena.site.boards.snapshot_reader import read_board
from arena.site.compare.compare_page import deciding_sentence
from arena.site.questions.battles import standing
from arena.site.services import as_secrets
from arena.site.trust.trust_page import LEFT_OUT
from data.models import BattleEvidence, BattleRecord, Outcome, Preference
from leaderboard.paired import Deciding
from tests.opened_pages import page_of
from tests.served import published

WEB = Path(__file__).parents[3] / "arena" / "site"
EVIL = "<script>alert(1)</script>"
MODULES = {
    "leaderboard": "boards.leaderboard_page",
}
"""Pages by their address, and the modules of `arena.site` that show them."""


@pytest.fixture
def visit() -> Callable[..., AppTest]:
    """Open a page over the published boards: `visit("systems.system_page", board="tiny", id="full")`."""

    def open_page(name: str, **query: str) -> AppTest:
        if name != "main":
            return page_of(published(), MODULES.get(name, name), **query).run()
        page = AppTest.from_file(WEB / "main.py", default_timeout=30)
        page.secrets.update({key: dict(value) for key, value in as_secrets(published()).items()})
        page.query_params.update(query)
        return page.run()

    return open_page


def html_of(page: AppTest) -> str:
    return "".join(found.proto.body for found in page.get("html"))


def words_of(page: AppTest) -> str:
    """The words of everything shown as HTML, without marks and their figures."""
    return re.sub(r"<[^>]*>", "", re.sub(r"<sup>.*?</sup>", "", html_of(page)))


def verbatim_of(page: AppTest) -> list[str]:
    return [
        unescape(text)
        for text in re.findall(r'<pre class="aa-verbatim">(.*?)</pre>', html_of(page), re.DOTALL)
    ]


def text_of(page: AppTest) -> str:
    return "\n".join(found.value for found in page.text)


def test_leaderboard_shows_ranks_ratings_and_rates(visit: Callable[..., AppTest]) -> None:
    page = visit("main")
    assert not page.exception
    shown = html_of(page)
    for system in ("full", "short", "hostile"):
        assert f'href="./system?board=tiny&amp;id={system}"' in shown
    assert "Rating" in shown
    assert "95 % interval" in shown
    assert "full leads" in shown or "human" in shown


def test_address_chooses_board_and_domain_by_id(visit: Callable[..., AppTest]) -> None:
    page = visit("main", board="rag-qa-arena", domain="fiqa")
    assert "<h1>RAG-QA Arena, as published</h1>" in html_of(page)
    assert "leads in Finance" in html_of(page)


def test_empty_database_says_what_to_do(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, database_url=f"sqlite:///{tmp_path / 'arena.sqlite'}")
    page = AppTest.from_file(WEB / "main.py", default_timeout=30)
    page.secrets.update({key: dict(value) for key, value in as_secrets(settings).items()})
    page.run()
    assert not page.exception
    assert "its organisers publish" in page.markdown[0].value
    assert "arena demo" not in page.markdown[0].value


def test_system_page_tells_what_it_lost_and_won(visit: Callable[..., AppTest]) -> None:
    page = visit("systems.system_page", board="tiny", id="full")
    assert not page.exception
    assert "<h1>full</h1>" in html_of(page)
    assert "question?board=tiny&amp;id=q" in html_of(page)
    assert "What do we know of item" in words_of(page)


def test_published_results_have_a_system_page_without_battles(visit: Callable[..., AppTest]) -> None:
    page = visit("systems.system_page", board="rag-qa-arena", id="gpt-4o")
    assert not page.exception
    assert "Biomedical" in html_of(page)
    assert "no single battles" in html_of(page)


def test_question_page_shows_answers_verdicts_and_reasons(visit: Callable[..., AppTest]) -> None:
    page = visit("questions.question_page", board="tiny", id="q3", part="answers")
    assert not page.exception
    shown = words_of(page)
    assert "What do we know of item 3" in shown
    assert "Item 3 is delta. It weighs 13 grams." in shown
    assert "Item 3 weighs 13 grams." in shown
    assert "full and the reference answered it equally well, and best" in shown
    assert "Both cover" in shown
    assert "wins" in html_of(visit("questions.question_page", board="tiny", id="q3"))


def _met(one: str, other: str, preference: Preference | None) -> BattleEvidence:
    battle = BattleRecord(
        id=1,
        key=f"{one}-{other}",
        question_id="q",
        domain="d",
        system_a=one,
        system_b=other,
        outcome=Outcome.JUDGED if preference else Outcome.FAILED,
        preference=preference,
        flipped=None,
        score=None,
        detail="",
    )
    return BattleEvidence(battle=battle, judgments=())


def test_reference_that_won_as_often_is_said_to_be_as_good() -> None:
    arena = Arena(published())
    shown = arena.evidence.question("tiny", "q3")
    view = read_board(arena.boards.get("tiny"))
    arena.close()
    a, b, tie = Preference.A, Preference.B, Preference.TIE
    name = view.reference

    def said(*battles: BattleEvidence) -> str:
        return standing(replace(view, reference_by="people"), replace(shown, battles=battles))

    lost = _met("full", "short", a), _met(name, "short", a)
    assert said(lost[0], _met("full", name, a)) == "full answered it best: it won 2 of its 2 battles here."
    assert said(lost[1], _met("full", name, b)) == (
        "The human-written reference answered it best: it won 2 of its 2 battles here."
    )
    assert said(*lost, _met("full", name, tie)) == (
        "full and the human-written reference answered it equally well, and best: "
        "each won 1 of its 2 battles here."
    )
    assert said(*lost, _met("full", "hostile", tie)) == (
        "full and the human-written reference answered it equally well, and best: "
        "each won 1 more of its battles here than it lost."
    )
    assert said(_met("full", name, None)) == "No answer to it was judged in this round."


def test_few_questions_that_decide_are_counted_in_words() -> None:
    alone = Deciding(leader="a", other="b", needed=1, questions=18)
    assert deciding_sentence(alone) == (
        "Without the one question of 18 on which a is furthest ahead, its lead over b would be gone."
    )
    assert "the 15 questions of 56 on which" in deciding_sentence(replace(alone, needed=15, questions=56))


def test_a_name_is_not_said_twice() -> None:
    assert name_and_model("lexical", "lexical") == "lexical"
    assert name_and_model("paper", "gpt-4o") == "paper (gpt-4o)"


def test_battle_of_the_address_is_the_one_explained(visit: Callable[..., AppTest]) -> None:
    keys = list(visit("questions.question_page", board="tiny", id="q3").selectbox[0].options)
    assert len(keys) == 6
    page = visit("questions.question_page", board="tiny", id="q3")
    page.selectbox[0].select_index(4).run()
    chosen = page.query_params["battle"]
    again = visit(
        "questions.question_page",
        board="tiny",
        id="q3",
        battle=chosen if isinstance(chosen, str) else chosen[0],
    )
    assert again.selectbox[0].value == page.selectbox[0].value


def test_what_people_wrote_is_never_markup(visit: Callable[..., AppTest]) -> None:
    page = visit("questions.question_page", board="tiny", id="q3", part="answers")
    shown = html_of(page)
    assert escape(EVIL) in shown
    assert "<script" not in shown
    assert "![x](http://evil.invalid/p.png)" in shown
    assert "<img" not in shown
    assert all("evil.invalid" not in found.value for found in page.markdown)


def test_closest_battle_is_first_and_explained(visit: Callable[..., AppTest]) -> None:
    page = visit("questions.question_page", board="tiny", id="q3")
    assert re.findall("<h2[^>]*>([^<]*)<", html_of(page))[:2] == ["The closest battle", "Answers"]
    margins = [float(label.rpartition(" ")[2]) for label in page.selectbox[0].options]
    assert margins == sorted(margins)
    sentence = page.selectbox[0].options[0].rpartition(", by")[0]
    assert f"<strong>{sentence}</strong>" in html_of(page)


def test_best_answer_stands_beside_the_chosen_one(visit: Callable[..., AppTest]) -> None:
    page = visit("questions.question_page", board="tiny", id="q3")
    assert "best here" in html_of(page)
    wanted = page.selectbox[1].options[-1]
    page.selectbox[1].select(wanted).run()
    assert page.query_params["answer"] in (wanted, [wanted])
    assert html_of(page).count("aa-text") >= 4


def test_questions_are_found_by_word_and_domain(visit: Callable[..., AppTest]) -> None:
    page = visit("questions.list_page", board="tiny", domain="d0")
    assert "4 of 12 questions" in html_of(page)
    assert "Won by" not in [one.label for one in page.selectbox]
    filtered = visit("questions.list_page", board="tiny", winner="full")
    assert "full" in [one.value for one in filtered.selectbox if one.label == "Won by"]
    page = visit("questions.list_page", board="tiny", words="item 11")
    assert "1 of 12 questions" in html_of(page)


def test_judge_trust_says_why_it_has_no_figures(visit: Callable[..., AppTest]) -> None:
    page = visit("trust.trust_page", board="rag-qa-arena")
    assert not page.exception
    assert 'href="./?board=rag-qa-arena"' in html_of(page)


def test_no_page_allows_raw_html() -> None:
    for path in WEB.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword):
                assert node.arg not in {"unsafe_allow_html", "unsafe_allow_javascript"}, path


def test_comparison_says_whether_the_lead_is_real(visit: Callable[..., AppTest]) -> None:
    page = visit("compare.compare_page", board="tiny", a="human", b="short")
    assert not page.exception
    shown = html_of(page)
    assert "separate" in shown or "statistically significant" in shown
    assert "human minus short, in percentage points of the win" in shown
    assert "./question?board=tiny&amp;id=q" in shown
    assert page.multiselect[0].value == ["human", "short"]


def test_comparison_of_published_counts_has_no_questions(visit: Callable[..., AppTest]) -> None:
    """The paper's board compares ratings, and says why it has no questions."""
    page = visit("compare.compare_page", board="rag-qa-arena", a="gpt-4o", b="gpt-4-turbo")
    assert "the lead is statistically significant" in html_of(page)
    assert "cannot be compared one by one" in html_of(page)


def test_comparison_ranks_as_the_leaderboard_does(visit: Callable[..., AppTest]) -> None:
    page = visit("compare.compare_page", board="rag-qa-arena", a="gpt-4o", b="LFRQA")
    assert "Rank1–\nRating10661144" in words_of(page)


def test_matrix_leads_to_the_battles_of_a_pair(visit: Callable[..., AppTest]) -> None:
    page = visit("boards.matrix_page", board="tiny")
    assert not page.exception
    shown = html_of(page)
    assert "./questions?board=tiny&amp;system=full&amp;opponent=short" in shown
    assert "full against short:" in shown


@pytest.mark.slow
def test_questions_are_found_by_pair_and_result(visit: Callable[..., AppTest]) -> None:
    numbers = []
    for result in ("won", "lost", "tied", "undecided"):
        page = visit("questions.list_page", board="tiny", system="full", opponent="short", result=result)
        assert not page.exception
        found = re.search(r"(\d+) of 12 questions", html_of(page))
        assert found is not None
        numbers.append(int(found[1]))
    assert sum(numbers) == 12


def test_columns_that_are_not_chosen_are_not_sent(visit: Callable[..., AppTest]) -> None:
    page = visit("main", board="tiny", columns="Rating,Words", find="sho")
    table = next(found.proto.body for found in page.get("html") if "aa-standings" in found.proto.body)
    assert re.findall(r"class=\"aa-term[^>]*>([^<]*)<", table.split("<tbody")[0]) == [
        "#",
        "System",
        "Rating",
        "Words",
    ]
    assert systems_of(page) == ["short"]


def test_ratings_between_systems_alone_are_offered(visit: Callable[..., AppTest]) -> None:
    page = visit("trust.trust_page", board="tiny")
    every = re.findall(r'<details class="aa-folded">(.*?)</details>', html_of(page), re.DOTALL)
    (shown,) = [one for one in every if "between systems alone" in one]
    said = f"{shown} {words_of(page)}"
    assert "without those against human" in said
    assert LEFT_OUT in said
    assert ">full<" in shown
    assert ">human<" not in shown


def systems_of(page: AppTest) -> list[str]:
    """The systems of the table without the reference, from the first row to the last."""
    heads = r'<tbody class="aa-entrant">.*?<th scope="row"[^>]*><a[^>]*>([^<]*)</a>'
    return re.findall(heads, html_of(page), re.DOTALL)


def test_the_reference_is_a_line_that_takes_no_rank(visit: Callable[..., AppTest]) -> None:
    page = visit("main", board="tiny")
    (line,) = re.findall(r'<tbody class="aa-line">(.*?)</tbody>', html_of(page), re.DOTALL)
    assert "id=human" in line
    assert re.search(r'aa-c-rank"[^>]*>(?:<[^>]*>)*–', line)
    assert "Dashed line: the reference (human) at" in words_of(page)
    assert "aa-even" in html_of(page)


def test_domains_stand_side_by_side_and_open(visit: Callable[..., AppTest]) -> None:
    page = visit("main", board="tiny", columns="Rating,Words")
    shown = html_of(page)
    assert "./?board=tiny&amp;columns=Rating%2CWords&amp;domain=d1" in shown
    assert [f"domain=d{at}" in shown for at in range(3)] == [True] * 3


def test_a_filtered_board_says_how_many_it_leaves_out(visit: Callable[..., AppTest]) -> None:
    page = visit("main", board="tiny", find="sho")
    assert "1 of 3 systems: name with “sho”" in words_of(page)
    assert 'href="./?board=tiny"' in html_of(page)
    assert "0 of 3 systems" in words_of(visit("main", board="tiny", find="nobody"))


def test_what_biases_the_judge_is_told_with_intervals(visit: Callable[..., AppTest]) -> None:
    page = visit("trust.trust_page", board="tiny")
    shown = re.sub(r"<[^>]*>", " ", html_of(page))
    assert "is worth the longer answer" in shown
    assert re.search(r"Length\s+−?\d+\s+−?\d+ to −?\d+\s", shown)
    paper = words_of(visit("trust.trust_page", board="rag-qa-arena"))
    assert "This board does not tell." in paper


def test_the_reference_s_page_says_what_its_rates_are_against(visit: Callable[..., AppTest]) -> None:
    """D9: its profile by domain is against all systems, by name."""
    page = visit("systems.system_page", board="tiny", id="human", part="domains")
    assert "Win + tie rate against all systems with its 95 % interval" in words_of(page)
    full = visit("systems.system_page", board="tiny", id="full", part="domains")
    assert "half of its battles are lost" in words_of(full)


def test_strip_tells_how_far_the_judge_can_be_trusted(visit: Callable[..., AppTest]) -> None:
    assert "Agreement with people: not calibrated" in words_of(visit("main", board="tiny"))
    shown = html_of(visit("trust.trust_page", board="tiny"))
    for text in ("as people do?", "Not calibrated", "order of the answers", "unreadable"):
        assert text in shown
    answers = re.findall(r"</strong> <span>([^<]*)</span></summary>", shown)
    assert len(answers) == 5
    assert [text for text in answers if not re.fullmatch(r"[A-Z0-9].*\.", text)] == []


def test_rounds_lists_every_board_with_its_hash(visit: Callable[..., AppTest]) -> None:
    shown = html_of(visit("boards.history_page"))
    assert "A tiny set" in shown
    assert "rag-qa-arena" in shown
    assert "no earlier board" in shown


def test_data_page_tells_how_to_cite(visit: Callable[..., AppTest]) -> None:
    page = visit("boards.data_page", board="tiny")
    assert not page.code
    assert "@misc{tiny-" in "\n".join(verbatim_of(page))


@pytest.mark.slow
def test_data_page_says_what_the_questions_are_made_of(visit: Callable[..., AppTest]) -> None:
    shown = html_of(visit("boards.data_page", board="tiny", statistics="shown"))
    assert "Words per reference, mean" in shown
    assert "Zero" in shown
    assert not [box for box in visit("boards.data_page", board="tiny").expander if box.proto.expanded]
    paper = visit("boards.data_page", board="rag-qa-arena", statistics="shown")
    assert "Words per reference, mean" not in html_of(paper)


def test_boards_of_one_set_are_told_apart_where_they_are_chosen(
    filled: Callable[..., Arena],
) -> None:
    """E1: two boards of one set have names of their own, by set, round, judge and date."""
    arena = filled()
    for name in ("spring", "summer"):
        arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name=name))
        arena.rounds.run(name, concurrency=2, report=lambda _progress: None)
        arena.boards.publish(name, report=lambda _line: None, score=False)
    day = f"{arena.boards.get('spring').published_at:%Y-%m-%d}"
    page = page_of(arena.settings, MODULES["leaderboard"])
    (menu, *_) = re.findall(r'<details class="aa-menu">.*?</details>', html_of(page.run()), re.DOTALL)
    assert sorted(re.findall(r"<a [^>]*>([^<]*)<", menu)) == [
        f"A tiny set – spring, lexical, {day}",
        f"A tiny set – summer, lexical, {day}",
    ]
