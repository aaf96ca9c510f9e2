"""One question of a retrieval board: what each system retrieved, and what it missed."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.retrieval_boards.questions import PassageLine, QuestionRankings, SystemRanking
from arena.services.retrieval_boards.service import RetrievalBoard
from arena.site.retrieval.tables import number
from arena.site.services import arena
from arena.site.ui.components import note
from arena.site.ui.markup import Child, element, put
from arena.site.ui.tables import words_table
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
            put(_passages(system, shown.subtopics))
        put(_missed(system))
        if system.unanswered:
            note(f"Subtopics that none of these answers: {', '.join(system.unanswered)}.")


def _passages(system: SystemRanking, subtopics: Mapping[str, str]) -> Element:
    header = ["Rank", "Passage", "Relevance", *(["Subtopics, new ones in bold"] if subtopics else [])]
    rows: list[list[Child]] = [
        [
            f"{line.rank}",
            _text(line),
            _relevance(line),
            *([_answers(line)] if subtopics else []),
        ]
        for line in system.passages
    ]
    caption = f"{system.unjudged:,} of these {len(system.passages):,} passages were judged by nobody."
    return words_table(header, rows, caption=caption)


def _missed(system: SystemRanking) -> Element:
    if not system.missed:
        return element("p", "No relevant passage is missed.", class_="aa-note")
    head = element("p", f"{len(system.missed):,} relevant passages are not among them:", class_="aa-note")
    items = [
        element("li", _text(line), element("p", _place(line), class_="aa-sub"), class_="aa-against")
        for line in system.missed
    ]
    return element("section", head, element("ul", *items, class_="aa-claims", aria_label="Missed passages"))


def _place(line: PassageLine) -> str:
    where = "not retrieved" if line.rank is None else f"at rank {line.rank}"
    answers = f"; answers subtopics {', '.join(line.subtopics)}" if line.subtopics else ""
    return where + answers


def _text(line: PassageLine) -> Element:
    text = " ".join(line.text.split())
    cut = f"{text[:EXCERPT]}…" if len(text) > EXCERPT else text
    node = element("span", element("strong", line.id))
    if line.title or cut:
        node.append(element("span", " – ".join(part for part in (line.title, cut) if part), class_="aa-sub"))
    return node


def _relevance(line: PassageLine) -> str:
    if line.grade is None:
        return "not judged"
    return f"{'relevant' if line.relevant else 'not relevant'} ({line.grade:g})"


def _answers(line: PassageLine) -> Element:
    node = element("span")
    for place, name in enumerate(line.subtopics):
        if place:
            node.append(element("span", ", "))
        node.append(element("strong" if name in line.new else "span", name))
    return node if line.subtopics else element("span", "–")
