"""The pages over a published round, without a browser."""

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

WEB = Path(__file__).parents[3] / "arena" / "site"
EVIL = "<script>alert(1)</script>"
MODULES = {
    "leaderboard": "boards.leaderboard_page",
}
"""Pages by their address, and the modules of `arena.site` that show them."""


@pytest.fixture
def visit(published: Settings) -> Callable[..., AppTest]:
    """Open a page over the published boards: `visit("systems.system_page", board="tiny", id="full")`."""

    def open_page(name: str, **query: str) -> AppTest:
        if name != "main":
            return page_of(published, MODULES.get(name, name), **query).run()
        page = AppTest.from_file(WEB / "main.py", default_timeout=30)
        page.secrets.update({key: dict(value) for key, value in as_secrets(published).items()})
        page.query_params.update(query)
        return page.run()

    return open_page


def html_of(page: AppTest) -> str:
    """Everything shown as HTML."""
    return "".join(found.proto.body for found in page.get("html"))


def words_of(page: AppTest) -> str:
    """The words of everything shown as HTML, without marks and their figures."""
    return re.sub(r"<[^>]*>", "", re.sub(r"<sup>.*?</sup>", "", html_of(page)))


def verbatim_of(page: AppTest) -> list[str]:
    """The texts to copy."""
    return [
        unescape(text)
        for text in re.findall(r'<pre class="aa-verbatim">(.*?)</pre>', html_of(page), re.DOTALL)
    ]


def text_of(page: AppTest) -> str:
    """Everything shown as plain text."""
    return "\n".join(found.value for found in page.text)


def test_leaderboard_shows_ranks_ratings_and_rates(visit: Callable[..., AppTest]) -> None:
    """The front page has the newest judged board: every system with rank, rating and permalink."""
    page = visit("main")
    assert not page.exception
    shown = html_of(page)
    for system in ("full", "short", "hostile"):
        assert f'href="./system?board=tiny&amp;id={system}"' in shown
    assert "Rating" in shown
    assert "95 % interval" in shown
    assert "full leads" in shown or "human" in shown


def test_address_chooses_board_and_domain_by_id(visit: Callable[..., AppTest]) -> None:
    """`?board=…&domain=…` opens that board in that domain, whatever their labels are."""
    page = visit("main", board="rag-qa-arena", domain="fiqa")
    assert "<h1>RAG-QA Arena, as published</h1>" in html_of(page)
    assert "leads in Finance" in html_of(page)


def test_choosing_a_domain_puts_it_into_the_address(visit: Callable[..., AppTest]) -> None:
    """A choice can be passed on: it is a link whose address names it, and there it is the current one."""
    assert 'href="./?board=tiny&amp;domain=d1"' in html_of(visit("main", board="tiny"))
    assert re.search(r'aria-current="true">One<', html_of(visit("main", board="tiny", domain="d1")))


def test_unknown_board_says_what_to_do(visit: Callable[..., AppTest]) -> None:
    """An address with a board that is not published shows a sentence, not a trace."""
    page = visit("main", board="nobody")
    assert not page.exception
    assert "not published" in page.info[0].value


def test_empty_database_says_what_to_do(tmp_path: Path) -> None:
    """Before anything is published the site says who publishes, and tells visitors no shell command."""
    settings = Settings(home=tmp_path, database_url=f"sqlite:///{tmp_path / 'arena.sqlite'}")
    page = AppTest.from_file(WEB / "main.py", default_timeout=30)
    page.secrets.update({key: dict(value) for key, value in as_secrets(settings).items()})
    page.run()
    assert not page.exception
    assert "its organisers publish" in page.markdown[0].value
    assert "arena demo" not in page.markdown[0].value


def test_system_page_tells_what_it_lost_and_won(visit: Callable[..., AppTest]) -> None:
    """A system's page links to questions that it won or lost, with its record on each."""
    page = visit("systems.system_page", board="tiny", id="full")
    assert not page.exception
    assert "<h1>full</h1>" in html_of(page)
    assert "question?board=tiny&amp;id=q" in html_of(page)
    assert "What do we know of item" in words_of(page)


def test_published_results_have_a_system_page_without_battles(visit: Callable[..., AppTest]) -> None:
    """A board of published counts says that there are no single battles, and shows the profile."""
    page = visit("systems.system_page", board="rag-qa-arena", id="gpt-4o")
    assert not page.exception
    assert "Biomedical" in html_of(page)
    assert "no single battles" in html_of(page)


