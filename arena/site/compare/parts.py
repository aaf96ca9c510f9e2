"""Parts of a comparison: differences by domain, figures of the board, most divisive questions."""

from collections.abc import Sequence

import streamlit as st

from arena.formats import points, signed_share, whole
from arena.html_pages import macro
from arena.models.boards import BoardView
from arena.models.results import ContestedQuestion
from arena.services.boards.sentences import deciding_sentence, gap_between, record_of
from arena.services.evidence.systems import Comparison
from arena.site.boards.downloads import offer_files, set_note
from arena.site.compare.answers import show_facts_of
from arena.site.queries import comparison_of
from arena.site.ui.html import Cell, Child, figures_table, heading, lead, link, note, put, put_html
from data.text import percent_figure
from leaderboard.paired import PairedShare

AT_ONCE = 8


def show_compared(view: BoardView, systems: tuple[str, ...]) -> None:
    """Compare the first system with each of the others."""
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
        "The first system's win share minus the other's, in percentage points, on the same questions "
        f"against the same opponents ({comparison.battles:,} battles). Where the 95 % interval includes 0, "
        "the difference may be due to chance. The leaderboard tests all pairs at once and is more cautious."
    )
    first = comparison.systems[0]
    for other, paired in comparison.paired.items():
        second = [(f"{name} ahead", "aa-second") for name in (first, other)]
        columns = [("Domain", "aa-left"), ("Difference", ""), ("", "aa-bar"), *second, ("Questions", "")]
        cells = [_paired_row(view.label(share.domain), share) for share in paired if share.questions]
        put("table", columns, cells, f"{first} minus {other}, in percentage points of win share")
    offer_files(view, "paired-differences", lambda: list(comparison.paired_rows()))


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


def show_contested(view: BoardView, comparison: Comparison) -> None:
    """Show the questions on which the systems differ most, and the answers to one of them side by side."""
    heading("Questions with the largest differences", anchor="questions")
    for deciding in comparison.deciding:
        lead(deciding_sentence(deciding))
    note("Each system's win share over its battles on the question, largest difference first.")
    header = [("Question", "aa-left"), *((system, "") for system in comparison.systems)]
    rows = [_contested_row(view, comparison, question) for question in comparison.questions]
    put("table", header, rows[:AT_ONCE], classes="aa-questions")
    if rows[AT_ONCE:]:
        with st.expander(f"{len(rows[AT_ONCE:])} more questions"):
            put("table", header, rows[AT_ONCE:], classes="aa-questions")
    offer_files(
        view,
        "contested-questions",
        lambda: [
            {**question.model_dump(exclude={"shares"}), **question.shares}
            for question in comparison.questions
        ],
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
            Cell(
                "–" if share is None else percent_figure(share, decimals=0),
                class_="aa-main" if share == question.best else "",
            )
            for share in map(question.shares.get, comparison.systems)
        ),
    )
