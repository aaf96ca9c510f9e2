"""Files to take away, what their fields mean, how to cite them, and what the questions are made of."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.accounts.auth import PUBLIC
from arena.services.question_sets.statistics import DomainStatistics
from arena.site.boards.board_parts import board_note, errata, show_files
from arena.site.boards.cache import cached_html
from arena.site.boards.pickers import choose_board
from arena.site.boards.view_model import BoardView
from arena.site.public.links import addresses, embed_snippet, site_address
from arena.site.services import arena
from arena.site.ui.components import name_page, note, strip
from arena.site.ui.help_texts import BATTLE_FIELDS, CITATION, COMMANDS, STANDINGS_FIELDS
from arena.site.ui.markup import put
from arena.site.ui.tables import plain_table, words_table

SET_STATISTICS = (
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


def show() -> None:
    """Offer a board's files."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Data", anchor=False)
        view = choose_board(width=560)
    name_page("Data", view.full_title)
    strip(view.facts)
    errata(view)
    board_note(view)
    show_files(view)
    if view.details:
        put(words_table(("About this board", ""), view.details))
    _show_set_statistics(view)
    st.header("Without a browser", anchor="api")
    note("The board as a page without scripts, a picture for links, a permalink, and the site map.")
    put(words_table(("Address", "What it is"), addresses(view)))
    st.header("Show it on your site", anchor="embed")
    note("A small table in a frame: no script, no cookie. Add ?domain=ID for one domain.")
    st.code(embed_snippet(view, site_address()), language=None, wrap_lines=True)
    st.header("The same on the command line", anchor="commands")
    st.code(COMMANDS.format(board=view.name), language=None, wrap_lines=True)
    st.header("Fields of the standings", anchor="standings-fields")
    put(words_table(("Field", "Meaning"), STANDINGS_FIELDS.items()))
    st.header("Fields of the battles", anchor="battle-fields")
    put(words_table(("Field", "Meaning"), BATTLE_FIELDS.items()))
    st.header("Cite it", anchor="cite")
    note("The content hash names exactly these standings; they never change once published.")
    cited = CITATION.format(view=view, year=view.published[:4], address=site_address())
    st.code(cited, language="bibtex", wrap_lines=True)


def _show_set_statistics(view: BoardView) -> None:
    """Show words, documents and passages by domain; nothing for boards of published counts."""
    if view.round_name is None:
        return
    st.header("What the questions are made of", anchor="questions")
    cached_html(view, "set statistics", lambda: _table(view, str(view.round_name)))


def _table(view: BoardView, round_name: str) -> Element:
    services = arena()
    round_, _ = services.rounds.status(round_name, caller=PUBLIC)
    rows = services.set_statistics.of(round_.set_name)
    return plain_table(SET_STATISTICS, [_row(row, view.label(row.domain)) for row in rows], spare=6)


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
