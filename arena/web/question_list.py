"""The list of questions: filtered, shown, chosen from."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from arena.services.evidence import QuestionLine
from arena.web.views import OVERALL, BoardView

TALLEST = 620
MOST_ROWS = 16


def matching(lines: Sequence[QuestionLine], domain: str, words: str) -> list[QuestionLine]:
    """The questions of a domain (or of all) that contain every one of the words."""
    wanted = words.casefold().split()
    return [
        line
        for line in lines
        if domain in {OVERALL, line.domain} and all(word in line.question.casefold() for word in wanted)
    ]


def pick_question(view: BoardView, lines: Sequence[QuestionLine]) -> None:
    """Show questions as a table; choosing a row leads to the question."""
    columns = {
        "Question": [line.question for line in lines],
        "Domain": [view.label(line.domain) for line in lines],
        "Battles": [line.battles for line in lines],
        "Undecided": [line.undecided for line in lines],
    }
    chosen = st.dataframe(
        columns,
        hide_index=True,
        height=TALLEST if len(lines) > MOST_ROWS else "content",
        on_select="rerun",
        selection_mode="single-cell",
        key="chosen-question",
        column_config={
            "Question": st.column_config.TextColumn(width=700),
            "Domain": st.column_config.TextColumn(width="small"),
            "Battles": st.column_config.NumberColumn(width="small", format="localized"),
            "Undecided": st.column_config.NumberColumn(
                width="small", help="Battles without a verdict: unreadable, refused, failed or missing."
            ),
        },
        alt="Questions with their domain and number of battles",
    )
    cells = chosen["selection"]["cells"]
    if cells:
        line = lines[cells[0][0]]
        st.switch_page("question", query_params={"board": view.name, "id": line.id})
