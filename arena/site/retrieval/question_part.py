"""One question of a retrieval board: what each system retrieved, and what it missed."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.retrieval_boards.questions import PassageLine, QuestionRankings, SystemRanking
from arena.services.retrieval_boards.service import RetrievalBoard
from arena.site.retrieval.tables import number
from arena.site.services import arena
from arena.site.ui.components import note
from arena.site.ui.markup import element, put
from data.errors import ForbiddenError
from leaderboard.retrieval.measures import Measure

EXCERPT = 280
DEPTH = 10


def show_question(board: RetrievalBoard, question_id: str, measure: Measure, caller: Caller) -> None:
    """Show a question, and what each system retrieved for it."""
    if question_id not in board.table.questions:
        note("Choose a question above, or type the id of one that the board counts.")
        return
    try:
        shown = arena().ranked_questions.of(board, question_id, depth=DEPTH, caller=caller)
    except ForbiddenError as error:
        note(str(error))
        return
    st.text(f"{shown.question.id}: {shown.question.question}")
    note(_facts(shown))
    if any(shown.subtopics.values()):
        with st.expander("Sub-questions", icon=":material/help:"):
            st.text("\n".join(f"{name}. {text}" for name, text in shown.subtopics.items()))
    for system in shown.systems:
        _show_system(system, shown, measure)


def _facts(shown: QuestionRankings) -> str:
    facts = f"{shown.relevant:,} relevant passages."
    if shown.subtopics:
        facts += f" {len(shown.subtopics):,} subtopics, which {len(shown.required):,} passages answer (Z*)."
    return f"{facts} The first {shown.depth} passages of each system."


def _show_system(system: SystemRanking, shown: QuestionRankings, measure: Measure) -> None:
    value = system.values[measure.name]
    score = "–" if value is None else number(value)
    with st.expander(f"{system.system}: {measure.label} {score}", expanded=len(shown.systems) <= 3):  # noqa: PLR2004 - more would be a wall
        if not system.shown:
            note("What it retrieved is shown to its team and the organisers.")
            return
        if not system.retrieved:
            note("It retrieved nothing for this question, which counts as 0.")
        else:
            put(_passages(system))
        put(_missed(system))
        if system.unanswered:
            note(f"Subtopics that none of these answers: {', '.join(system.unanswered)}.")


def _passages(system: SystemRanking) -> Element:
    head = f"{system.unjudged:,} of these {len(system.passages):,} passages were judged by nobody."
    items = [_item(line, f"{line.rank}. ", _relevance(line) + _answers(line)) for line in system.passages]
    return _list(head, items, "Retrieved passages")


def _missed(system: SystemRanking) -> Element:
    if not system.missed:
        return element("p", "No relevant passage is missed.", class_="aa-note")
    head = f"Relevant passages that are not among them: {len(system.missed):,}."
    items = [
        _item(line, "", "not retrieved" if line.rank is None else f"at rank {line.rank}", _answers(line))
        for line in system.missed
    ]
    return _list(head, items, "Missed passages")


def _list(head: str, items: Sequence[Element], label: str) -> Element:
    return element(
        "section",
        element("p", head, class_="aa-note"),
        element("ul", *items, class_="aa-claims", aria_label=label),
    )


def _item(line: PassageLine, before: str, *facts: str) -> Element:
    """A passage with what is known of it; retrieved ones that are relevant stand out, and missed ones."""
    text = " ".join(line.text.split())
    cut = f"{text[:EXCERPT]}…" if len(text) > EXCERPT else text
    parts = [element("p", before, element("strong", line.id), f" – {line.title}" if line.title else "")]
    if cut:
        parts.append(element("p", cut))
    parts.append(element("p", "".join(facts), class_="aa-sub"))
    if not before:
        return element("li", *parts, class_="aa-against")
    return element("li", *parts, class_="aa-for" if line.relevant else "aa-open")


def _relevance(line: PassageLine) -> str:
    if line.grade is None:
        return "not judged"
    return f"{'relevant' if line.relevant else 'not relevant'}, grade {line.grade:g}"


def _answers(line: PassageLine) -> str:
    if not line.subtopics:
        return ""
    new = f", of which new: {', '.join(line.new)}" if line.rank is not None and line.new else ""
    return f"; subtopics {', '.join(line.subtopics)}{new}"
