"""The questions of a board: find one, then read its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.evidence.questions import QuestionFilter, Result, Trait
from arena.site.boards.board_parts import no_questions, set_note
from arena.site.boards.downloads import offer_files
from arena.site.boards.pickers import choose_board, choose_domain, chosen_domain
from arena.site.boards.view_model import OVERALL, BoardView
from arena.site.queries import answers_with, questions_found, questions_of
from arena.site.ui.components import name_page, note
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor, rows_table
from arena.site.ui.url_state import optional_select, text_filter
from data.store.rounds.question_stats import QuestionStats

AT_ONCE = 50
TRAITS = {
    Trait.FLIPPED: "verdict changed with the order",
    Trait.DISPUTED: "judges disagree",
    Trait.UNDECIDED: "without a verdict",
    Trait.TIED: "ended as a tie",
    Trait.REPORTED: "reported by a reader",
}


def choose_questions(view: BoardView) -> QuestionFilter:
    """Offer every filter; the choice goes into the address."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="question-filters"):
        words = text_filter("words", "Search in questions and answers", width=320)
        traits = {trait.value: f"some battle {text}" for trait, text in TRAITS.items()}
        trait = optional_select("trait", "Battles", traits, "all questions")
        systems = {system: system for system in view.systems}
        system = optional_select("system", "System", systems, "any system")
        opponent = result = None
        if system is not None:
            others = {name: name for name in view.systems if name != system}
            opponent = optional_select("opponent", "Against", others, "any opponent")
            result = optional_select(
                "result", "Result", {option.value: option.value for option in Result}, "any result"
            )
    domain = chosen_domain(view)
    return QuestionFilter(
        domain=None if domain == OVERALL else domain,
        words=words,
        trait=None if trait is None else Trait(trait),
        system=system,
        opponent=opponent,
        result=None if result is None else Result(result),
    )


def where_searched(question_filter: QuestionFilter) -> str:
    """Which texts a reader's words were searched in, as a sentence; empty where there are no words."""
    if not question_filter.words.strip():
        return ""
    if question_filter.system is None:
        return "Searched in the questions; choose a system to search in its answers too."
    return f"Searched in the questions and in the answers of {question_filter.system}."


def question_table(
    view: BoardView, questions: Sequence[QuestionStats], page: int, answers: Mapping[str, str]
) -> Element:
    """One page of the list; each question leads to its evidence.

    Pages count from 1. `answers` are the texts around the reader's words, by question id.
    """
    second = "aa-left aa-second"
    header = (("Question", "aa-left"), ("Domain", second), ("Battles", ""), ("Results", second))
    rows = [
        _row(view, question, answers.get(question.id))
        for question in questions[(page - 1) * AT_ONCE : page * AT_ONCE]
    ]
    return rows_table(header, rows, classes="aa-questions")


def choose_page(count: int) -> int:
    """Which page of the list, from 1; offered where there is more than one."""
    pages = max(1, -(-count // AT_ONCE))
    addressed = st.query_params.get("page", "1")
    page = min(max(int(addressed), 1), pages) if addressed.isdecimal() else 1
    if pages == 1:
        return 1
    with st.container(horizontal=True, vertical_alignment="center", key="pages"):
        first, last = (page - 1) * AT_ONCE + 1, min(page * AT_ONCE, count)
        _turn("Earlier", page - 1, icon=":material/chevron_left:", disabled=page == 1)
        st.text(f"{first:,}–{last:,} of {count:,}")
        _turn("Later", page + 1, icon=":material/chevron_right:", disabled=page == pages)
    return page


def _turn(label: str, page: int, *, icon: str, disabled: bool) -> None:
    st.button(
        label, icon=icon, disabled=disabled, on_click=_to_page, args=(page,), key=f"page-{label.lower()}"
    )


def _to_page(page: int) -> None:
    st.query_params["page"] = str(page)


def _row(view: BoardView, question: QuestionStats, answer: str | None) -> Element:
    named = anchor(question.question, "question", board=view.name, id=question.id)
    signs = (
        (question.ties, "tied"),
        (question.flips, "flipped with the order"),
        (question.disputed, "disputed between judges"),
        (question.undecided, "without a verdict"),
    )
    summary = " · ".join(f"{count:,} {word}" for count, word in signs if count) or "all decided"
    name = element("th", named, element("span", question.id, class_="aa-sub"), scope="row")
    if answer is not None:
        name.append(element("span", f"In the answer: {answer}", class_="aa-sub aa-found"))
    return element(
        "tr",
        name,
        element("td", view.label(question.domain), class_="aa-left aa-second"),
        element("td", f"{question.battles:,}"),
        element("td", summary, class_="aa-left aa-second aa-words"),
    )


def show() -> None:
    """Show the list."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Questions", anchor=False)
        view = choose_board(width=560)
    name_page("Questions", view.full_title)
    if view.round_name is None:
        no_questions(view)
        return
    set_note(view)
    choose_domain(view)
    question_filter = choose_questions(view)
    question_list = questions_of(view)
    matching = questions_found(view, question_filter)
    note(
        f"{len(matching):,} of {len(question_list.questions):,} questions. "
        f"Choose one to see its answers, battles and rationales. {where_searched(question_filter)}"
    )
    if not matching:
        st.info("No question matches. Use other words, or fewer filters.", icon=":material/search_off:")
        return
    page = choose_page(len(matching))
    answers = answers_with(view, question_filter)
    put(question_table(view, matching, page, answers))
    offer_files(
        view,
        "questions",
        lambda: [asdict(question) | {"in_answer": answers.get(question.id)} for question in matching],
    )
