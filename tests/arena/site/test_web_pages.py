"""The pages over a published round, without a browser."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from arena.site.services import as_secrets

WEB = Path(__file__).parents[3] / "arena" / "site"
EVIL = "<script>alert(1)</script>"
MODULES = {
    "leaderboard": "boards.leaderboard_page",
}
"""Pages by their address, and the modules of `arena.site` that show them."""


def _page(name: str) -> None:
    import importlib  # noqa: PLC0415 - AppTest runs this function as a script of its own

    from arena.site.ui.errors import guarded  # noqa: PLC0415 - as above

    guarded(importlib.import_module(f"arena.site.{name}").show)


@pytest.fixture
def visit(published: Settings) -> Callable[..., AppTest]:
    """Open a page over the published boards: `visit("systems.system_page", board="tiny", id="full")`."""

    def open_page(name: str, **query: str) -> AppTest:
        if name == "main":
            page = AppTest.from_file(WEB / "main.py", default_timeout=30)
        else:
            page = AppTest.from_function(_page, args=(MODULES.get(name, name),), default_timeout=30)
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


def text_of(page: AppTest) -> str:
    """Everything shown as plain text."""
    return "\n".join(found.value for found in page.text)


def test_leaderboard_shows_ranks_ratings_and_rates(visit: Callable[..., AppTest]) -> None:
    """The front page has the newest judged board: every system with rank, rating and permalink."""
    page = visit("main")
    assert not page.exception
    shown = html_of(page)
    for system in ("full", "short", "hostile", "human"):
        assert f'href="./system?board=tiny&amp;id={system}"' in shown
    assert "Rating" in shown
    assert "95 % interval" in shown
    assert "full leads" in shown or "human" in shown


def test_address_chooses_board_and_domain_by_id(visit: Callable[..., AppTest]) -> None:
    """`?board=…&domain=…` opens that board in that domain, whatever their labels are."""
    page = visit("main", board="rag-qa-arena", domain="fiqa")
    assert page.selectbox[0].value == "rag-qa-arena"
    assert "leads in Finance" in html_of(page)


def test_choosing_a_domain_puts_it_into_the_address(visit: Callable[..., AppTest]) -> None:
    """A choice can be passed on: the address names it."""
    page = visit("main", board="tiny")
    page.button_group[0].set_value("d1").run()
    assert page.query_params["domain"] in ("d1", ["d1"])
    assert "One" in html_of(page)


def test_unknown_board_says_what_to_do(visit: Callable[..., AppTest]) -> None:
    """An address with a board that is not published shows a sentence, not a trace."""
    page = visit("main", board="nobody")
    assert not page.exception
    assert "not published" in page.info[0].value


def test_empty_database_says_what_to_do(tmp_path: Path) -> None:
    """Before anything is published the site says how to publish."""
    settings = Settings(home=tmp_path, database_url=f"sqlite:///{tmp_path / 'arena.sqlite'}")
    page = AppTest.from_file(WEB / "main.py", default_timeout=30)
    page.secrets.update({key: dict(value) for key, value in as_secrets(settings).items()})
    page.run()
    assert not page.exception
    assert "arena demo" in page.markdown[0].value


def test_system_page_tells_what_it_lost_and_won(visit: Callable[..., AppTest]) -> None:
    """A system's page links to questions that it won or lost, with its record on each."""
    page = visit("systems.system_page", board="tiny", id="full")
    assert not page.exception
    assert page.title[0].value == "full"
    assert "question?board=tiny&amp;id=q" in html_of(page)
    assert "What do we know of item" in text_of(page)


def test_published_results_have_a_system_page_without_battles(visit: Callable[..., AppTest]) -> None:
    """A board of published counts says that there are no single battles, and shows the profile."""
    page = visit("systems.system_page", board="rag-qa-arena", id="gpt-4o")
    assert not page.exception
    assert "Biomedical" in html_of(page)
    assert "no single battles" in html_of(page)


def test_question_page_shows_answers_verdicts_and_reasons(visit: Callable[..., AppTest]) -> None:
    """A question's page has every answer, its battles, and the facts that decided."""
    page = visit("questions.question_page", board="tiny", id="q3")
    assert not page.exception
    shown = words_of(page)
    assert "What do we know of item 3" in shown
    assert "Item 3 is delta. It weighs 13 grams." in shown
    assert "Item 3 weighs 13 grams." in shown
    assert "wins" in html_of(page)
    assert "Covers" in html_of(page)


