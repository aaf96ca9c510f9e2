"""The board of a round: previewed, published, corrected, retracted."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from arena.services.accounts.auth import Caller
from arena.services.boards.people import LABELS, VoteSource
from arena.services.organisers.monitor import Preview, RoundWatch
from arena.site.admin.calibration_page import calibration_title
from arena.site.admin.common import NOTHING, attempt, grid, offer_cancel
from arena.site.services import arena
from arena.site.ui.components import heading, note, subheading
from arena.site.ui.errors import plain
from arena.site.ui.flash_messages import show_flash
from arena.site.ui.formats import shown
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor
from arena.site.uploads import choose_file, laid_down
from data.errors import ArenaError
from data.percent import percent
from data.records import JobKind, Round, RoundState
from leaderboard.standings.corrected import people_sentence
from leaderboard.standings.diff import ranks_among_systems
from leaderboard.vocabulary import OVERALL

BOARD = "board"
MOST_MB = 32


def board_part(watch: RoundWatch, caller: Caller) -> None:
    """Preview and publish a finished round; show and retract a published one."""
    name, state = watch.round.name, watch.round.state
    if state is RoundState.FINISHED:
        _unpublished(watch, caller)
    elif state is RoundState.PUBLISHED:
        heading("Board", anchor="board")
        show_flash(BOARD)
        put(element("p", anchor("Open the board", "", board=name)))
        _correct_published(watch.round, caller)
        notice = st.text_area("Notice for readers, if it is retracted", key="notice")
        sure = st.checkbox(
            "Take it down for everybody; the round cannot be published again", key="retract-sure"
        )
        if st.button("Retract", disabled=not (sure and notice.strip()), icon=":material/undo:"):
            attempt(
                lambda: arena().boards.retract(name, notice.strip(), caller=caller),
                "The board is retracted.",
                BOARD,
            )
    elif state is RoundState.RETRACTED:
        heading("Retracted", anchor="board")
        show_flash(BOARD)
        st.text(arena().boards.get(name, caller=caller).notice)


def _unpublished(watch: RoundWatch, caller: Caller) -> None:
    name = watch.round.name
    heading("Board", anchor="board")
    show_flash(BOARD)
    if watch.waiting and watch.job is not None and watch.job.job.kind is JobKind.PUBLISH:
        st.info("A worker scores the answers and publishes the board.", icon=":material/hourglass_top:")
        offer_cancel(watch.job.job.id, caller, BOARD)
        return
    if st.toggle("Preview the board", key="preview"):
        try:
            _show(arena().round_admin.preview(name, caller=caller))
        except ArenaError as error:
            st.error(plain(error), icon=":material/error:")
    metrics = st.checkbox("Score the answers by the embedded metrics first", value=True, key="metrics")
    calibration = _choose_calibration(watch.round.judge_name, caller)
    votes = _choose_votes(name, caller)
    warning = arena().round_admin.partial(name, caller=caller)
    if warning:
        st.warning(warning, icon=":material/incomplete_circle:")
    partial = bool(warning) and st.checkbox("Publish it as a partial board", key="partial")

    def publish() -> None:
        people = votes and votes()
        arena().jobs.publish(
            name, metrics=metrics, partial=partial, calibration=calibration, people=people, caller=caller
        )

    if st.button(
        "Publish", type="primary", icon=":material/publish:", disabled=bool(warning) and not partial
    ):
        attempt(publish, "A worker scores the answers and publishes the board.", BOARD)


def _choose_calibration(judge: str, caller: Caller) -> int | None:
    """The calibration of the round's judge that the board is to report; None where there is none."""
    calibrations = {
        calibration.id: calibration for calibration in arena().calibrations.of_judge(judge, caller=caller)
    }
    if not calibrations:
        note(f"The judge {judge} was not calibrated here; the board will say so.")
        return None
    return st.selectbox(
        "Calibration that the board reports",
        [*calibrations, None],
        format_func=lambda number: "none" if number is None else calibration_title(calibrations[number]),
    )


def _show(preview: Preview) -> None:
    rows = []
    ranks = ranks_among_systems(preview.standings)
    for line in preview.standings["lines"][OVERALL]:
        rating, rate = line["rating"] or {}, line["rate"] or {}
        rows.append(
            (
                line["system"],
                shown(rating.get("rating"), ".0f").replace("-", "−"),
                _ranks(ranks.get(line["system"])),
                percent(rate.get("win_rate")),
                percent(rate.get("win_tie_rate")),
            )
        )
    grid(("System", "Rating", "Rank", "Win", "Win + tie"), rows, caption="As it would be published")
    changes = preview.changes
    if changes is None:
        note("There is no other board of this set to compare with.")
        return
    moved = [
        (
            change.system,
            _ranks(change.before),
            _ranks(change.after),
            _moved(change.moved),
        )
        for change in changes.systems
    ]
    grid(
        ("System", "Rank before", "Rank now", "Moved"),
        moved,
        caption=f"Against {preview.before}",
    )
    for word, names in (("New", changes.entered), ("Gone", changes.left)):
        if names:
            note(f"{word}: {', '.join(names)}.")


def _moved(moved: bool) -> str:
    return "yes" if moved else "within noise"


def _ranks(ranks: tuple[int, int] | None) -> str:
    return NOTHING if ranks is None else "–".join(map(str, dict.fromkeys(ranks)))


def _choose_votes(round_name: str, caller: Caller) -> Callable[[], VoteSource | None] | None:
    """Let the organiser choose votes on a round's battles; returns what reads them, or None."""
    counts = {found.name: count for found, count in arena().labels.rounds(caller=caller)}
    count = counts.get(round_name, 0)
    if count and st.checkbox(f"Correct by the {count:,} labels of this round", key="votes-labels"):
        return lambda: arena().boards.votes(LABELS, round_name)
    types = ("jsonl", "json", "csv", "gz", "parquet", "arrow", "xlsx")
    file = choose_file("Votes of people", key="votes-file", types=types, most_mb=MOST_MB)
    return None if file is None else lambda: _read(file)


def _read(file: UploadedFile) -> VoteSource:
    with laid_down(file, most_mb=MOST_MB) as path:
        return VoteSource.of_file(path, file.name)


def _correct_published(round_: Round, caller: Caller) -> None:
    """Offer to put what people would say on a published board, as another snapshot."""
    board = arena().boards.get(round_.name, caller=caller)
    subheading("What people would say", anchor="people")
    note(f"{people_sentence(board.standings)}. A correction makes another snapshot; this one stays.")
    show_flash("correction")
    votes = _choose_votes(round_.name, caller)

    def publish() -> None:
        arena().boards.publish(round_.name, report=note, people=votes and votes(), caller=caller)

    if st.button("Publish the correction", icon=":material/how_to_vote:", disabled=votes is None):
        attempt(publish, "The corrected board is published.", "correction")
