"""The questions that decide between systems, and which facts the answers to one of them cover."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from arena.html_pages import macro
from arena.models.results import ContestedQuestion
from arena.services.evidence.covered_facts import FactDiff, fact_diffs, own_facts
from arena.services.evidence.highlights import Stretch, mark_answer
from arena.services.evidence.questions import QuestionView
from arena.services.evidence.systems import Comparison
from arena.site.boards.downloads import Rows, offer_files
from arena.site.boards.view_model import BoardView
from arena.site.queries import evidence_of
from arena.site.questions.answers import Mark
from arena.site.ui.html import (
    Cell,
    Child,
    anchor,
    heading,
    lead,
    link,
    note,
    paragraph,
    put,
    put_html,
    subheading,
)
from arena.site.ui.url_state import choose_one
from data.text import percent_figure
from leaderboard.paired import Deciding

AT_ONCE = 8


def show_contested(view: BoardView, comparison: Comparison) -> None:
    """Show the questions on which the systems differ most, and the answers to one of them side by side."""
    heading("The questions that decide it", anchor="questions")
    for deciding in comparison.deciding:
        lead(deciding_sentence(deciding))
    note("Share of the win that each system takes over all its battles on the question, the widest first.")
    header = [("Question", "aa-left"), *((system, "") for system in comparison.systems)]
    rows = [_contested_row(view, comparison, question) for question in comparison.questions]
    put("table", header, rows[:AT_ONCE], classes="aa-questions")
    if rows[AT_ONCE:]:
        with st.expander(f"{len(rows) - AT_ONCE} more questions"):
            put("table", header, rows[AT_ONCE:], classes="aa-questions")
    files: Rows = [
        {
            "question_id": question.id,
            "domain": question.domain,
            "question": question.question,
            **question.shares,
        }
        for question in comparison.questions
    ]
    offer_files(view, "contested-questions", lambda: files)
    if comparison.questions:
        show_facts_of(view, comparison)


def deciding_sentence(deciding: Deciding) -> str:
    """Describe the number of questions that the lead of one of two depends on."""
    leader, other = deciding.leader, deciding.other
    if deciding.needed is None:
        return f"{leader} and {other} take the same share of the win over {deciding.questions:,} questions."
    questions = "one question" if deciding.needed == 1 else f"{deciding.needed:,} questions"
    return (
        f"Without the {questions} of {deciding.questions:,} on which {leader} is furthest ahead, its lead "
        f"over {other} would be gone."
    )


def _contested_row(view: BoardView, comparison: Comparison, question: ContestedQuestion) -> tuple[Child, ...]:
    href = link("question", board=view.name, id=question.id)
    best = max(question.shares.values())
    cells = [
        Cell(
            "–" if share is None else percent_figure(share, decimals=0),
            class_="aa-main" if share == best else "",
        )
        for share in map(question.shares.get, comparison.systems)
    ]
    named = Cell(question.question, href=href, sub=f"{view.label(question.domain)} · {question.id}")
    return (named, *cells)


def show_facts_of(view: BoardView, comparison: Comparison) -> None:
    """One question: which facts the answers of the first two cover, then the answers themselves."""
    heading("The answers by the facts they cover", anchor="facts")
    labels = {question.id: f"{question.id}: {question.question}" for question in comparison.questions}
    chosen = choose_one("question", "Question", labels)
    question_view = evidence_of(view, chosen)
    first, *others = comparison.systems
    diffs = {other: fact_diffs(question_view, first, other) for other in others}
    for other, found in diffs.items():
        _show_diffs(found, first, other)
    _show_answers(question_view, comparison.systems, own_facts(first, diffs))
    evidence = anchor("Evidence: battles, rationales, sources", "question", board=view.name, id=chosen)
    paragraph(evidence, class_="aa-note")


def _show_diffs(diffs: Sequence[FactDiff], first: str, second: str) -> None:
    """Show the facts that two answers cover, by kind; for missing kinds the reason and the remedy."""
    if not diffs:
        note(f"{first} or {second} gave no answer to this question, or it is not shown.")
    for diff in diffs:
        if not diff.missing:
            subheading(_title(diff))
            note(f"Recorded by {diff.source}.")
            put_html(macro("diff", diff, first, second))
    missing = [(_title(diff), diff.missing) for diff in diffs if diff.missing]
    if missing:
        put("not_compared", missing)


def _title(diff: FactDiff) -> str:
    return diff.kind.capitalize()


def _show_answers(
    question_view: QuestionView, systems: Sequence[str], own: Mapping[str, Collection[str]]
) -> None:
    """Show the answers in full; passages that only one of them covers are shaded."""
    shown = {answer.system: answer for answer in question_view.answers}
    subheading("In full")
    note(
        "Underlined: covers a statement of the passages; shaded: one that the first covers and another does "
        "not, or the other way round."
    )
    for column, system in zip(st.columns(len(systems)), systems, strict=True):
        with column, st.container(border=True, height="stretch", key=f"prose-compared-{system}"):
            answer = shown.get(system)
            record = (
                "" if answer is None else f"{answer.wins} won · {answer.ties} tied · {answer.losses} lost"
            )
            paragraph(Cell(system, class_="aa-main", sub=record), class_="aa-name")
            if answer is None:
                note("No answer to this question is shown.")
            else:
                parts = mark_answer(answer.answer.answer, answer.scores)
                put("marked", [_mark(part, own.get(system, ())) for part in parts])


def _mark(part: Stretch, own: Collection[str]) -> Mark | str:
    if not part.covers:
        return part.text
    alone = any(statement in own for statement in part.covers)
    classes = "aa-covers aa-only" if alone else "aa-covers"
    return Mark(text=part.text, class_=classes, meaning="covers: " + " | ".join(part.covers))
