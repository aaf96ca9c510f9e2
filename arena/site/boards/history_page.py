"""Every board that was ever published: none changes, and what is said of it since stands beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.boards.history import Entry
from arena.site.boards.downloads import Rows, offer_files, offer_table
from arena.site.queries import board_named, history
from arena.site.ui.components import lead, note, notice_of, strip
from arena.site.ui.formats import points, shown
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor, rows_table
from leaderboard.standings.diff import Change, Changes

SHOWN = 12


def show_entry(entry: Entry) -> None:
    """Show a board of the history."""
    name = anchor(entry.title, "", board=entry.board)
    head = element("h2", entry.title if entry.retracted else name, class_="aa-entry")
    if entry.retracted:
        head.append(element("span", "retracted", class_="aa-verdict aa-lost"))
    put(head)
    strip(
        (
            ("published", entry.published.date().isoformat()),
            ("board", entry.board),
            ("systems", shown(entry.systems, ",")),
            ("battles judged", shown(entry.judged, ",")),
            ("judge", entry.judge or "–"),
            ("content sha256", entry.content_hash[:12]),
        )
    )
    if entry.replaced:
        note("Another snapshot of this round stands in its place; this one stays at this address.")
    if entry.notice:
        put(notice_of(entry.notice))
    elif entry.retracted:
        note("It was taken down without a notice.")
    if entry.retracted:
        return
    if entry.changes is None:
        note("There is no earlier board of its question set to compare with.")
    elif entry.previous is not None:
        with st.expander(f"What changed since {entry.previous}", icon=":material/difference:"):
            _show_changes(entry.previous, entry.changes)
            rows = [_file_row(entry.previous, one) for one in entry.changes.systems]
            offer_files(board_named(entry.board), f"changes-{entry.board}", lambda: rows)


def offer_entries(entries: Sequence[Entry]) -> None:
    """Offer the list of boards as files; each row has its board's name and hash."""
    rows: Rows = [
        {
            "board": one.board,
            "title": one.title,
            "question_set": one.set_name,
            "published": one.published.isoformat(),
            "retracted": one.retracted,
            "notice": one.notice,
            "systems": one.systems,
            "battles_judged": one.judged,
            "judge": one.judge,
            "previous_board": one.previous,
            "content_sha256": one.content_hash,
        }
        for one in entries
    ]
    offer_table(None, "boards", lambda: rows)


def _file_row(previous: str, one: Change) -> Mapping[str, object]:
    before, after = (one.ranks_before or (None, None)), (one.ranks_after or (None, None))
    return {
        "previous_board": previous,
        "system": one.system,
        "rank_lower_before": before[0],
        "rank_upper_before": before[1],
        "rank_lower": after[0],
        "rank_upper": after[1],
        "rating_before": one.rating_before,
        "rating": one.rating_after,
        "shift": one.shift,
    }


def _show_changes(previous: str, found: Changes) -> None:
    for label, names in (("New", found.entered), ("No longer there", found.left)):
        if names:
            note(f"{label}: {', '.join(names)}.")
    for name, (before, after) in found.settings.items():
        note(f"{name}: {before or 'nothing'} before, {after or 'nothing'} now.")
    moved = sum(one.moved for one in found.systems)
    note(
        f"{moved} of {len(found.systems)} systems moved for certain: no place in common with those on "
        f"{previous}. "
        "Ratings are compared after taking the mean of the systems on both boards from each."
    )
    ordered = sorted(found.systems, key=lambda one: (not one.moved, -abs(one.shift or 0.0)))
    put(_table(ordered[:SHOWN]))
    if len(ordered) > SHOWN:
        note(f"{len(ordered) - SHOWN} more systems moved less.")


def _table(found: list[Change]) -> Element:
    body = [
        element(
            "tr",
            element("th", one.system, scope="row"),
            element("td", _ranks(one.ranks_before)),
            element("td", _ranks(one.ranks_after), class_="aa-main" if one.moved else ""),
            element("td", "–" if one.shift is None else f"{one.shift:+.0f}".replace("-", "−"), _was(one)),
        )
        for one in found
    ]
    header = (("System", "aa-left"), ("Rank before", ""), ("Rank now", ""), ("Rating, points", ""))
    return rows_table(header, body)


def _was(one: Change) -> Element:
    before, after = (
        ("–" if value is None else points(value)) for value in (one.rating_before, one.rating_after)
    )
    return element("span", f"{before} → {after}", class_="aa-sub")


def _ranks(ranks: tuple[int, int] | None) -> str:
    if ranks is None:
        return "–"
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}–{ranks[1]}"


def show() -> None:
    """Show the history."""
    st.title("Rounds", anchor=False)
    lead(
        "A published board never changes: its hash names exactly its standings. Corrections appear in a "
        "notice, or "
        "the board is retracted and stays in this list."
    )
    entries = history()
    if not entries:
        st.info(
            "Nothing was published yet. `arena rounds publish ROUND` publishes a round.",
            icon=":material/info:",
        )
    else:
        offer_entries(entries)
    for entry in entries:
        show_entry(entry)