def test_question_page_shows_covered_and_missing_statements(visit: Callable[..., AppTest]) -> None:
    """Comprehensiveness comes with the statements it rests on."""
    page = visit("questions.question_page", board="tiny", id="q3")
    assert "✓ A covered statement." in text_of(page)
    assert "– A missing statement." in text_of(page)


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
    page = visit("questions.question_page", board="tiny", id="q3")
    shown = html_of(page)
    assert escape(EVIL) in shown
    assert "<script" not in shown
    assert "![x](http://evil.invalid/p.png)" in shown
    assert "<img" not in shown
    assert all("evil.invalid" not in found.value for found in page.markdown)


def test_unknown_question_says_so(visit: Callable[..., AppTest]) -> None:
    """An address with an unknown question shows one sentence, in which nothing is markup."""
    page = visit("questions.question_page", board="tiny", id="![x](http://evil.invalid)")
    assert not page.exception
    assert "has no question" in page.info[0].value
    assert "![x](" not in page.info[0].value


def test_questions_are_found_by_word_and_domain(visit: Callable[..., AppTest]) -> None:
    """The list filters by domain and by every word searched for."""
    page = visit("questions.list_page", board="tiny", domain="d0")
    assert "4 of 12 questions" in html_of(page)
    page = visit("questions.list_page", board="tiny", words="item 11")
    assert "1 of 12 questions" in html_of(page)


def test_methodology_and_data_pages_stand(visit: Callable[..., AppTest]) -> None:
    """The method is explained with its formulas, and the data page names every field."""
    method = visit("boards.methodology_page")
    assert any("Bradley-Terry" in found.value for found in method.markdown)
    assert not method.exception
    assert re.search(r"0\.9–1\.0</th><td[^>]*>87</td>", html_of(method))
    data = visit("boards.data_page", board="tiny")
    assert not data.exception
    assert "rank_lower" in html_of(data)
    assert "content sha256" in data.code[-1].value


def test_judge_trust_says_why_it_has_no_figures(visit: Callable[..., AppTest]) -> None:
    """A board of published counts has no questions to leave out, and its page says so under each heading."""
    page = visit("trust.trust_page", board="rag-qa-arena")
    assert not page.exception
    assert words_of(page).count("published as counts of verdicts") == 2
    assert "the judge cannot be asked again from here" in words_of(page)
    assert 'href="./?board=rag-qa-arena"' in html_of(page)


def test_board_says_what_first_place_rests_on(visit: Callable[..., AppTest]) -> None:
    """The front page has a sentence on first place, and leads to the page with every set and cycle."""
    shown = html_of(visit("main", board="tiny"))
    assert 'href="./trust?board=tiny"' in shown
    assert re.search(r"first place|have the same rating|no set was found", shown)


def test_judge_trust_names_questions_and_cycles(visit: Callable[..., AppTest]) -> None:
    """Each two neighbours have what their order rests on, with links, and cycles stand beside coin flips."""
    page = visit("trust.trust_page", board="tiny")
    assert not page.exception
    shown = html_of(page)
    assert shown.count("<details>") == shown.count("<summary>") > 0
    assert re.search(r'<li><a href="./question\?board=tiny&amp;id=q\d+"', shown)
    assert "coin flips would in 25.0 %" in words_of(page)
    assert "By the reference alone" in words_of(page)
    assert "the same texts get the same verdict" in words_of(page)


def test_no_page_allows_raw_html() -> None:
    """No page turns on raw HTML in Markdown or scripts in HTML."""
    for path in WEB.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword):
                assert node.arg not in {"unsafe_allow_html", "unsafe_allow_javascript"}, path


def test_comparison_says_whether_the_lead_is_real(visit: Callable[..., AppTest]) -> None:
    """Two systems of the address are compared: verdict, figures, paired differences, contested questions."""
    page = visit("boards.compare_page", board="tiny", a="human", b="short")
    assert not page.exception
    shown = html_of(page)
    assert "separate" in shown or "statistically significant" in shown
    assert "human minus short, in per cent of the win" in shown
    assert "./question?board=tiny&amp;id=q" in shown
    assert page.multiselect[0].value == ["human", "short"]


