"""Two to four systems against each other: how much better, where, on which questions, by which facts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict

import streamlit as st

from arena.formats import or_dash, points, signed_share, whole
from arena.html_pages import macro
from arena.models.boards import BoardView
from arena.models.results import ContestedQuestion
from arena.services.boards.sentences import deciding_sentence, gap_between, record_of
from arena.services.evidence.covered_facts import fact_diffs, own_facts
from arena.services.evidence.highlights import Stretch, mark_answer
from arena.services.evidence.questions import QuestionView
from arena.services.evidence.systems import FEWEST, MOST, Comparison
from arena.site.boards.downloads import offer_files, set_note
from arena.site.boards.pickers import titled_board
from arena.site.queries import comparison_of, evidence_of
from arena.site.questions.answers import Mark
from arena.site.ui.html import (
    Cell,
    Child,
    anchor,
    figures_table,
    heading,
    lead,
    link,
    name_page,
    note,
    paragraph,
    put,
    put_html,
    subheading,
)
from arena.site.ui.url_state import choose_one, chosen_words, say_unknown
from leaderboard.paired import PairedShare

NAMES = ("a", "b", "c", "d")
NONE = "-"
"""Address value of no choice."""


def choose_systems(view: BoardView) -> tuple[str, ...]:
    """Return the systems of the address or of the reader; a single one with its neighbour."""
    key, addressed = "choice-compared", list(map(chosen_words, NAMES))
    for name in addressed:
        if name not in {"", NONE, *view.systems}:
            say_unknown(name, "Choose among the board's systems.")
    named = [system for system in dict.fromkeys(addressed) if system in view.systems]
    st.session_state[key] = named if NONE in addressed else view.with_neighbour(named)
    chosen = st.multiselect(
        "Systems, the first against the others",
        view.systems,
        key=key,
        max_selections=MOST,
        on_change=_into_address,
        args=(key,),
    )
    return tuple(str(system) for system in chosen)


def _into_address(key: str) -> None:
    chosen: list[str] = st.session_state[key]
    for at, name in enumerate(NAMES):
        if at < len(chosen):
            st.query_params[name] = chosen[at]
        elif name in st.query_params:
            del st.query_params[name]
    if len(chosen) < FEWEST:
        st.query_params[NAMES[len(chosen)]] = NONE


def show() -> None:
    """Show the comparison that the address names."""
    view = titled_board("Compare", "compare")
    systems = choose_systems(view)
    name_page(*filter(None, [" and ".join(systems)]), "Compare", view.full_title)
    if len(systems) < FEWEST:
        st.info("Choose two, three or four systems above.", icon=":material/compare_arrows:")
        return
    show_compared(view, systems)


def show_compared(view: BoardView, systems: tuple[str, ...]) -> None:
    """Compare the first of some systems with each of the others."""
    for other in systems[1:]:
        lead(gap_between(view, systems[0], other))
    for system in systems:
        if system in view.marks:
            note(f"{system} is {view.marks[system]}")
    set_note(view)
    if view.round_name is None:
        _show_figures(view, systems)
        note("This board was imported as counts, so its questions cannot be compared one by one.")
        return
    comparison = comparison_of(view, systems)
    put("notice", comparison.notice)
    _show_paired(view, comparison)
    show_contested(view, comparison)
    _show_figures(view, systems)


def _show_paired(view: BoardView, comparison: Comparison) -> None:
    heading("By domain", anchor="paired")
    note(
        "The first system's share of the win minus the other's, in percentage points, on the same questions "
        f"against the same opponents ({comparison.battles:,} battles). Where the 95 % interval includes 0, "
        "the difference may be chance. The leaderboard tests all pairs at once and is more cautious."
    )
    first, rows = comparison.systems[0], []
    for other, paired in comparison.paired.items():
        second = [(f"{name} ahead", "aa-second") for name in (first, other)]
        columns = [("Domain", "aa-left"), ("Difference", ""), ("", "aa-bar"), *second, ("Questions", "")]
        cells = [_paired_row(view.label(share.domain), share) for share in paired if share.questions]
        put("table", columns, cells, f"{first} minus {other}, in percentage points of the win")
        for share in paired:
            row = {"first": first, "second": other, **asdict(share), "significant": share.significant}
            rows.append({**row, **(row.pop("interval") or {"lower": None, "upper": None})})
    offer_files(view, "paired-differences", lambda: rows)


def _paired_row(label: str, share: PairedShare) -> tuple[Child, ...]:
    span = share.interval
    return (
        Cell(label, sub="significant" if share.significant else "may be chance"),
        Cell(
            signed_share(share.difference),
            class_="aa-main",
            sub=f"{signed_share(span.lower)} to {signed_share(span.upper)}" if span else "",
        ),
        macro("difference", share.difference, span),
        *map(whole, (share.ahead, share.behind, share.questions)),
    )


def _show_figures(view: BoardView, systems: Sequence[str]) -> None:
    records = {system: dict(record_of(view, system)) for system in systems}
    labels = dict.fromkeys(label for record in records.values() for label in record)
    lines = list(map(view.line, systems))
    ratings = ["–" if line is None or line.rating is None else points(line.rating.value) for line in lines]
    standing = [("Rank", *("–" if line is None else line.rank for line in lines)), ("Rating", *ratings)]
    rows = [(label, *(records[system].get(label, "–") for system in systems)) for label in labels]
    heading("On the board", anchor="board")
    put_html(figures_table(("", *systems), [*standing, *rows]))
    offer_files(view, "compared", lambda: [{"system": system, **records[system]} for system in systems])


AT_ONCE = 8


def show_contested(view: BoardView, comparison: Comparison) -> None:
    """Show the questions on which the systems differ most, and the answers to one of them side by side."""
    heading("The questions that decide it", anchor="questions")
    for deciding in comparison.deciding:
        lead(deciding_sentence(deciding))
    note("Each system's share of the win over its battles on the question, largest difference first.")
    header = [("Question", "aa-left"), *((system, "") for system in comparison.systems)]
    rows = [_contested_row(view, comparison, question) for question in comparison.questions]
    put("table", header, rows[:AT_ONCE], classes="aa-questions")
    if rows[AT_ONCE:]:
        with st.expander(f"{len(rows[AT_ONCE:])} more questions"):
            put("table", header, rows[AT_ONCE:], classes="aa-questions")
    offer_files(
        view,
        "contested-questions",
        lambda: [{**one.model_dump(exclude={"shares"}), **one.shares} for one in comparison.questions],
    )
    if comparison.questions:
        show_facts_of(view, comparison)


def _contested_row(view: BoardView, comparison: Comparison, question: ContestedQuestion) -> tuple[Child, ...]:
    return (
        Cell(
            question.question,
            href=link("question", board=view.name, id=question.id),
            sub=f"{view.label(question.domain)} · {question.id}",
        ),
        *(
            Cell(or_dash(share, ".0%").removesuffix("%"), class_="aa-main" if share == question.best else "")
            for share in map(question.shares.get, comparison.systems)
        ),
    )


def show_facts_of(view: BoardView, comparison: Comparison) -> None:
    """Show the facts that the answers to one question cover, then the answers."""
    heading("The answers by the facts they cover", anchor="facts")
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
        "Underlined: covers a statement of the passages. Shaded: covers a statement that only the first "
        "system or only another one covers."
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
    alone = any(statement in own for statement in part.covers)
    classes = "aa-covers aa-only" if alone else "aa-covers"
    return Mark(text=part.text, class_=classes, meaning="covers: " + " | ".join(part.covers))
