"""The board of a round: previewed, published, retracted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.boards.people import LABELS, VoteSource
from arena.services.organisers import RoundWatch
from arena.site.admin.common import NOTHING, attempt, grid, offer_cancel
from arena.site.admin.judges_page import calibration_title
from arena.site.services import arena
from arena.site.ui.errors import plain
from arena.site.ui.flash_messages import show_flash
from arena.site.ui.formats import shown
from arena.site.ui.html import anchor, heading, note, paragraph
from data.errors import ArenaError
from data.models import JobKind, RoundState
from data.text import percent
from leaderboard.standings.places import ranks_among_systems
from leaderboard.vocabulary import OVERALL

BOARD = "board"


def board_part(watch: RoundWatch, caller: Caller) -> None:
    """Preview and publish a finished round; show and retract a published one."""
    name, state = watch.round.name, watch.round.state
    if state is RoundState.FINISHED:
        _unpublished(watch, caller)
    elif state is RoundState.PUBLISHED:
        heading("Board", anchor="board")
        show_flash(BOARD)
        paragraph(anchor("Open the board", "", board=name))
        people = _labels(name, caller)
        if people is not None and st.button("Publish the correction", icon=":material/how_to_vote:"):
            attempt(
                lambda: arena().boards.publish(name, report=note, people=people, caller=caller),
                "The corrected board is published.",
                BOARD,
            )
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
    people = _labels(name, caller)
    warning = arena().round_admin.partial(name, caller=caller)
    if warning:
        st.warning(warning, icon=":material/incomplete_circle:")
    partial = bool(warning) and st.checkbox("Publish it as a partial board", key="partial")

    if st.button(
        "Publish", type="primary", icon=":material/publish:", disabled=bool(warning) and not partial
    ):
        attempt(
            lambda: arena().jobs.publish(
                name, metrics=metrics, partial=partial, calibration=calibration, people=people, caller=caller
            ),
            "A worker scores the answers and publishes the board.",
            BOARD,
        )


def _labels(name: str, caller: Caller) -> VoteSource | None:
    """Return the labels of a round where its board is to be corrected by them."""
    count = {found.name: count for found, count in arena().labels.rounds(caller=caller)}.get(name, 0)
    if count and st.checkbox(f"Correct by the {count:,} labels of this round", key="votes-labels"):
        return arena().boards.votes(LABELS, name)
    return None


def _choose_calibration(judge: str, caller: Caller) -> int | None:
    """Return the calibration of the round's judge that the board is to report; None where there is none."""
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


def _show(standings: Mapping[str, Any]) -> None:
    ranks = ranks_among_systems(standings)
    rows = [
        (
            line["system"],
            shown((line["rating"] or {}).get("rating"), ".0f").replace("-", "−"),
            _ranks(ranks.get(line["system"])),
            *(percent((line["rate"] or {}).get(name)) for name in ("win_rate", "win_tie_rate")),
        )
        for line in standings["lines"][OVERALL]
    ]
    grid(("System", "Rating", "Rank", "Win", "Win + tie"), rows, caption="As it would be published")


def _ranks(ranks: tuple[int, int] | None) -> str:
    return NOTHING if ranks is None else "–".join(map(str, dict.fromkeys(ranks)))
