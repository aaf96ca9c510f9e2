"""The answers of compared systems to one question, by the facts that they cover."""

from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from arena.models.boards import BoardView
from arena.services.evidence.covered_facts import fact_diffs, own_facts
from arena.services.evidence.highlights import Stretch, mark_answer
from arena.services.evidence.questions import QuestionView
from arena.services.evidence.systems import Comparison
from arena.site.queries import evidence_of
from arena.site.questions.answers import Mark
from arena.site.ui.html import Cell, anchor, heading, note, paragraph, put, subheading
from arena.site.ui.url_state import choose_one


def show_facts_of(view: BoardView, comparison: Comparison) -> None:
    """Show the facts that the answers to one question cover, then the answers."""
    heading("Answers compared by the facts they cover", anchor="facts")
    labels = {question.id: f"{question.id}: {question.question}" for question in comparison.questions}
    chosen = choose_one("question", "Question", labels)
    question_view = evidence_of(view, chosen)
    first, *others = comparison.systems
    diffs = {other: fact_diffs(question_view, first, other) for other in others}
    for other, kinds in diffs.items():
        put("fact_diffs", kinds, first, other)
    _show_answers(question_view, comparison.systems, own_facts(first, diffs))
    evidence = anchor("Evidence: battles, reasons and sources", "question", board=view.name, id=chosen)
    paragraph(evidence, class_="aa-note")


def _show_answers(
    question_view: QuestionView, systems: Sequence[str], own: Mapping[str, Collection[str]]
) -> None:
    answers = {answer.system: answer for answer in question_view.answers}
    subheading("In full")
    note(
        "Underlined: covers a statement of the passages. Shaded: covers a statement that, of two "
        "compared systems, only this one covers."
    )
    for column, system in zip(st.columns(len(systems)), systems, strict=True):
        with column, st.container(border=True, height="stretch", key=f"prose-compared-{system}"):
            answer = answers.get(system)
            if answer is None:
                paragraph(Cell(system, class_="aa-main"), class_="aa-name")
                note("Its answer to this question is not shown.")
                continue
            record = f"{answer.wins} won · {answer.ties} tied · {answer.losses} lost"
            paragraph(Cell(system, class_="aa-main", sub=record), class_="aa-name")
            parts = mark_answer(answer.answer.answer, answer.scores)
            put("marked", [_mark(part, own.get(system, ())) for part in parts])


def _mark(part: Stretch, own: Collection[str]) -> Mark | str:
    if not part.covers:
        return part.text
    unique = any(statement in own for statement in part.covers)
    classes = "aa-covers aa-only" if unique else "aa-covers"
    return Mark(text=part.text, class_=classes, meaning="covers: " + " | ".join(part.covers))
