"""A question: the closest battle and why it ended so, the best answer beside another, and their sources."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import streamlit as st

from arena.services.evidence.highlights import Places, Stretch, mark_answer
from arena.services.evidence.questions import QuestionView
from arena.services.evidence.reading import agreement, beside, best_of, closest_first
from arena.site.boards.board_parts import back_to_board, left_out, no_questions, set_note
from arena.site.boards.pickers import addressed_board
from arena.site.boards.view_model import BoardView
from arena.site.queries import evidence_of, voted_set
from arena.site.questions.answers import LEGEND, show_answer
from arena.site.questions.battles import battle_table, choose_battle, places_of_battle, show_battle, standing
from arena.site.questions.metrics import show_aspects, show_conflicts, show_contexts, show_sub_questions
from arena.site.questions.sources import light_up, show_sources
from arena.site.ui.components import heading, lead, name_page, note, page_heading, strip
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor
from arena.site.ui.url_state import choose_one
from data.records import BattleEvidence, Preference

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
BLIND = "judge"
CHOICES = {
    Preference.A: "The first is better",
    Preference.TIE: "Equally good",
    Preference.B: "The second is better",
}


def show_head(view: BoardView, question_view: QuestionView) -> None:
    """The question itself, who answered it best, and what there is on it."""
    back_to_board(view)
    with st.container(key="question-text"):
        put(element("h1", question_view.question.question))
    lead(standing(view, question_view))
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
            _offer_blind(view, battle)
            used |= places_of_battle(battle, places)
        used |= _show_pair(view, question_view, battle, places)
    with side, st.container(key="sources"):
        show_sources(view, question_view, places, used)
    light_up(used)


def _show_pair(
    view: BoardView, question_view: QuestionView, battle: BattleEvidence | None, places: Places
) -> set[int]:
    """The best answer beside another one; gives the sentences that the two rest on."""
    heading("Answers", anchor="answers")
    if not question_view.answers:
        note("No answer to this question is shown.")
        return set()
    chosen = beside(question_view, None if battle is None else battle.battle)
    others = {answer.system: answer.system for answer in (*chosen[1:], *question_view.answers[1:])}
    if others:
        wanted = choose_one("answer", f"Beside the answer of {chosen[0].system}", others, width=320)
        chosen = beside(question_view, None, wanted)
    marked: list[tuple[Stretch, ...]] = []
    best = best_of(question_view.battles)
    word = "best here" if len(best) == 1 else "among the best here"
    for at, (column, answer) in enumerate(zip(st.columns(2), chosen, strict=False)):
        marked.append(mark_answer(answer.answer.answer, answer.scores, places))
        with column, st.container(border=True, key=f"prose-answer-{answer.submission.id}", height="stretch"):
            show_answer(view, answer, marked[at], places, flag=word if answer.system in best else "")
    note(LEGEND)
    return {place for stretches in marked for part in stretches for place in part.places}


def show() -> None:
    """Show the question that the address names."""
    view = addressed_board()
    if view.round_name is None:
        page_heading("Question")
        no_questions(view)
        return
    question_id = st.query_params.get("id")
    if question_id is None:
        page_heading("Question")
        st.info("Choose a question on the questions page.", icon=":material/list:")
        return
    question_view = evidence_of(view, question_id)
    name_page(f"{question_id}: {question_view.question.question}", view.full_title)
    battles = closest_first(question_view.battles)
    blind = _wants_blind(battles, voted_set(view))
    if blind is not None:
        _show_blind(view, question_view, blind)
        return
    show_head(view, question_view)
    set_note(view)
    left_out(question_view.notice)
    show_evidence(view, question_view, battles)
    _show_tabs(view, question_view, battles)


def _show_tabs(view: BoardView, question_view: QuestionView, battles: Sequence[BattleEvidence]) -> None:
    """Everything on the question; the address names the open tab, and a tab is filled when it is opened."""
    heading("Everything on this question", anchor="more")
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


def _offer_blind(view: BoardView, evidence: BattleEvidence) -> None:
    """Lead to judging a battle oneself, where visitors vote on the set."""
    if not voted_set(view):
        return
    battle = evidence.battle
    address = {"board": view.name, "id": battle.question_id, "battle": battle.key, BLIND: "yes"}
    put(element("p", anchor("Judge this pair yourself", "question", **address), class_="aa-note"))


def _wants_blind(battles: Sequence[BattleEvidence], votes_on: str) -> BattleEvidence | None:
    """The battle that the reader wants to judge; None where they do not, or where no votes are open."""
    if not votes_on or BLIND not in st.query_params:
        return None
    wanted = st.query_params.get("battle")
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
