"""A question: everything behind its verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.evidence.highlights import Found, Stretch, mark_answer, mark_passage
from arena.services.evidence.questions import AnswerView, QuestionView
from arena.site.boards.board_parts import back_to_board, no_questions, set_note
from arena.site.boards.pickers import addressed_board
from arena.site.boards.view_model import BoardView
from arena.site.queries import evidence_of
from arena.site.questions.answers import show_scores
from arena.site.questions.battles import choose_battle, show_battle
from arena.site.questions.metrics import show_question_metrics
from arena.site.ui.components import name_page, note, strip
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor
from data.records import Passage
from data.store.boards.scores import ScoredAnswer
from judges.metrics.factuality.measures import Label

SIGNS = {Label.SUPPORTED: "✓", Label.CONTRADICTED: "✗", Label.UNDECIDED: "?"}
CLASSES = {Label.SUPPORTED: "aa-for", Label.CONTRADICTED: "aa-against", Label.UNDECIDED: "aa-open"}
LEGEND = (
    "Underlined: covers a statement of the passages (the number says how many). Coloured: a claim that the "
    "passages "
    "support ✓, contradict ✗ or leave open ?, darker = more certain, with its probability. Point at a "
    "part for more."
)


def answer_text(parts: Sequence[Stretch]) -> Element:
    """An answer as text with its marks; what has none is plain."""
    return element("div", *(_stretch(part) if part.marked else part.text for part in parts), class_="aa-text")


def _stretch(part: Stretch) -> Element:
    marks, title = [], []
    if part.label is not None and part.posterior is not None:
        sure = "" if part.label is Label.UNDECIDED else f" {part.posterior:.2f}"
        marks.append(f"{SIGNS[part.label]}{sure}")
        title.append(
            f"{part.label}: probability {part.posterior:.2f} that the claim is true, given the passages"
        )
    if part.covers:
        marks.append(f"+{len(part.covers)}")
        title.append("covers: " + " | ".join(part.covers))
    if part.instead:
        marks.append("≠")
        title.append(f"the passages say instead: {part.instead}")
    kinds = [CLASSES.get(part.label, "") if part.label else "", "aa-covers" if part.covers else ""]
    strength = "" if part.posterior is None else f"--strength: {100 * abs(2 * part.posterior - 1):.0f}%"
    return element(
        "mark",
        part.text,
        element("sup", " ".join(marks)),
        class_=" ".join(kind for kind in kinds if kind) or "aa-plain",
        title="\n".join(title),
        style=strength,
    )


def passage_text(parts: Sequence[Found]) -> Element:
    """A passage as text; its statements say how many answers cover them."""
    return element("div", *(_passage_part(part) for part in parts), class_="aa-text")


def _passage_part(part: Found) -> Element | str:
    total = len(part.covered) + len(part.missed)
    if not total:
        return part.text
    title = (
        f"covered by {', '.join(part.covered) or 'nobody'}; missed by {', '.join(part.missed) or 'nobody'}"
    )
    kind = "aa-covers" if part.covered else "aa-missed"
    sign = "✓" if part.covered else "–"
    count = element("sup", f"{sign} {len(part.covered)}/{total}")
    return element("mark", part.text, count, class_=kind, title=title)


def show_head(view: BoardView, question_view: QuestionView) -> None:
    """The question itself and what there is on it."""
    back_to_board(view)
    with st.container(key="question-text"):
        put(element("h1", question_view.question.question))
    decided = [evidence for evidence in question_view.battles if evidence.battle.preference is not None]
    strip(
        (
            ("domain", question_view.domain_label),
            ("question", question_view.question.id),
            ("answers", f"{len(question_view.answers)}"),
            ("battles decided", f"{len(decided)} of {len(question_view.battles)}"),
        )
    )


def show_sources(question_view: QuestionView) -> None:
    """The passages that answers are held against, where the question has them."""
    passages = question_view.question.passages
    if not passages:
        note("This question comes without passages.")
        return
    with st.expander(f"Passages ({len(passages)})", icon=":material/menu_book:"):
        note("Underlined: a statement that some answer covers, with how many do; dotted: one that all miss.")
        show_passages(passages, [score for answer in question_view.answers for score in answer.scores])


def show_passages(passages: Sequence[Passage], scores: Sequence[ScoredAnswer]) -> None:
    """Passages in order, each with its id and with what answers cover and miss of it."""
    for at, passage in enumerate(passages):
        with st.container(key=f"prose-passage-{at}", gap="xsmall"):
            with st.container(key=f"title-passage-{at}"):
                st.text(f"{passage.title or 'Passage'}  [{passage.id}]")
            put(passage_text(mark_passage(passage.text, passage.id, scores)))


def show_answers(view: BoardView, question_view: QuestionView) -> None:
    """Every answer, best first, two side by side where there is room."""
    note(f"Ordered by battles won minus battles lost on this question. {LEGEND}")
    for at in range(0, len(question_view.answers), 2):
        for column, answer in zip(st.columns(2), question_view.answers[at : at + 2], strict=False):
            with (
                column,
                st.container(border=True, key=f"prose-answer-{answer.submission.id}", height="stretch"),
            ):
                _show_answer(view, answer)


def _show_answer(view: BoardView, shown: AnswerView) -> None:
    name = anchor(shown.system, "system", board=view.name, id=shown.system)
    word = "human-written reference" if view.by_people else "reference"
    kind = [element("span", word, class_="aa-flag")] if shown.is_reference else []
    record = f"{shown.wins} won · {shown.ties} tied · {shown.losses} lost"
    put(element("p", name, *kind, element("span", record, class_="aa-sub"), class_="aa-name"))
    if shown.answer.answer:
        put(answer_text(mark_answer(shown.answer.answer, shown.scores)))
    else:
        note("(The answer is empty.)")
    if shown.answer.thinking:
        with st.expander("Thinking before the answer, which nobody judges", icon=":material/psychology:"):
            st.text(shown.answer.thinking)
    show_scores(shown.scores)


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
    show_head(view, question_view)
    set_note(view)
    show_sources(question_view)
    st.header("Answers", anchor="answers")
    show_answers(view, question_view)
    show_question_metrics(question_view)
    st.header("Battles", anchor="battles")
    battle = choose_battle(view, question_view)
    if battle is not None:
        show_battle(view, battle)
