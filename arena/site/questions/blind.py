"""A battle to be judged by the reader before they are told whose the answers are and what the judge said."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import streamlit as st

from arena.services.evidence.highlights import Places
from arena.services.evidence.questions import QuestionView
from arena.services.evidence.reading import agreement
from arena.site.boards.board_parts import back_to_board
from arena.site.boards.view_model import BoardView
from arena.site.queries import voted_set
from arena.site.questions.battles import show_battle
from arena.site.ui.components import lead, note
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor
from data.records import BattleEvidence, Preference

BLIND = "judge"
CHOICES = {
    Preference.A: "The first is better",
    Preference.TIE: "Equally good",
    Preference.B: "The second is better",
}


def offer_blind(view: BoardView, evidence: BattleEvidence) -> None:
    """Lead to judging a battle oneself, where visitors vote on the set."""
    if not voted_set(view):
        return
    battle = evidence.battle
    address = {"board": view.name, "id": battle.question_id, "battle": battle.key, BLIND: "yes"}
    put(element("p", anchor("Judge this pair yourself", "question", **address), class_="aa-note"))


def wants_blind(battles: Sequence[BattleEvidence], votes_on: str) -> BattleEvidence | None:
    """The battle that the reader wants to judge; None where they do not, or where no votes are open."""
    if not votes_on or BLIND not in st.query_params:
        return None
    wanted = st.query_params.get("battle")
    return next((evidence for evidence in battles if evidence.battle.key == wanted), None)


def show_blind(view: BoardView, question_view: QuestionView, evidence: BattleEvidence) -> None:
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
        st.header("Why the judge decided so", anchor="battle")
        show_battle(view, evidence, Places(question_view.question))


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
