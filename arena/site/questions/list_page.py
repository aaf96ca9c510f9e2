"""Questions of a board: search, filter, and links to the evidence."""

from collections.abc import Sequence
from dataclasses import asdict, replace

import streamlit as st
from markupsafe import Markup

from arena.formats import or_dash
from arena.html_pages import macro
from arena.models.boards import OVERALL, BoardView
from arena.services.evidence.question_lists import Order, QuestionFilter, Result, Trait
from arena.site.boards.downloads import no_questions, offer_files, set_note
from arena.site.boards.pickers import chosen_domain, domain_warning, titled_board
from arena.site.queries import matching_questions, questions_of
from arena.site.services import address
from arena.site.ui.html import Cell, Child, Column, anchor, link, note, put, put_html
from arena.site.ui.url_state import choose_one, chosen_words, opened, optional_select, text_filter
from data.store.question_stats import QuestionStats
from data.text import percent

SECOND = "aa-second"
CLASSES = {"Winner": "aa-left aa-words aa-winner", "Margin": ""}
MEANINGS = {
    "Winner": "The system with the largest win share on the question, excluding the reference.",
    "Margin": "The winner's win share minus the runner-up's; 0 % means a tie for first.",
    "Spread": "Standard deviation of the systems' win shares, 0 to 0.5.",
    "Disagreement": "Share of judged battles whose verdict changed with the order, or where judges disagree.",
    "Flips": "Battles whose verdict changed with the order of the answers.",
}
PAGE_SIZE = 50
TRAITS = {
    Trait.FLIPPED: "verdict changed with the order",
    Trait.DISPUTED: "judges disagree",
    Trait.UNDECIDED: "without a verdict",
    Trait.TIED: "tied",
}
FILTER_PARAMETERS = ("trait", "winner", "system", "opponent", "result")
ORDERS = {
    Order.SET: "as in the set",
    Order.DISAGREEMENT: "most disagreement first",
    Order.CLOSEST: "closest win first",
    Order.CLEAREST: "clearest win first",
    Order.SPREAD: "widest spread first",
    Order.FLIPS: "most flips first",
}


def choose_questions(view: BoardView) -> tuple[QuestionFilter, Order]:
    """Offer the filters and the order; choices go into the address."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="question-search"):
        words = text_filter("words", "Search in questions and their ids")
        order = choose_one("sort", "Sort", {order.value: text for order, text in ORDERS.items()}, width=260)
    domain = chosen_domain(view)
    wanted = QuestionFilter(domain=None if domain == OVERALL else domain, words=words)
    with opened("Filter by verdicts, winner and systems", *FILTER_PARAMETERS) as is_open:
        if is_open or any(map(chosen_words, FILTER_PARAMETERS)):
            wanted = _filtered(view, wanted)
    return wanted, Order(order)


def _filtered(view: BoardView, wanted: QuestionFilter) -> QuestionFilter:
    with st.container(horizontal=True, vertical_alignment="bottom", key="question-filters"):
        traits = {trait.value: f"a battle: {text}" for trait, text in TRAITS.items()}
        trait = optional_select("trait", "Battles", traits, "all questions")
        systems = {system: system for system in view.systems}
        winner = optional_select("winner", "Won by", systems, "any system")
        system = optional_select("system", "System", systems, "any system")
        opponent = result = None
        if system is not None:
            opponents = {name: name for name in view.systems if name != system}
            opponent = optional_select("opponent", "Against", opponents, "any opponent")
            result = optional_select(
                "result", "Result", {option.value: option.value for option in Result}, "any result"
            )
    return replace(
        wanted,
        winner=winner,
        trait=None if trait is None else Trait(trait),
        system=system,
        opponent=opponent,
        result=None if result is None else Result(result),
    )


def choose_page(count: int) -> int:
    """Return the page of the list, from 1; offer a choice if there are several."""
    firsts = range(1, count + 1, PAGE_SIZE)
    pages = {
        str(page): f"{first:,}–{min(first + PAGE_SIZE - 1, count):,} of {count:,}"
        for page, first in enumerate(firsts, 1)
    }
    return int(choose_one("page", "Questions", pages, width=260)) if len(pages) > 1 else 1


def _domains(view: BoardView) -> list[tuple[str, str, bool]]:
    chosen = chosen_domain(view)
    here = {name: word for name, word in address().items() if name not in {"page", "domain", "words"}}
    return [
        (view.label(name), link("questions", **{"board": view.name, **here, "domain": name}), name == chosen)
        for name in (OVERALL, *view.domains)
    ]


def show() -> None:
    """Show the list."""
    view = titled_board("Questions", "questions")
    if view.round_name is None:
        no_questions(view)
        return
    set_note(view)
    put_html(macro("tabs", "Domain", _domains(view)))
    if warning := domain_warning(view):
        note(warning)
    question_list = questions_of(view)
    wanted, order = choose_questions(view)
    put("notice", question_list.notice)
    matching = matching_questions(view, wanted, order)
    note(
        f"{len(matching):,} of {len(question_list.questions):,} questions. "
        "Choose one to see its answers, battles and reasons."
    )
    if not matching:
        st.info("No question matches. Change the words or remove filters.", icon=":material/search_off:")
        return
    page = choose_page(len(matching))
    put_html(question_table(view, matching[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]))
    offer_files(view, "questions", lambda: [asdict(question) for question in matching])


def question_table(view: BoardView, questions: Sequence[QuestionStats]) -> Markup:
    """Return a table of questions with links to their evidence."""
    columns: list[Column] = [("Question", "aa-left")]
    columns += [
        (Cell(name, meaning=meaning), CLASSES.get(name, SECOND)) for name, meaning in MEANINGS.items()
    ]
    return macro("table", columns, [_row(view, question) for question in questions], classes="aa-questions")


def _row(view: BoardView, question: QuestionStats) -> tuple[Child, ...]:
    href = link("question", board=view.name, id=question.id)
    undecided = f" · {question.undecided:,} without a verdict" if question.undecided else ""
    return (
        Cell(question.question, href=href, sub=f"{question.id} · {view.label(question.domain)}"),
        _winner(view, question),
        percent(question.margin),
        or_dash(question.spread, ".2f"),
        Cell(percent(question.disagreement), sub=f"{question.battles:,} battles{undecided}"),
        f"{question.flips:,}",
    )


def _winner(view: BoardView, question: QuestionStats) -> Cell:
    if question.winner is not None:
        return anchor(question.winner, "system", board=view.name, id=question.winner)
    many = f"{question.winners:,} systems share it" if question.winners else "no verdict"
    return Cell(many, class_="aa-muted")
