"""The list of questions: what a reader looks for, and what was found, page by page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.question_lists import QuestionFilter, Result, Trait
from arena.web.choices import choose_maybe, choose_words, chosen_domain
from arena.web.markup import element
from arena.web.tables import link
from arena.web.views import OVERALL, BoardView
from data.store.digests import QuestionDigest

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
        words = choose_words("words", "Search in questions and answers", width=320)
        traits = {trait.value: f"some battle {text}" for trait, text in TRAITS.items()}
        trait = choose_maybe("trait", "Battles", traits, "all questions")
        systems = {system: system for system in view.systems}
        system = choose_maybe("system", "System", systems, "any system")
        opponent = result = None
        if system is not None:
            others = {name: name for name in view.systems if name != system}
            opponent = choose_maybe("opponent", "Against", others, "any opponent")
            result = choose_maybe("result", "Result", {one.value: one.value for one in Result}, "any result")
    domain = chosen_domain(view)
    return QuestionFilter(
        domain=None if domain == OVERALL else domain,
        words=words,
        trait=None if trait is None else Trait(trait),
        system=system,
        opponent=opponent,
        result=None if result is None else Result(result),
    )


def where_searched(wanted: QuestionFilter) -> str:
    """Which texts a reader's words were looked for in, as a sentence; empty where there are no words."""
    if not wanted.words.strip():
        return ""
    if wanted.system is None:
        return "Searched in the questions; choose a system to search in its answers too."
    return f"Searched in the questions and in the answers of {wanted.system}."


def question_table(
    view: BoardView, found: Sequence[QuestionDigest], page: int, answers: Mapping[str, str]
) -> Element:
    """One page of the list; each question leads to its evidence.

    Args:
        view: The board.
        found: The questions.
        page: Which part of them, from 1.
        answers: What stands around the reader's words in answers, by question id.
    """
    head = element(
        "tr",
        element("th", "Question", scope="col", class_="aa-left"),
        element("th", "Domain", scope="col", class_="aa-left aa-second"),
        element("th", "Battles", scope="col"),
        element("th", "What came of them", scope="col", class_="aa-left aa-second"),
    )
    rows = [
        _row(view, question, answers.get(question.id))
        for question in found[(page - 1) * AT_ONCE : page * AT_ONCE]
    ]
    table = element("table", element("thead", head), element("tbody", *rows), class_="aa-board aa-questions")
    return element("div", table, class_="aa-wrap")


def choose_page(found: int) -> int:
    """Which page of the list, from 1; offered where there is more than one."""
    pages = max(1, -(-found // AT_ONCE))
    wanted = st.query_params.get("page", "1")
    page = min(max(int(wanted), 1), pages) if wanted.isdecimal() else 1
    if pages == 1:
        return 1
    with st.container(horizontal=True, vertical_alignment="center", key="pages"):
        first, last = (page - 1) * AT_ONCE + 1, min(page * AT_ONCE, found)
        _turn("Earlier", page - 1, icon=":material/chevron_left:", disabled=page == 1)
        st.text(f"{first:,}–{last:,} of {found:,}")
        _turn("Later", page + 1, icon=":material/chevron_right:", disabled=page == pages)
    return page


def _turn(label: str, page: int, *, icon: str, disabled: bool) -> None:
    st.button(
        label, icon=icon, disabled=disabled, on_click=_to_page, args=(page,), key=f"page-{label.lower()}"
    )


def _to_page(page: int) -> None:
    st.query_params["page"] = str(page)


def _row(view: BoardView, question: QuestionDigest, answer: str | None) -> Element:
    place = link("question", board=view.name, id=question.id)
    named = element("a", question.question, href=place, target="_self")
    signs = (
        (question.ties, "tied"),
        (question.flips, "flipped with the order"),
        (question.disputed, "disputed between judges"),
        (question.undecided, "without a verdict"),
    )
    told = " · ".join(f"{count:,} {word}" for count, word in signs if count) or "all decided"
    name = element("th", named, element("span", question.id, class_="aa-sub"), scope="row")
    if answer is not None:
        name.append(element("span", f"In the answer: {answer}", class_="aa-sub aa-found"))
    return element(
        "tr",
        name,
        element("td", view.label(question.domain), class_="aa-left aa-second"),
        element("td", f"{question.battles:,}"),
        element("td", told, class_="aa-left aa-second aa-words"),
    )
