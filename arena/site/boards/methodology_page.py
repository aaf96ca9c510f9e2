"""How a verdict comes about, and what the numbers mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from markdown_it import MarkdownIt

from arena.site.trust.metric_agreement import show_agreement
from arena.site.ui.components import heading, lead, note, page_heading
from arena.site.ui.formats import whole
from arena.site.ui.markup import joined, put, put_html
from arena.site.ui.tables import plain_table, words_table
from arena.site.ui.url_state import opened
from data.intervals import Interval, wilson
from data.percent import percent
from judges.metrics.relations.figures import (
    Measured,
    OnClaims,
    Tenth,
    embedded_figures,
    scorer_of,
)
from leaderboard.export.charts import Estimate, forest

CHAPTERS = Path(__file__).parents[1] / "assets" / "method"


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter, as HTML: Streamlit's Markdown takes a browser ten times as long."""

    name: str
    html: str


@st.cache_data(show_spinner=False, max_entries=1)
def chapters() -> tuple[Chapter, ...]:
    """Every chapter, in the order of their numbers."""
    reader = MarkdownIt("commonmark").enable("table")
    return tuple(
        Chapter(path.stem, reader.render(path.read_text(encoding="utf-8")))
        for path in sorted(CHAPTERS.glob("*.md"))
    )


HEADER = ("Posterior", "Claims", "Mean posterior", "True", "95 % interval")
CALIBRATION = (
    "Of the claims that get a posterior in each tenth, the share that is true by people's labels, with "
    "Wilson's 95 % interval, by the embedded version of factuality. A posterior could be taken at its word "
    "if the share were the posterior itself. On WikiContradict each answer is a claim beside the passages "
    "that it saw; on QA-Feedback a sentence is true where nobody marked it as wrong or unverifiable."
)
FIGURES = (
    "How posteriors of the embedded version stand to people's labels, with 95 % intervals over questions, "
    "beside what a constant gets. Only claims below 0.3 are called contradicted on these pages and only "
    "those from 0.7 on supported; the rest is not confirmed."
)
MISSING = (
    "Comprehensiveness, held against what people marked as missing from answers: it counts every statement "
    "of the passages, people marked those that matter."
)
NEXT_TO = "4-why"


def posterior_figures() -> None:
    """Show how often the embedded versions are right, and how far posteriors can be trusted."""
    heading("Do the scores agree with people?", anchor="scores-and-people")
    show_agreement()
    figures = embedded_figures()
    heading("How often is factuality right?", anchor="factuality")
    note(FIGURES)
    for one in figures.claims:
        put(
            words_table(
                (f"{one.data}, {whole(one.claims)} claims", "Figure", "Constant"), _rows(one), spare=1
            )
        )
    note(scorer_of("", figures.engine).contradictions)
    missing = figures.missing
    rows = (
        ("AUC, lacking something", _figure(missing.auc), "0.500"),
        ("Marked statements listed", _figure(missing.marked), "1.000"),
        ("Other statements listed", _figure(missing.others), "1.000"),
        ("Listed against marked, kappa", _figure(missing.kappa), "0.000"),
    )
    note(MISSING)
    put(
        words_table(
            (f"{missing.data}, {whole(missing.answers)} answers", "Figure", "Constant"), rows, spare=1
        )
    )
    heading("How far can a posterior be trusted?", anchor="posteriors")
    note(CALIBRATION)
    for one in figures.claims:
        _curve(one)


def _rows(one: OnClaims) -> tuple[tuple[str, str, str], ...]:
    true = f"{one.true:.3f}"
    return (
        ("Called contradicted, not true", _figure(one.contradicted), f"{one.untrue:.3f}"),
        ("Called not confirmed, true", _figure(one.unconfirmed), true),
        ("Called supported, true", _figure(one.supported), true),
        ("AUC of posteriors", _figure(one.auc), "0.500"),
        ("Brier score, 0 best", _figure(one.brier), f"{one.constant_brier:.3f}"),
        ("Same side of one half", _figure(one.agreement), true),
        ("Beyond chance, kappa", _figure(one.kappa), "0.000"),
    )


def _figure(figure: Measured) -> str:
    bounds = f"{figure.value:.3f} ({figure.lower:.3f} to {figure.upper:.3f})".replace("-", "−")
    return f"{bounds} of {whole(figure.of)}"


def _curve(one: OnClaims) -> None:
    """The curve of one data set as a table, and as a chart where that is asked for."""
    marks = [_estimate(tenth) for tenth in one.calibration]
    note(f"{one.data}:")
    rows = [
        (
            _label(tenth),
            whole(tenth.claims),
            f"{tenth.mean_posterior:.2f}",
            percent(tenth.share_true),
            f"{percent(mark.lower)} to {percent(mark.upper)}",
        )
        for tenth, mark in zip(one.calibration, marks, strict=True)
    ]
    put(plain_table(HEADER, rows, spare=1))
    with opened(f"The curve on {one.data}", "curves", one.data) as is_open:
        if is_open:
            words = f"The share of true claims by posterior on {one.data}; the table has the same numbers."
            axis = "Share of claims that are true"
            st.altair_chart(forest(marks, axis=axis, row="Posterior", share=True, reference=0.5), alt=words)


def _label(tenth: Tenth) -> str:
    return f"{tenth.lower:.1f}–{tenth.upper:.1f}"


def _estimate(tenth: Tenth) -> Estimate:
    span = wilson(tenth.share_true, tenth.claims) or Interval(0.0, 1.0)
    return Estimate(
        system=_label(tenth),
        value=tenth.share_true,
        lower=span.lower,
        upper=span.upper,
        note=f"{whole(tenth.claims)} claims",
    )


def opening() -> None:
    """Show the chapters before the figures."""
    lead("From two answers and a question to a rank with honest error bars.")
    _show_chapters(chapter for chapter in chapters() if chapter.name <= NEXT_TO)


def _show_chapters(shown: Iterable[Chapter]) -> None:
    for chapter in shown:
        put_html(f'<div class="aa-chapter">{chapter.html}</div>')


def show() -> None:
    """Show the project's own account of its method."""
    page_heading("Method in full")
    with joined():
        opening()
    posterior_figures()
    with joined():
        _show_chapters(chapter for chapter in chapters() if chapter.name > NEXT_TO)