def test_comparison_without_systems_says_what_to_do(visit: Callable[..., AppTest]) -> None:
    """One system alone is not compared, and the page asks for another."""
    page = visit("boards.compare_page", board="tiny", a="human")
    assert "two, three or four" in page.info[0].value


def test_comparison_of_published_counts_has_no_questions(visit: Callable[..., AppTest]) -> None:
    """The paper's board compares ratings, and says why it has no questions."""
    page = visit("boards.compare_page", board="rag-qa-arena", a="gpt-4o", b="gpt-4-turbo")
    assert "the lead is statistically significant" in html_of(page)
    assert "cannot be compared one by one" in html_of(page)


def test_matrix_leads_to_the_battles_of_a_pair(visit: Callable[..., AppTest]) -> None:
    """Every cell names both systems and leads to their questions."""
    page = visit("boards.matrix_page", board="tiny")
    assert not page.exception
    shown = html_of(page)
    assert "./questions?board=tiny&amp;system=full&amp;opponent=short" in shown
    assert "full against short:" in shown


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
    assert re.findall(r"<span class=\"aa-term\"[^>]*>([^<]*)<", table.split("<tbody")[0]) == [
        "Rank",
        "System",
        "Rating",
        "Words",
    ]
    assert "short" in table
    assert ">full<" not in table


def test_control_for_length_is_said_in_the_caption(visit: Callable[..., AppTest]) -> None:
    """With the switch on, ratings are those without the advantage of length, and the caption says so."""
    page = visit("main", board="tiny", control="1")
    table = next(found.proto.body for found in page.get("html") if "aa-standings" in found.proto.body)
    assert "controlled for length" in table


def test_ratings_between_systems_alone_are_offered(visit: Callable[..., AppTest]) -> None:
    """The board has a second table, without the battles against the reference, and says why they differ."""
    page = visit("main", board="tiny")
    offered = next(one for one in page.expander if "between systems alone" in one.label)
    shown = " ".join(found.proto.body for found in offered.get("html"))
    said = f"{shown} {words_of(page)}"
    assert "without those against human" in said
    assert "another yardstick" in said
    assert ">full<" in shown
    assert ">human<" not in shown


def rows_of_charts(page: AppTest) -> list[list[str]]:
    """The systems of each chart in the order of its rows: the forest plot's, then the heat map's."""
    specs = [found.proto.spec for found in page.get("vega_lite_chart")]
    orders = [re.findall(r'"sort": (\[[^]]*"(?:full|short)"[^]]*\])', spec) for spec in specs]
    return [json.loads(order[0]) for order in orders if order]


def test_control_for_length_changes_the_whole_page(visit: Callable[..., AppTest]) -> None:
    """D8: one switch changes headline, table, and the order of forest plot and heat map alike."""
    plain, controlled = visit("main", board="tiny"), visit("main", board="tiny", control="1")
    assert "full leads" in words_of(plain)
    assert "Controlled for length, short leads" in words_of(controlled)
    for page in (plain, controlled):
        shown = re.findall(r"system\?board=tiny&amp;id=(\w+)", html_of(page))
        forest, heat = rows_of_charts(page)
        assert forest == shown
        assert heat == [system for system in forest if system != "human"]
    assert rows_of_charts(plain) != rows_of_charts(controlled)
    assert "Rating controlled for length, points" in controlled.get("vega_lite_chart")[0].proto.spec


def test_control_for_length_is_the_overall_board_s_alone(visit: Callable[..., AppTest]) -> None:
    """D8: within a domain the switch is off for the whole page, and says that it is."""
    page = visit("main", board="tiny", control="1", domain="d1")
    assert next(choice for choice in page.button_group if choice.label == "Control for").disabled
    assert words_of(page) == words_of(visit("main", board="tiny", domain="d1"))


