"""Everything on a question in tabs: battles, answers, conflicts, aspects, sub-questions, contexts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import streamlit as st

from arena.services.evidence.highlights import mark_answer
from arena.services.evidence.questions import QuestionView
from arena.site.boards.view_model import BoardView
from arena.site.questions.answers import show_answer
from arena.site.questions.battles import battle_table
from arena.site.questions.metrics import show_aspects, show_conflicts, show_contexts, show_sub_questions
from arena.site.ui.components import note
from arena.site.ui.markup import put
from data.records import BattleEvidence

PART = "part"
KEY = "parts"
LABELS: Mapping[str, str] = MappingProxyType(
    {
        "battles": "Battles",
        "answers": "All answers",
        "conflicts": "Conflicts",
        "aspects": "Aspects",
        "sub-questions": "Sub-questions",
        "contexts": "Retrieved passages",
    }
)
"""The tabs by what the address calls them."""


def show_tabs(view: BoardView, question_view: QuestionView, battles: Sequence[BattleEvidence]) -> None:
    """Everything on the question; the address names the open tab, and a tab is filled when it is opened."""
    st.header("Everything on this question", anchor="more")
    parts: Mapping[str, Callable[[], None]] = {
        "battles": partial(_show_battles, view, question_view, battles),
        "answers": partial(_show_answers, view, question_view),
        "conflicts": partial(show_conflicts, question_view),
        "aspects": partial(show_aspects, question_view),
        "sub-questions": partial(show_sub_questions, question_view),
        "contexts": partial(show_contexts, question_view),
    }
    first = LABELS.get(st.query_params.get(PART, ""), LABELS["battles"])
    tabs = st.tabs(list(LABELS.values()), default=first, key=KEY, on_change=_into_address)
    for tab, name in zip(tabs, LABELS, strict=True):
        if tab.open:
            with tab:
                parts[name]()


def _into_address() -> None:
    chosen = st.session_state[KEY]
    st.query_params[PART] = next((name for name, label in LABELS.items() if label == chosen), "battles")


def _show_battles(view: BoardView, question_view: QuestionView, battles: Sequence[BattleEvidence]) -> None:
    note("The closest first. Choose one to have it explained above.")
    put(battle_table(view, question_view, battles))


def _show_answers(view: BoardView, question_view: QuestionView) -> None:
    note("Ordered by battles won minus battles lost on this question.")
    answers = question_view.answers
    for at in range(0, len(answers), 2):
        for column, answer in zip(st.columns(2), answers[at : at + 2], strict=False):
            with column, st.container(border=True, height="stretch", key=f"prose-all-{answer.submission.id}"):
                show_answer(view, answer, mark_answer(answer.answer.answer, answer.scores), None)