def test_question_page_shows_answers_verdicts_and_reasons(visit: Callable[..., AppTest]) -> None:
    """A question's page has every answer in a tab, its battles, and the facts that decided."""
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


def test_reference_that_won_as_often_is_said_to_be_as_good(published: Settings) -> None:
    arena = Arena(published)
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
    """One question that a lead depends on is one of many."""
    alone = Deciding(leader="a", other="b", needed=1, questions=18)
    assert deciding_sentence(alone) == (
        "Without the one question of 18 on which a is furthest ahead, its lead over b would be gone."
    )
    assert "the 15 questions of 56 on which" in deciding_sentence(replace(alone, needed=15, questions=56))


def test_a_name_is_not_said_twice() -> None:
    """A judge whose kind is its name stands once; another has its model beside it."""
    assert name_and_model("lexical", "lexical") == "lexical"
    assert name_and_model("paper", "gpt-4o") == "paper (gpt-4o)"


def test_question_page_shows_covered_and_missing_statements(visit: Callable[..., AppTest]) -> None:
    """Comprehensiveness comes with the statements it depends on."""
    page = visit("questions.question_page", board="tiny", id="q3")
    assert "✓ A covered statement." in html_of(page)
    assert "– A missing statement." in html_of(page)


def test_battle_of_the_address_is_the_one_explained(visit: Callable[..., AppTest]) -> None:
    """A permalink to a battle opens the question with that battle's rationale."""
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
    """An answer with HTML, an image and formulas is shown letter by letter and nowhere as markup."""
    page = visit("questions.question_page", board="tiny", id="q3", part="answers")
    shown = html_of(page)
    assert escape(EVIL) in shown
    assert "<script" not in shown
    assert "![x](http://evil.invalid/p.png)" in shown
    assert "<img" not in shown
    assert all("evil.invalid" not in found.value for found in page.markdown)


def test_closest_battle_is_first_and_explained(visit: Callable[..., AppTest]) -> None:
    """The battles stand by their margin, and the first of them is the one that is explained."""
    page = visit("questions.question_page", board="tiny", id="q3")
    assert re.findall("<h2[^>]*>([^<]*)<", html_of(page))[:2] == ["The closest battle", "Answers"]
    margins = [float(label.rpartition(" ")[2]) for label in page.selectbox[0].options]
    assert margins == sorted(margins)
    sentence = page.selectbox[0].options[0].rpartition(", by")[0]
    assert f"<strong>{sentence}</strong>" in html_of(page)


def test_best_answer_stands_beside_the_chosen_one(visit: Callable[..., AppTest]) -> None:
    """The second selection names the answer beside the best one; the address keeps it."""
    page = visit("questions.question_page", board="tiny", id="q3")
    assert "best here" in html_of(page)
    wanted = page.selectbox[1].options[-1]
    page.selectbox[1].select(wanted).run()
    assert page.query_params["answer"] in (wanted, [wanted])
    assert html_of(page).count("aa-text") >= 4


def test_unknown_question_says_so(visit: Callable[..., AppTest]) -> None:
    """An address with an unknown question shows one sentence, in which nothing is markup."""
    page = visit("questions.question_page", board="tiny", id="![x](http://evil.invalid)")
    assert not page.exception
    assert "has no question" in page.info[0].value
    assert "![x](" not in page.info[0].value


def test_questions_are_found_by_word_and_domain(visit: Callable[..., AppTest]) -> None:
    """The list filters by domain, by every word searched for, and by filters, folded where none is set."""
    page = visit("questions.list_page", board="tiny", domain="d0")
    assert "4 of 12 questions" in html_of(page)
    assert "Won by" not in [one.label for one in page.selectbox]
    filtered = visit("questions.list_page", board="tiny", winner="full")
    assert "full" in [one.value for one in filtered.selectbox if one.label == "Won by"]
    page = visit("questions.list_page", board="tiny", words="item 11")
    assert "1 of 12 questions" in html_of(page)


def test_methodology_and_data_pages_stand(visit: Callable[..., AppTest]) -> None:
    """The method is explained, and the data page names every field."""
    method = visit("boards.methodology_page")
    assert not method.get("vega_lite_chart")
    assert "Bradley-Terry" in html_of(method)
    assert not method.exception
    data = visit("boards.data_page", board="tiny")
    assert not data.exception
    assert "rank_lower" in html_of(data)
    assert "content sha256" in verbatim_of(data)[-1]


def test_judge_trust_says_why_it_has_no_figures(visit: Callable[..., AppTest]) -> None:
    """A board of published counts has no questions to leave out, and its page says so."""
    page = visit("trust.trust_page", board="rag-qa-arena")
    assert not page.exception
    assert 'href="./?board=rag-qa-arena"' in html_of(page)


