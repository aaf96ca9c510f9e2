"""A timeline of every board that was published, with what changed from one to the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.boards.history import Entry
from arena.site.boards.downloads import Rows, offer_files, offer_table
from arena.site.queries import board_named, history
from arena.site.ui.components import lead, note, notice_of, page_heading, strip
from arena.site.ui.formats import points, shown
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor, rows_table
from leaderboard.standings.diff import Change, Changes

ROWS = 12
HASH_SHOWN, HASH_LENGTH = 12, 64


def show_entry(entry: Entry) -> None:
    """Show a board of the history: when, what it is, and what changed."""
    with st.container(key=f"entry-{entry.board.replace('@', '-')}"):
        put(
            element(
                "p",
                element("time", f"{entry.published:%d %B %Y}", datetime=entry.published.isoformat()),
                class_="aa-eyebrow",
            )
        )
        _show_head(entry)
        _show_facts(entry)
        for text in _notices(entry):
            put(text)
        if entry.retracted:
            return
        if entry.changes is None or entry.previous is None:
            note("There is no earlier board of its question set to compare with.")
            return
        put(element("ul", *(element("li", line) for line in changed_lines(entry)), class_="aa-changed"))
        _offer_details(entry, entry.previous, entry.changes)


def _show_head(entry: Entry) -> None:
    name = anchor(entry.title, "", board=entry.board)
    head = element("h2", entry.title if entry.retracted else name, class_="aa-entry")
    if entry.retracted:
        head.append(element("span", "retracted", class_="aa-verdict aa-lost"))
    elif entry.replaced:
        head.append(element("span", "replaced", class_="aa-verdict aa-tied"))
    elif entry.correction:
        head.append(element("span", "corrected", class_="aa-verdict aa-won"))
    put(head)


def _show_facts(entry: Entry) -> None:
    if entry.retracted:
        strip((("board", entry.board), ("content sha256", entry.content_hash[:HASH_SHOWN])))
        return
    strip(
        (
            ("board", entry.board),
            ("systems", shown(entry.systems, ",")),
            ("battles judged", shown(entry.judged, ",")),
            ("judge", entry.judge or "–"),
            ("content sha256", entry.content_hash[:HASH_SHOWN]),
        )
    )


def _notices(entry: Entry) -> Iterator[Element]:
    """What was said of a board since it was published, in paragraphs."""
    if entry.correction:
        yield element("p", f"{entry.correction}.", class_="aa-note")
    if entry.replaced:
        text = "Another snapshot of this round stands in its place; this one stays at this address."
        yield element("p", text, class_="aa-note")
    if entry.noted is not None:
        word = "Retracted" if entry.retracted else "Notice"
        yield element("p", f"{word} on {entry.noted:%d %B %Y}", class_="aa-eyebrow")
    if entry.notice:
        yield notice_of(entry.notice)
    elif entry.retracted:
        yield element("p", "It was taken down without a notice.", class_="aa-note")


def changed_lines(entry: Entry) -> list[str]:
    """What changed since the board before, in sentences: systems, ranks beyond chance, settings."""
    changes = entry.changes
    if changes is None:
        return []
    left = [name for name in changes.left if name not in entry.withdrawn]
    moved = [
        f"{change.system} from {_ranks(change.ranks_before)} to {_ranks(change.ranks_after)}"
        for change in changes.systems
        if change.moved
    ]
    lines = [
        ("New", ", ".join(changes.entered)),
        ("Withdrawn", ", ".join(entry.withdrawn)),
        ("No longer there", ", ".join(left)),
        ("Rank changed beyond chance", "; ".join(moved)),
    ]
    sentences = [f"{label}: {text}." for label, text in lines if text]
    if not moved:
        sentences.append(
            f"No rank of the {len(changes.systems):,} systems on both boards changed beyond chance."
        )
    same = "Judge, question set and pairs are the same."
    settings = [
        f"{name.capitalize()}: {_short(before)} before, {_short(after)} now."
        for name, (before, after) in changes.settings.items()
    ]
    return [*sentences, *(settings or [same])]


def change_marks(entry: Entry | None) -> Mapping[str, tuple[str, str]]:
    """What stands beside a system's rank and what it means; nothing beside one that is as before.

    Places that those who left or entered alone move are as before.
    """
    if entry is None or entry.changes is None:
        return {}
    marks = dict.fromkeys(entry.changes.entered, ("new", f"It is not on the board before, {entry.previous}"))
    for change in entry.changes.systems:
        if change.ranks_expected is None or change.ranks_after is None:
            continue
        places = change.ranks_expected[0] - change.ranks_after[0]
        if places:
            surely = "beyond chance" if change.moved else "which may be chance"
            before = f"Rank {_ranks(change.ranks_before)} on the board before, {entry.previous}; {surely}"
            marks[change.system] = (f"{'▲' if places > 0 else '▼'}{abs(places)}", before)
    return marks


def _short(value: str) -> str:
    """A setting in a sentence; of a hash its beginning."""
    return (value[:HASH_SHOWN] if len(value) == HASH_LENGTH else value) or "nothing"


def _offer_details(entry: Entry, previous: str, changes: Changes) -> None:
    with st.expander(f"What changed since {previous}: every rank", icon=":material/difference:"):
        moved = sum(change.moved for change in changes.systems)
        note(
            f"{moved} of {len(changes.systems)} systems have no place in common with those on {previous}, "
            "once those who left or entered are left aside. "
            "Ratings are compared after taking the mean of the systems on both boards from each."
        )
        ordered = sorted(changes.systems, key=lambda change: (not change.moved, -abs(change.shift or 0.0)))
        put(_table(ordered[:ROWS]))
        if len(ordered) > ROWS:
            note(f"{len(ordered) - ROWS} more systems moved less; the file has them all.")
        rows = [_file_row(previous, change) for change in changes.systems]
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


def opening() -> None:
    """Say what the page lists."""
    lead(
        "What was published when, and what changed from one board to the next. A published board never "
        "changes: its hash names exactly its standings. Corrections and retractions stay in this list."
    )


def show() -> None:
    """Show the history, the newest board first."""
    page_heading("Rounds")
    opening()
    entries = history()
    if not entries:
        note("Nothing has been published yet. Organisers publish a finished round on its page.")
        return
    offer_entries(entries)
    for entry in entries:
        show_entry(entry)
