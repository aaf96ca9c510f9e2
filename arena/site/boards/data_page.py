"""Data page: a board's files, their fields, citations, and statistics of the questions."""

from dataclasses import astuple
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import streamlit as st
from markupsafe import Markup

from arena.formats import CITATION, SET_CITATION, or_dash
from arena.models.boards import BoardView
from arena.models.sets import SetStatistics
from arena.services.accounts.auth import PUBLIC
from arena.site.boards.cache import made_once
from arena.site.boards.downloads import board_columns, board_rows, how_made, offer_files, show_files
from arena.site.boards.pickers import read_address, titled_board
from arena.site.queries import set_of
from arena.site.services import arena
from arena.site.ui.html import figures_table, heading, note, put, put_html, strip, verbatim, words_table
from arena.site.ui.url_state import opened

if TYPE_CHECKING:
    from altair import LayerChart
from data.text import percent
from leaderboard.export.tables import BATTLE_FIELDS

SET_STATISTICS = (
    "Domain",
    "Questions",
    "Words per reference, mean",
    "Passages per question, mean",
    "Questions with a reference",
    "Documents per reference, mean",
    "References from two or more documents",
    "References from ten or more documents",
    "Short answers per question, mean",
    "Words per passage, mean",
)


def show() -> None:
    """Show a board's files, their fields, and citations."""
    view = titled_board("Data", "data")
    strip(view.facts)
    put("notice", view.notice)
    note(how_made(view))
    heading("Files", anchor="files")
    show_files(view)
    _offer_table(view)
    heading("Fields", anchor="standings-fields")
    columns = board_columns(view)
    with st.expander(f"Standings: {len(columns)} columns with units", icon=":material/table:"):
        schema = map(astuple, columns)
        put_html(words_table(("Column", "Values", "Unit", "Meaning"), schema, scrolls=True))
    with st.expander("Battles: one line per battle", icon=":material/list:"):
        put_html(words_table(("Field", "Meaning"), BATTLE_FIELDS.items()))
    _show_set_statistics(view)
    _show_source(view)
    heading("Citation", anchor="cite")
    note("The content hash identifies exactly these standings; they never change once published.")
    verbatim(CITATION.format(view=view, year=view.published[:4], address=_site_address()))


def _site_address() -> str:
    url = urlsplit(st.context.url or "")
    return f"{url.scheme}://{url.netloc}" if url.netloc else ""


def _offer_table(view: BoardView) -> None:
    choices = read_address(view)
    domain = choices.domain

    def draw(_ink: str) -> "LayerChart":
        from arena.site.boards.charts import interval_chart  # noqa: PLC0415 - loads Altair

        return interval_chart(view, domain, choices.lines)

    note(f"The table of the board: {view.label(domain)}.")
    offer_files(
        view,
        f"standings-{domain}",
        partial(board_rows, view, [line.system for line in choices.lines], domain),
        title=view.label(domain),
        chart=draw if any(line.rating or line.win_tie for line in choices.lines) else None,
    )


def _show_source(view: BoardView) -> None:
    heading("Source and licence", anchor="source")
    summary = set_of(view)
    if summary is None:
        put_html(words_table(("About", "This board"), view.details))
        return
    facts = {
        "Question set": f"{summary.title}, version {summary.version}",
        "Source": summary.source or "not stated",
        "Licence": summary.licence or "not stated",
        "References by": summary.reference_by or "not stated",
        "Content sha256 of the set": summary.content_hash,
    }
    details = ((name[:1].upper() + name[1:], text) for name, text in view.details if name != "licence")
    header = ("About", "The questions, and how they were judged")
    put_html(words_table(header, (*facts.items(), *details)))
    verbatim(SET_CITATION.format(set=summary))


def _show_set_statistics(view: BoardView) -> None:
    if view.round_name is None:
        return
    heading("Statistics of the questions", anchor="questions")
    with opened("Words, documents and passages by domain", "statistics") as is_open:
        if is_open:
            put_html(made_once(view, "set statistics", lambda: _table(view, str(view.round_name))))


def _table(view: BoardView, round_name: str) -> Markup:
    rows = arena().sets.statistics(arena().rounds.get(round_name, caller=PUBLIC).set_name)
    return figures_table(SET_STATISTICS, [_row(row, view.label(row.domain)) for row in rows], spare=6)


def _row(row: SetStatistics, label: str) -> tuple[str, ...]:
    return (
        label,
        f"{row.questions:,}",
        or_dash(row.reference_words, ".1f"),
        or_dash(row.passages, ".1f"),
        f"{row.references:,}",
        or_dash(row.documents, ".1f"),
        percent(row.several_documents, decimals=0),
        percent(row.many_documents, decimals=0),
        or_dash(row.short_answers, ".1f"),
        or_dash(row.passage_words, ".1f"),
    )
