"""Every board that was ever published: none changes, and later notices are shown with it."""

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
            rows = [_file_row(entry.previous, change) for change in entry.changes.systems]
            offer_files(board_named(entry.board), f"changes-{entry.board}", lambda: rows)


def offer_entries(entries: Sequence[Entry]) -> None:
    """Offer the list of boards as files; each row has its board's name and hash."""
    rows: Rows = [
        {
            "board": entry.board,
            "title": entry.title,
            "question_set": entry.set_name,
            "published": entry.published.isoformat(),
            "retracted": entry.retracted,
            "notice": entry.notice,
            "systems": entry.systems,
            "battles_judged": entry.judged,
            "judge": entry.judge,
            "previous_board": entry.previous,
            "content_sha256": entry.content_hash,
        }
        for entry in entries
    ]
    offer_table(None, "boards", lambda: rows)


def _file_row(previous: str, change: Change) -> Mapping[str, object]:
    before, after = (change.ranks_before or (None, None)), (change.ranks_after or (None, None))
    return {
        "previous_board": previous,
        "system": change.system,
        "rank_lower_before": before[0],
        "rank_upper_before": before[1],
        "rank_lower": after[0],
        "rank_upper": after[1],
        "rating_before": change.rating_before,
        "rating": change.rating_after,
        "shift": change.shift,
    }


def _show_changes(previous: str, changes: Changes) -> None:
    for label, names in (("New", changes.entered), ("No longer there", changes.left)):
        if names:
            note(f"{label}: {', '.join(names)}.")
    for name, (before, after) in changes.settings.items():
        note(f"{name}: {before or 'nothing'} before, {after or 'nothing'} now.")
    moved = sum(change.moved for change in changes.systems)
    note(
        f"{moved} of {len(changes.systems)} systems moved for certain: no place in common with those on "
        f"{previous}. "
        "Ratings are compared after taking the mean of the systems on both boards from each."
    )
    ordered = sorted(changes.systems, key=lambda change: (not change.moved, -abs(change.shift or 0.0)))
    put(_table(ordered[:SHOWN]))
    if len(ordered) > SHOWN:
        note(f"{len(ordered) - SHOWN} more systems moved less.")


def _table(changes: list[Change]) -> Element:
    body = [
        element(
            "tr",
            element("th", change.system, scope="row"),
            element("td", _ranks(change.ranks_before)),
            element("td", _ranks(change.ranks_after), class_="aa-main" if change.moved else ""),
            element(
                "td", "–" if change.shift is None else f"{change.shift:+.0f}".replace("-", "−"), _was(change)
            ),
        )
        for change in changes
    ]
    header = (("System", "aa-left"), ("Rank before", ""), ("Rank now", ""), ("Rating, points", ""))
    return rows_table(header, body)


def _was(change: Change) -> Element:
    before, after = (
        ("–" if value is None else points(value)) for value in (change.rating_before, change.rating_after)
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