def test_no_page_allows_raw_html() -> None:
    """No page turns on raw HTML in Markdown or scripts in HTML."""
    for path in WEB.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword):
                assert node.arg not in {"unsafe_allow_html", "unsafe_allow_javascript"}, path


def test_comparison_says_whether_the_lead_is_real(visit: Callable[..., AppTest]) -> None:
    """Two systems of the address are compared: verdict, figures, paired differences, contested questions."""
    page = visit("compare.compare_page", board="tiny", a="human", b="short")
    assert not page.exception
    shown = html_of(page)
    assert "separate" in shown or "statistically significant" in shown
    assert "human minus short, in percentage points of the win" in shown
    assert "./question?board=tiny&amp;id=q" in shown
    assert page.multiselect[0].value == ["human", "short"]


def test_comparison_without_systems_says_what_to_do(visit: Callable[..., AppTest]) -> None:
    """One system alone is not compared, and the page asks for another."""
    page = visit("compare.compare_page", board="tiny", a="human")
    assert "two, three or four" in page.info[0].value


def test_comparison_of_published_counts_has_no_questions(visit: Callable[..., AppTest]) -> None:
    """The paper's board compares ratings, and says why it has no questions."""
    page = visit("compare.compare_page", board="rag-qa-arena", a="gpt-4o", b="gpt-4-turbo")
    assert "the lead is statistically significant" in html_of(page)
    assert "cannot be compared one by one" in html_of(page)


def test_comparison_ranks_as_the_leaderboard_does(visit: Callable[..., AppTest]) -> None:
    """The reference is no competitor, so that the best system is first and the reference has no rank."""
    page = visit("compare.compare_page", board="rag-qa-arena", a="gpt-4o", b="LFRQA")
    assert "Rank1–\nRating10661144" in words_of(page)


def test_heading_without_cells_on_a_phone_is_hidden_there(visit: Callable[..., AppTest]) -> None:
    """Columns of battles that a phone does not show have no heading there either."""
    page = visit("questions.question_page", board="tiny", id="q4")
    assert '<th scope="col" class="aa-left aa-second">Position flip</th>' in html_of(page)


def test_matrix_leads_to_the_battles_of_a_pair(visit: Callable[..., AppTest]) -> None:
    """Every cell names both systems and leads to their questions."""
    page = visit("boards.matrix_page", board="tiny")
    assert not page.exception
    shown = html_of(page)
    assert "./questions?board=tiny&amp;system=full&amp;opponent=short" in shown
    assert "full against short:" in shown


@pytest.mark.long
def test_questions_are_found_by_pair_and_result(visit: Callable[..., AppTest]) -> None:
    """The results of a pair's battles share its questions among them."""
    numbers = []
    for result in ("won", "lost", "tied", "undecided"):
        page = visit("questions.list_page", board="tiny", system="full", opponent="short", result=result)
        assert not page.exception
        found = re.search(r"(\d+) of 12 questions", html_of(page))
        assert found is not None
        numbers.append(int(found[1]))
    assert sum(numbers) == 12


def test_columns_that_are_not_chosen_are_not_sent(visit: Callable[..., AppTest]) -> None:
    """The address chooses columns, and finds systems by part of their name."""
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
    """The trust page has a second table, without the battles against the reference, and why they differ."""
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


def test_unknown_words_of_an_address_are_said(visit: Callable[..., AppTest]) -> None:
    """A domain that does not exist is named as such, and the board is shown all the same."""
    assert "no domain of this name" in words_of(visit("main", board="tiny", domain="d99"))


@pytest.mark.long
def test_columns_sort_the_table(visit: Callable[..., AppTest]) -> None:
    """A heading leads to the rows by its column, once more to the other way round; by rank is the usual."""
    page = visit("main", board="tiny", sort="words")
    assert 'aria-sort="descending"' in html_of(page)
    assert 'href="./?board=tiny&amp;sort=-words"' in html_of(page)
    turned = visit("main", board="tiny", sort="-words")
    assert 'aria-sort="ascending"' in html_of(turned)
    assert systems_of(turned) == systems_of(page)[::-1]
    assert 'href="./?board=tiny"' in html_of(page)
    assert systems_of(visit("main", board="tiny", sort="nonsense")) == systems_of(visit("main", board="tiny"))


