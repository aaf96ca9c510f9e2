"""What changed since an earlier version: questions won and lost, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from arena.services.evidence.versions import ChangedQuestion, JudgedVersion, VersionChange
from arena.site.boards.downloads import offer_files
from arena.site.boards.view_model import BoardView
from arena.site.queries import version_change_of
from arena.site.ui.components import lead, note
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor, plain_table
from arena.site.ui.url_state import choose_one
from leaderboard.paired import PairedShare

MOST_LISTED = 8


def change_in_words(change: VersionChange) -> str:
    """Whether the new version is better, worse, or neither is shown."""
    overall = change.overall
    if overall.difference is None:
        return "No question compares the two versions."
    told = (
        "is better than"
        if overall.apart and overall.difference > 0
        else "is worse than"
        if overall.apart
        else "is not shown to differ from"
    )
    bounds = overall.interval
    interval = (
        "" if bounds is None else f" (95 % interval {_points(bounds.lower)} to {_points(bounds.upper)})"
    )
    same = overall.questions - overall.ahead - overall.behind
    return (
        f"Version {change.new.version} {told} version {change.old.version}: {_points(overall.difference)} "
        f"percentage points of the share of the win{interval}. It takes more on {overall.ahead:,} questions, "
        f"less on {overall.behind:,}, and as much on {same:,}."
    )


def show_versions(view: BoardView, system: str, earlier: Sequence[JudgedVersion]) -> None:
    """The versions side by side, against the one that the reader chooses."""
    if not earlier:
        note("No earlier version of this system was judged.")
        return
    options = {str(one.version): f"Version {one.version}, judged in {one.round_name}" for one in earlier}
    chosen = choose_one("since", "What changed since", options, width=360)
    change = version_change_of(view, system, int(chosen))
    lead(change_in_words(change))
    domains, won, lost = st.columns(3, gap="medium")
    with domains:
        st.subheader("By domain", anchor="since-by-domain")
        header = ("Domain", "Difference", "95 % interval")
        put(plain_table(header, [_row(view, share) for share in change.shares]))
        for text in change.notes:
            note(text)
        offer_files(view, f"versions-{system}", lambda: change_rows(change))
    with won:
        _show_changed(view, change, "Won since", change.won)
    with lost:
        _show_changed(view, change, "Lost since", change.lost)


def change_rows(change: VersionChange) -> Sequence[Mapping[str, object]]:
    """Every question that changed, those won first; differences are shares of the win, −1 to 1."""
    return [
        {
            "system": change.system,
            "version": change.new.version,
            "since": change.old.version,
            "question_id": one.id,
            "domain": one.domain,
            "difference": one.difference,
        }
        for one in (*change.won, *change.lost)
    ]


def _show_changed(
    view: BoardView, change: VersionChange, title: str, questions: Sequence[ChangedQuestion]
) -> None:
    st.subheader(title, anchor=title.lower().replace(" ", "-"))
    if not questions:
        note("None.")
        return
    note(f"{min(len(questions), MOST_LISTED)} of {len(questions):,} questions, the clearest first.")
    for one in questions[:MOST_LISTED]:
        with st.container(key=f"fact-{title}-{one.id}"):
            st.text(one.question)
            now = anchor("now", "question", board=change.new.round_name, id=one.id)
            then = anchor("before", "question", board=change.old.round_name, id=one.id)
            told = f"{_points(one.difference)} points · {view.label(one.domain)} · "
            put(element("p", told, now, ", ", then, class_="aa-eyebrow"))


def _row(view: BoardView, share: PairedShare) -> tuple[str, ...]:
    bounds = share.interval
    return (
        view.label(share.domain),
        "–" if share.difference is None else _points(share.difference),
        "–" if bounds is None else f"{_points(bounds.lower)} to {_points(bounds.upper)}",
    )


def _points(share: float) -> str:
    """Percentage points with their sign."""
    return f"{100 * share:+.1f}".replace("-", "−")