def test_other_controls_are_offered_where_they_exist(visit: Callable[..., AppTest]) -> None:
    """The choice has the controls with ratings; others are explained, and their address changes nothing."""
    page = visit("main", board="tiny", control="style")
    choice = next(choice for choice in page.button_group if choice.label == "Control for")
    offered = [option.content for option in choice.proto.options]
    assert offered[:2] == ["Nothing", "Length"]
    assert "Position" not in offered
    assert "Not for position: The embedded judge weighs each answer by itself" in choice.proto.help
    plain = visit("main", board="tiny")
    if "Length and form" in offered:
        assert "Controlled for length and form" in words_of(page)
    else:
        assert "Not for length and form: " in choice.proto.help
        assert words_of(page) == words_of(plain)
    assert words_of(visit("main", board="tiny", control="position")) == words_of(plain)
    assert words_of(visit("main", board="tiny", control="length")) == words_of(
        visit("main", board="tiny", control="1")
    )


def test_what_sways_the_judge_is_told_with_intervals(visit: Callable[..., AppTest]) -> None:
    """Each fit has its terms with intervals and inflation, or says why it is not there."""
    page = visit("trust.trust_page", board="tiny")
    shown = re.sub(r"<[^>]*>", " ", html_of(page))
    assert "What sways the judge" in shown
    assert re.search(r"Length\s+−?\d+\s+−?\d+ to −?\d+\s+\d+\.\d", shown)
    assert "Condition number" in shown
    assert "no LLM" in shown
    paper = words_of(visit("trust.trust_page", board="rag-qa-arena"))
    assert "The lengths of the answers are not known." in paper


def test_the_reference_is_in_no_chart_of_rates(visit: Callable[..., AppTest]) -> None:
    """D9: the heat map and a scatter plot of rates leave the reference out and say why; ratings have it."""
    page = visit("main", board="tiny", x="rating", y="win-tie")
    assert "human has no row: the rates are against it." in words_of(page)
    assert "Each of 3 points is a system" in words_of(page)
    assert "human has no point: the rates are against it." in words_of(page)
    assert "even chance" not in words_of(page)
    ratings = visit("main", board="tiny", x="rating", y="words")
    assert "Each of 4 points is a system" in words_of(ratings)
    assert "has no point" not in words_of(ratings)


def test_the_reference_s_page_says_what_its_rates_are_against(visit: Callable[..., AppTest]) -> None:
    """D9: its profile by domain is against all systems, by name."""
    page = visit("systems.system_page", board="tiny", id="human")
    assert "Win + tie rate against all systems with its 95 % interval" in words_of(page)
    assert "half of its battles are lost" in words_of(visit("systems.system_page", board="tiny", id="full"))


def test_strip_tells_how_far_the_judge_can_be_trusted(visit: Callable[..., AppTest]) -> None:
    """Agreement, flips, unreadable replies and attacks stand above the table, or why they are not known."""
    shown = html_of(visit("main", board="tiny"))
    for text in ("agreement with people", "not calibrated", "position flips", "unreadable", "attacks"):
        assert text in shown
    assert "the same texts get the same verdict" in shown


def test_rounds_lists_every_board_with_its_hash(visit: Callable[..., AppTest]) -> None:
    """The history names boards, judges and hashes, and says where there is nothing to compare with."""
    shown = html_of(visit("boards.history_page"))
    assert "A tiny set" in shown
    assert "rag-qa-arena" in shown
    assert "no earlier board" in shown


def test_data_page_tells_how_to_embed_and_cite(visit: Callable[..., AppTest]) -> None:
    """The data page has a frame to paste and a BibTeX entry with the permalink."""
    page = visit("boards.data_page", board="tiny")
    codes = "\n".join(found.value for found in page.code)
    assert "<iframe" in codes
    assert "/embed/tiny" in codes
    assert "@misc{tiny-" in codes
    assert "/leaderboard.html?board=tiny" in html_of(page)


def test_data_page_says_what_the_questions_are_made_of(visit: Callable[..., AppTest]) -> None:
    """Words and passages by domain stand on the data page of a judged board, not of published counts."""
    shown = html_of(visit("boards.data_page", board="tiny"))
    assert "Words a reference" in shown
    assert "Zero" in shown
    assert "Words a reference" not in html_of(visit("boards.data_page", board="rag-qa-arena"))


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
    page = AppTest.from_function(_page, args=(MODULES["leaderboard"],), default_timeout=30)
    page.secrets.update({key: dict(value) for key, value in as_secrets(arena.settings).items()})
    (chooser,) = [one for one in page.run().selectbox if one.label == "Board"]
    assert sorted(chooser.options) == [
        f"A tiny set – spring, lexical, {day}",
        f"A tiny set – summer, lexical, {day}",
    ]
