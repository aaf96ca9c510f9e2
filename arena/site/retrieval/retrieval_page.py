"""Retrieval: which system finds the relevant passages, how surely, in which domain, and what it misses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from xml.etree.ElementTree import Element

import streamlit as st

from arena.models.retrieval import QuestionRankings, RankedPassage, SystemRanking
from arena.services.accounts.auth import Caller
from arena.services.retrieval_boards.service import RetrievalBoard
from arena.services.retrieval_boards.tables import board_file, remarks, stamp_of
from arena.site.auth import present
from arena.site.boards.downloads import MIMES
from arena.site.retrieval.tables import (
    contested_table,
    domain_labels,
    means_table,
    number,
    paired_table,
    signed,
    systems_table,
)
from arena.site.services import arena
from arena.site.ui.components import heading, lead, name_page, note, page_heading, subheading
from arena.site.ui.markup import element, put
from arena.site.ui.url_state import choose_one, text_filter
from data.errors import ForbiddenError
from leaderboard.export.tables import TableForm
from leaderboard.retrieval.board import RetrievalLine
from leaderboard.retrieval.files import trec_eval_lines
from leaderboard.retrieval.measures import Measure

MOST_CONTESTED = 10
HASH_SHOWN = 12
PAIR = 2
EXCERPT = 280
DEPTH = 10


def show() -> None:
    """Show the board of retrieval that the address names."""
    page_heading("Retrieval")
    names = arena().retrieval_boards.sets()
    if not names:
        st.info(
            "Nobody has submitted contexts yet. A TREC run is added on the page Submit.",
            icon=":material/inbox:",
        )
        return
    caller = present()
    board = _choose_board(names, caller)
    labels = domain_labels(board)
    left, right = st.columns(2)
    with left:
        measures = {one.name: one.label for one in board.table.measures}
        measure = board.table.measure(choose_one("measure", "Measure", measures))
    with right:
        domain = choose_one("domain", "Domain", labels)
    name_page("Retrieval", board.questions.title or board.questions.name)
    lines = board.table.lines(measure.name, domain)
    lead(_headline(lines, measure))
    note(measure.about)
    put(systems_table(board, lines, _caption(board, measure, labels[domain])))
    for said in remarks(board):
        note(said)
    _show_files(board)
    heading("Every measure", anchor="measures")
    put(means_table(board, domain, [line.system for line in lines]))
    if len(lines) >= PAIR:
        _show_comparison(board, measure, [line.system for line in lines])
    heading("One question", anchor="question")
    question = text_filter("id", "Question, by its id")
    _show_question(board, question.strip(), measure, caller)


def _choose_board(names: tuple[str, ...], caller: Caller) -> RetrievalBoard:
    left, right = st.columns(2)
    with left:
        set_name = choose_one("set", "Question set", {name: name for name in names})
    board = arena().retrieval_boards.board(set_name, qrels=_named(set_name), caller=caller)
    with right:
        choose_one("qrels", "Relevance judgments", {name: name for name in board.choices})
    return board


def _named(set_name: str) -> str:
    """The judgments that the address names, where the set has them."""
    wanted = st.query_params.get("qrels", "")
    return wanted if wanted in {row.name for row in arena().set_qrels.list(set_name)} else ""


def _headline(lines: tuple[RetrievalLine, ...], measure: Measure) -> str:
    first = lines[0]
    if first.mean is None:
        return f"{measure.label} exists for no question: the passages' texts are not known."
    value = f"{first.system} has the highest {measure.label}, {number(first.mean)}"
    if len(lines) < PAIR or first.letters is None:
        return f"{value}."
    sharing = [line.system for line in lines[1:] if set(line.letters or "") & set(first.letters)]
    if not sharing:
        return f"{value}; the questions separate it from every other system."
    return f"{value}; the questions do not separate it from {', '.join(sharing)}."


def _caption(board: RetrievalBoard, measure: Measure, domain: str) -> str:
    named = board.questions.title or board.questions.name
    judged = f"judgments {board.qrels.name}, relevant from grade {board.qrels.relevant_from:g}"
    return (
        f"{named}: {measure.label}, {domain}; {judged}. Small figures are 95 % intervals. "
        f"Content {board.content_hash[:HASH_SHOWN]}."
    )


def _show_files(board: RetrievalBoard) -> None:
    stem = stamp_of(board).stem
    with st.popover("Download", icon=":material/download:"):
        for by_question, label in ((False, "Board"), (True, "By question")):
            with st.container(horizontal=True):
                for form in TableForm:
                    ending = f"{'-questions' if by_question else ''}.{form}"
                    st.download_button(
                        f"{label}, {form.upper()}",
                        partial(board_file, board, form, by_question=by_question),
                        file_name=f"{stem}{ending}",
                        mime=MIMES[form],
                        on_click="ignore",
                    )
        note("What trec_eval -q -c prints of a system:")
        with st.container(horizontal=True):
            for system in board.table.systems:
                st.download_button(
                    f"trec_eval, {system}",
                    partial(_trec_eval, board, system),
                    file_name=f"{stem}-{system}.eval",
                    mime="text/plain",
                    on_click="ignore",
                )


def _trec_eval(board: RetrievalBoard, system: str) -> str:
    return "".join(f"{line}\n" for line in trec_eval_lines(board.table, system))


def _show_comparison(board: RetrievalBoard, measure: Measure, systems: list[str]) -> None:
    heading("Two systems", anchor="compare")
    left, right = st.columns(2)
    with left:
        first = choose_one("a", "First", {name: name for name in systems})
    with right:
        second = choose_one("b", "Second", {name: name for name in systems if name != first})
    paired = board.table.compared(measure.name, first, second)
    overall = paired[0]
    note(
        f"{first} minus {second}, {measure.label}: {signed(overall.difference)} over "
        f"{overall.questions:,} questions. 95 % t intervals and p of the paired t test of these two alone, "
        "not corrected for looking at several domains."
    )
    put(paired_table(domain_labels(board), first, second, paired))
    subheading("Where they differ most", anchor="contested")
    query = {
        "set": board.questions.name,
        "qrels": board.qrels.name,
        "measure": measure.name,
        "a": first,
        "b": second,
    }
    put(contested_table(board, measure.name, (first, second), MOST_CONTESTED, query))


def _show_question(board: RetrievalBoard, question_id: str, measure: Measure, caller: Caller) -> None:
    """Show a question, and what each system retrieved for it."""
    if question_id not in board.table.questions:
        note("Choose a question above, or type the id of one that the board counts.")
        return
    try:
        shown = arena().ranked_questions.of(board, question_id, depth=DEPTH, caller=caller)
    except ForbiddenError as error:
        note(str(error))
        return
    st.text(f"{shown.question_id}: {shown.question}")
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


def _item(line: RankedPassage, before: str, *facts: str) -> Element:
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


def _relevance(line: RankedPassage) -> str:
    if line.grade is None:
        return "not judged"
    return f"{'relevant' if line.relevant else 'not relevant'}, grade {line.grade:g}"


def _answers(line: RankedPassage) -> str:
    if not line.subtopics:
        return ""
    new = f", of which new: {', '.join(line.new)}" if line.rank is not None and line.new else ""
    return f"; subtopics {', '.join(line.subtopics)}{new}"
