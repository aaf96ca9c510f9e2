"""A question: the closest battle and why it ended so, the best answer beside another, and their sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import streamlit as st

from arena.html_pages import Parts
from arena.services.evidence.questions import QuestionView
from arena.services.evidence.reading import closest_first
from arena.site.boards.board_parts import no_questions
from arena.site.boards.pickers import addressed_board
from arena.site.queries import evidence_of
from arena.site.questions.metrics import (
    show_aspects,
    show_contexts,
    show_facts,
    show_sub_questions,
)
from arena.site.questions.question_view import (
    LABELS,
    PART,
    as_parts,
    chosen_part,
)
from arena.site.ui.components import name_page, page_heading
from arena.site.ui.markup import element, joined, put, put_part
from arena.site.ui.url_state import choose_one, chosen_words
from data.models import BattleEvidence

KEY = "parts"
MORE: Mapping[str, Callable[[QuestionView], None]] = MappingProxyType(
    {
        "facts": show_facts,
        "aspects": show_aspects,
        "sub-questions": show_sub_questions,
        "contexts": show_contexts,
    }
)
"""Tabs that metrics fill."""


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
