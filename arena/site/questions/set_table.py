"""What the questions of a board are made of."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.accounts.auth import PUBLIC
from arena.services.question_sets.statistics import DomainStatistics
from arena.site.boards.cache import cached_html
from arena.site.boards.view_model import BoardView
from arena.site.services import arena
from arena.site.ui.tables import plain_table

HEADER = (
    "Domain",
    "Questions",
    "Words a reference",
    "Passages",
    "References",
    "Documents a reference",
    "Of two or more",
    "Of ten or more",
    "Short answers",
    "Words a passage",
)
UNKNOWN = "–"


def show_set_statistics(view: BoardView) -> None:
    """Show words, documents and passages by domain; nothing for boards of published counts."""
    if view.round_name is None:
        return
    st.header("What the questions are made of", anchor="questions")
    cached_html(view, "set statistics", lambda: _table(view, str(view.round_name)))


def _table(view: BoardView, round_name: str) -> Element:
    services = arena()
    round_, _ = services.rounds.status(round_name, caller=PUBLIC)
    rows = services.set_statistics.of(round_.set_name)
    return plain_table(HEADER, [_row(row, view.label(row.domain)) for row in rows], spare=6)


def _row(row: DomainStatistics, label: str) -> tuple[str, ...]:
    return (
        label,
        f"{row.questions:,}",
        _mean(row.reference_words),
        _mean(row.passages),
        f"{row.references:,}",
        _mean(row.documents),
        _share(row.several_documents),
        _share(row.many_documents),
        _mean(row.short_answers),
        _mean(row.passage_words),
    )


def _mean(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}"


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.0%}"
