"""The parts of a question page above its battles: question, passages, answers with their scores."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from arena.services.evidence import AnswerView, QuestionView
from arena.services.marking import mark_answer, mark_passage
from arena.web.answer_scores import show_scores
from arena.web.marked_text import LEGEND, answer_text, passage_text
from arena.web.markup import element, put
from arena.web.pieces import back_to_board, note, strip
from arena.web.tables import link
from arena.web.views import BoardView
from data.records import Passage
from data.store.scores import ScoredAnswer


def show_head(view: BoardView, found: QuestionView) -> None:
    """The question itself and what there is on it."""
    back_to_board(view)
    with st.container(key="question-text"):
        st.text(found.question.question)
    decided = [one for one in found.battles if one.battle.preference is not None]
    strip(
        (
            ("domain", found.domain_label),
            ("question", found.question.id),
            ("answers", f"{len(found.answers)}"),
            ("battles decided", f"{len(decided)} of {len(found.battles)}"),
        )
    )


def show_sources(found: QuestionView) -> None:
    """The passages that answers are held against, where the question has them."""
    passages = found.question.passages
    if not passages:
        note("This question comes without passages.")
        return
    with st.expander(f"Passages ({len(passages)})", icon=":material/menu_book:"):
        note("Underlined: a statement that some answer covers, with how many do; dotted: one that all miss.")
        show_passages(passages, [score for answer in found.answers for score in answer.scores])


def show_passages(passages: Sequence[Passage], scores: Sequence[ScoredAnswer]) -> None:
    """Passages in order, each with its id and with what answers cover and miss of it."""
    for at, passage in enumerate(passages):
        with st.container(key=f"prose-passage-{at}", gap="xsmall"):
            with st.container(key=f"title-passage-{at}"):
                st.text(f"{passage.title or 'Passage'}  [{passage.id}]")
            put(passage_text(mark_passage(passage.text, passage.id, scores)))


def show_answers(view: BoardView, found: QuestionView) -> None:
    """Every answer, best first, two beside each other where there is room."""
    note(f"Ordered by battles won less battles lost on this question. {LEGEND}")
    for at in range(0, len(found.answers), 2):
        for place, answer in zip(st.columns(2), found.answers[at : at + 2], strict=False):
            with (
                place,
                st.container(border=True, key=f"prose-answer-{answer.submission.id}", height="stretch"),
            ):
                _show_answer(view, answer)


def _show_answer(view: BoardView, shown: AnswerView) -> None:
    place = link("system", board=view.name, id=shown.system)
    name = element("a", shown.system, href=place, target="_self")
    kind = [element("span", "human reference", class_="aa-flag")] if shown.is_reference else []
    record = f"{shown.wins} won · {shown.ties} tied · {shown.losses} lost"
    put(element("p", name, *kind, element("span", record, class_="aa-sub"), class_="aa-name"))
    if shown.answer.answer:
        put(answer_text(mark_answer(shown.answer.answer, shown.scores)))
    else:
        note("(The answer is empty.)")
    show_scores(shown.scores)
