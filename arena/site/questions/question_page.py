"""A question: the closest battle and why it ended so, the best answer beside another, and their sources."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import streamlit as st

from arena.html_pages import Parts
from arena.services.evidence.questions import QuestionView
from arena.services.evidence.reading import agreement, closest_first
from arena.site.boards.board_parts import back_to_board, no_questions
from arena.site.boards.pickers import addressed_board
from arena.site.boards.view_model import BoardView
from arena.site.queries import evidence_of, voted_set
from arena.site.questions.metrics import (
    show_aspects,
    show_conflicts,
    show_contexts,
    show_facts,
    show_sub_questions,
)
from arena.site.questions.question_view import (
    BLIND,
    LABELS,
    PART,
    as_parts,
    chosen_part,
)
from arena.site.services import address
from arena.site.ui.components import heading, lead, name_page, note, page_heading
from arena.site.ui.errors import PageEndedError
from arena.site.ui.markup import element, html_put_by, joined, put, put_part
from arena.site.ui.tables import anchor
from arena.site.ui.url_state import choose_one, chosen_words
from data.records import BattleEvidence, Preference

KEY = "parts"
MORE: Mapping[str, Callable[[QuestionView], None]] = MappingProxyType(
    {
        "facts": show_facts,
        "conflicts": show_conflicts,
        "aspects": show_aspects,
        "sub-questions": show_sub_questions,
        "contexts": show_contexts,
    }
)
"""Tabs that metrics fill."""
CHOICES = {
    Preference.A: "The first is better",
    Preference.TIE: "Equally good",
    Preference.B: "The second is better",
}


def look() -> str:
    """The page without what only Streamlit can offer; nothing of a pair to be judged blind."""
    view = addressed_board()
    if view.round_name is None or not chosen_words("id") or chosen_words(BLIND):
        raise PageEndedError
    shown = evidence_of(view, chosen_words("id"))
    battles = closest_first(shown.battles)
    return as_parts(view, shown, battles).whole() + _of_metrics(shown)


def _of_metrics(shown: QuestionView) -> str:
    """The tab that is open where metrics fill it."""
    show_part = MORE.get(chosen_part())
    return "" if show_part is None else f'<div class="stHtml">{html_put_by(partial(show_part, shown))}</div>'


def show() -> None:
    """Show the question that the address names."""
    view = addressed_board()
    if view.round_name is None:
        page_heading("Question")
        no_questions(view)
        return
    question_id = chosen_words("id")
    if not question_id:
        page_heading("Question")
        st.info("Choose a question on the questions page.", icon=":material/list:")
        return
    shown = evidence_of(view, question_id)
    name_page(f"{question_id}: {shown.question.question}", view.full_title)
    battles = closest_first(shown.battles)
    blind = _wants_blind(battles, voted_set(view))
    if blind is not None:
        _show_blind(view, shown, blind)
        return
    parts = as_parts(view, shown, battles)
    put_part(parts, "head")
    main, side = st.columns([13, 7], gap="large")
    with main:
        _show_battle(parts, battles)
        put_part(parts, "answers_heading")
        if others := parts.values["others"]:
            choose_one("answer", parts.values["beside_label"], others, width=320)
        put_part(parts, "pair")
    with side, st.container(key="sources"):
        put_part(parts, "sources")
    put(element("style", parts.values["lit"]))
    put_part(parts, "more")
    _show_tabs(parts, shown)


def _show_battle(parts: Parts, battles: Sequence[BattleEvidence]) -> None:
    """Show the chosen battle."""
    put_part(parts, "battle_heading")
    if not battles:
        return
    choose_one("battle", parts.values["choice_label"], parts.values["choices"], width=480)
    put_part(parts, "battle")


def _show_tabs(parts: Parts, shown: QuestionView) -> None:
    """Everything on the question; the address names the open tab, and a tab is filled when it is opened."""
    tabs = st.tabs(list(LABELS.values()), default=LABELS[chosen_part()], key=KEY, on_change=_into_address)
    for tab, name in zip(tabs, LABELS, strict=True):
        if tab.open:
            with tab:
                if name in MORE:
                    with joined():
                        MORE[name](shown)
                else:
                    put_part(parts, name)


def _into_address() -> None:
    chosen = st.session_state[KEY]
    st.query_params[PART] = next((name for name, label in LABELS.items() if label == chosen), "battles")


def _wants_blind(battles: Sequence[BattleEvidence], votes_on: str) -> BattleEvidence | None:
    """The battle that the reader wants to judge; None where they do not, or where no votes are open."""
    if not votes_on or BLIND not in address():
        return None
    wanted = chosen_words("battle")
    return next((evidence for evidence in battles if evidence.battle.key == wanted), None)


def _show_blind(view: BoardView, question_view: QuestionView, evidence: BattleEvidence) -> None:
    """Two answers without names; after the choice whose they are, what the judge said, and why."""
    battle = evidence.battle
    back_to_board(view)
    with st.container(key="question-text"):
        put(element("h1", question_view.question.question))
    b_first = st.session_state.setdefault(f"b-first-{battle.key}", secrets.choice((False, True)))
    chosen: Preference | None = st.session_state.get(_key(evidence))
    names = (battle.system_b, battle.system_a) if b_first else (battle.system_a, battle.system_b)
    if chosen is None:
        lead("Which answer is better? Whose they are and what the judge said comes after your choice.")
        _offer_choices(evidence, b_first=b_first)
    else:
        lead(agreement(battle, chosen))
        _show_ways_on(view, evidence)
    answers = {answer.system: answer.answer.answer for answer in question_view.answers}
    for at, (column, name) in enumerate(zip(st.columns(2), names, strict=True)):
        with column, st.container(border=True, height="stretch", key=f"prose-blind-{at}"):
            title = ("First answer", "Second answer")[at] if chosen is None else name
            put(element("p", element("strong", title), class_="aa-name"))
            st.text(answers.get(name, "") or "(This answer is not shown.)")
    _show_passages(question_view)
    if chosen is not None:
        heading("Why the judge decided so", anchor="battle")
        put_part(as_parts(view, question_view, (evidence,)), "battle")


def _show_passages(question_view: QuestionView) -> None:
    passages = question_view.question.passages
    if passages:
        with st.expander(f"Passages ({len(passages)})", icon=":material/menu_book:"):
            for passage in passages:
                st.text(f"{passage.title or 'Passage'}  [{passage.id}]\n{passage.text}")


def _key(evidence: BattleEvidence) -> str:
    return f"own-choice-{evidence.battle.key}"


def _offer_choices(evidence: BattleEvidence, *, b_first: bool) -> None:
    with st.container(horizontal=True):
        for place, label in CHOICES.items():
            choice = place.flipped if b_first else place
            st.button(label, key=f"choose-{place}", on_click=_choose, args=(_key(evidence), choice))


def _choose(key: str, choice: Preference) -> None:
    st.session_state[key] = choice


def _show_ways_on(view: BoardView, evidence: BattleEvidence) -> None:
    battle = evidence.battle
    back = anchor("All the evidence", "question", board=view.name, id=battle.question_id, battle=battle.key)
    drawn = anchor("judge pairs that are drawn for you", f"vote/{voted_set(view)}")
    note("You chose this pair, so your choice is not kept: votes that count are on pairs drawn by chance.")
    put(element("p", back, " · or ", drawn, class_="aa-note"))
