"""A question: the closest battle and why it ended so, the best answer beside another, and their sources."""

from __future__ import annotations

import streamlit as st

from arena.services.evidence.highlights import Places, Stretch, mark_answer
from arena.services.evidence.questions import QuestionView
from arena.services.evidence.reading import beside, closest_first
from arena.site.boards.board_parts import back_to_board, left_out, no_questions, set_note
from arena.site.boards.pickers import addressed_board
from arena.site.boards.view_model import BoardView
from arena.site.queries import evidence_of, voted_set
from arena.site.questions.answers import LEGEND, show_answer
from arena.site.questions.battles import choose_battle, places_of_battle, show_battle, standing
from arena.site.questions.blind import offer_blind, show_blind, wants_blind
from arena.site.questions.sources import light_up, show_sources
from arena.site.questions.tabs import show_tabs
from arena.site.ui.components import lead, name_page, note, strip
from arena.site.ui.markup import element, put
from arena.site.ui.url_state import choose_one
from data.records import BattleEvidence


def show_head(view: BoardView, question_view: QuestionView) -> None:
    """The question itself, who answered it best, and what there is on it."""
    back_to_board(view)
    with st.container(key="question-text"):
        put(element("h1", question_view.question.question))
    lead(standing(question_view))
    decided = [evidence for evidence in question_view.battles if evidence.battle.preference is not None]
    strip(
        (
            ("domain", question_view.domain_label),
            ("question", question_view.question.id),
            ("answers", f"{len(question_view.answers)}"),
            ("battles decided", f"{len(decided)} of {len(question_view.battles)}"),
        )
    )


def show_evidence(view: BoardView, question_view: QuestionView, battles: tuple[BattleEvidence, ...]) -> None:
    """The chosen battle and two answers, with the texts that they are held against in a side column."""
    places = Places(question_view.question)
    main, side = st.columns([13, 7], gap="large")
    with main:
        battle = choose_battle(battles)
        used = set[int]()
        if battle is not None:
            show_battle(view, battle, places)
            offer_blind(view, battle)
            used |= places_of_battle(battle, places)
        used |= _show_pair(view, question_view, battle, places)
    with side, st.container(key="sources"):
        show_sources(view, question_view, places, used)
    light_up(used)


def _show_pair(
    view: BoardView, question_view: QuestionView, battle: BattleEvidence | None, places: Places
) -> set[int]:
    """The best answer beside another one; gives the sentences that the two rest on."""
    st.header("Answers", anchor="answers")
    if not question_view.answers:
        note("No answer to this question is shown.")
        return set()
    chosen = beside(question_view, None if battle is None else battle.battle)
    others = {answer.system: answer.system for answer in (*chosen[1:], *question_view.answers[1:])}
    if others:
        wanted = choose_one("answer", "Beside the best answer", others, width=320)
        chosen = beside(question_view, None, wanted)
    marked: list[tuple[Stretch, ...]] = []
    for at, (column, answer) in enumerate(zip(st.columns(2), chosen, strict=False)):
        marked.append(mark_answer(answer.answer.answer, answer.scores, places))
        with column, st.container(border=True, key=f"prose-answer-{answer.submission.id}", height="stretch"):
            show_answer(view, answer, marked[at], places, flag="" if at else "best here")
    note(LEGEND)
    return {place for stretches in marked for part in stretches for place in part.places}


def show() -> None:
    """Show the question that the address names."""
    view = addressed_board()
    if view.round_name is None:
        st.title("Question", anchor=False)
        no_questions(view)
        return
    question_id = st.query_params.get("id")
    if question_id is None:
        st.title("Question", anchor=False)
        st.info("Choose a question on the questions page.", icon=":material/list:")
        return
    question_view = evidence_of(view, question_id)
    name_page(f"{question_id}: {question_view.question.question}", view.full_title)
    battles = closest_first(question_view.battles)
    blind = wants_blind(battles, voted_set(view))
    if blind is not None:
        show_blind(view, question_view, blind)
        return
    show_head(view, question_view)
    set_note(view)
    left_out(question_view.notice)
    show_evidence(view, question_view, battles)
    show_tabs(view, question_view, battles)