def test_the_reference_is_a_line_that_takes_no_rank(visit: Callable[..., AppTest]) -> None:
    """The reference stands as a line among the systems, without a rank."""
    page = visit("main", board="tiny")
    (line,) = re.findall(r'<tbody class="aa-line">(.*?)</tbody>', html_of(page), re.DOTALL)
    assert "id=human" in line
    assert re.search(r'aa-c-rank"[^>]*>(?:<[^>]*>)*–', line)
    assert "Dashed line: the reference (human) at" in words_of(page)
    assert "aa-even" in html_of(page)


def test_domains_stand_side_by_side_and_open(visit: Callable[..., AppTest]) -> None:
    """Each domain has a tab that opens it with the same columns."""
    page = visit("main", board="tiny", columns="Rating,Words")
    shown = html_of(page)
    assert "./?board=tiny&amp;columns=Rating%2CWords&amp;domain=d1" in shown
    assert [f"domain=d{at}" in shown for at in range(3)] == [True] * 3


def test_a_filtered_board_says_how_many_it_leaves_out(visit: Callable[..., AppTest]) -> None:
    """Anyone who searches reads how many systems match, and gets back to all."""
    page = visit("main", board="tiny", find="sho")
    assert "1 of 3 systems: name with “sho”" in words_of(page)
    assert 'href="./?board=tiny"' in html_of(page)
    assert "0 of 3 systems" in words_of(visit("main", board="tiny", find="nobody"))


def test_what_biases_the_judge_is_told_with_intervals(visit: Callable[..., AppTest]) -> None:
    """Each term has its worth with an interval, or the page says why it is not there."""
    page = visit("trust.trust_page", board="tiny")
    shown = re.sub(r"<[^>]*>", " ", html_of(page))
    assert "is worth the longer answer" in shown
    assert re.search(r"Length\s+−?\d+\s+−?\d+ to −?\d+\s", shown)
    paper = words_of(visit("trust.trust_page", board="rag-qa-arena"))
    assert "This board does not tell." in paper


@pytest.mark.long
def test_two_measures_are_compared_where_systems_share_them(visit: Callable[..., AppTest]) -> None:
    """D9: who has one of two measures alone is named, and fewer than two systems with both make no chart."""
    page = visit("boards.data_page", board="tiny", x="rating", y="win-tie")
    assert "Each of 3 points is a system" in words_of(page)
    assert "Not drawn, since one of the two is not known: human." in words_of(page)
    ratings = visit("boards.data_page", board="tiny", x="rating", y="words")
    assert "Each of 4 points is a system" in words_of(ratings)
    assert "Not drawn" not in words_of(ratings)
    assert not visit("boards.data_page", board="tiny").get("vega_lite_chart")


def test_the_reference_s_page_says_what_its_rates_are_against(visit: Callable[..., AppTest]) -> None:
    """D9: its profile by domain is against all systems, by name."""
    page = visit("systems.system_page", board="tiny", id="human", part="domains")
    assert "Win + tie rate against all systems with its 95 % interval" in words_of(page)
    full = visit("systems.system_page", board="tiny", id="full", part="domains")
    assert "half of its battles are lost" in words_of(full)


def test_strip_tells_how_far_the_judge_can_be_trusted(visit: Callable[..., AppTest]) -> None:
    """The board says what agreement is known; the trust page answers the rest, or why it is not known."""
    assert "Agreement with people: not calibrated" in words_of(visit("main", board="tiny"))
    shown = html_of(visit("trust.trust_page", board="tiny"))
    for text in ("as people do?", "Not calibrated", "order of the answers", "unreadable"):
        assert text in shown
    answers = re.findall(r"</strong> <span>([^<]*)</span></summary>", shown)
    assert len(answers) == 5
    assert [text for text in answers if not re.fullmatch(r"[A-Z0-9].*\.", text)] == []


def test_rounds_lists_every_board_with_its_hash(visit: Callable[..., AppTest]) -> None:
    """The history names boards, judges and hashes, and says where there is nothing to compare with."""
    shown = html_of(visit("boards.history_page"))
    assert "A tiny set" in shown
    assert "rag-qa-arena" in shown
    assert "no earlier board" in shown


def test_data_page_tells_how_to_cite(visit: Callable[..., AppTest]) -> None:
    """The data page has a BibTeX entry, without the highlighter."""
    page = visit("boards.data_page", board="tiny")
    assert not page.code
    assert "@misc{tiny-" in "\n".join(verbatim_of(page))


@pytest.mark.long
def test_data_page_says_what_the_questions_are_made_of(visit: Callable[..., AppTest]) -> None:
    """Words and passages by domain open on the data page of a judged board, not of published counts."""
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
