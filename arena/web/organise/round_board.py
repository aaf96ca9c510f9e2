"""What a finished round would publish, its publication, and taking it back."""

from __future__ import annotations

import streamlit as st

from arena.services.identity import Caller
from arena.services.round_desk import Preview, RoundWatch
from arena.web.guard import plain
from arena.web.markup import element, put
from arena.web.organise.common import NOTHING, attempt, grid, offer_cancel
from arena.web.pieces import note
from arena.web.tables import link
from arena.web.wiring import arena
from data.errors import ArenaError
from data.records import JobKind, RoundState
from leaderboard.rates import OVERALL


def board_part(watch: RoundWatch, caller: Caller) -> None:
    """Preview and publish a finished round; show and retract a published one."""
    name, state = watch.round.name, watch.round.state
    if state is RoundState.FINISHED:
        _unpublished(watch, caller)
    elif state is RoundState.PUBLISHED:
        st.subheader("Board", anchor="board")
        put(element("p", element("a", "Open the board", href=link("", board=name), target="_self")))
        notice = st.text_area("Notice for readers, if it is retracted", key="notice")
        if st.button("Retract", disabled=not notice.strip(), icon=":material/undo:"):
            attempt(
                lambda: arena().boards.retract(name, notice.strip(), caller=caller), "The board is retracted."
            )
    elif state is RoundState.RETRACTED:
        st.subheader("Retracted", anchor="board")
        st.text(arena().boards.get(name, caller=caller).notice)


def _unpublished(watch: RoundWatch, caller: Caller) -> None:
    name = watch.round.name
    st.subheader("Board", anchor="board")
    if watch.waiting and watch.job is not None and watch.job.job.kind is JobKind.PUBLISH:
        st.info("A worker scores the answers and publishes the board.", icon=":material/hourglass_top:")
        offer_cancel(watch.job.job.id, caller)
        return
    if st.toggle("Preview the board", key="preview"):
        try:
            _show(arena().desk.preview(name, caller=caller))
        except ArenaError as error:
            st.error(plain(error), icon=":material/error:")
    metrics = st.checkbox("Score the answers by the embedded metrics first", value=True, key="metrics")
    if st.button("Publish", type="primary", icon=":material/publish:"):
        attempt(
            lambda: arena().jobs.publish(name, metrics=metrics, caller=caller),
            "A worker publishes the board.",
        )


def _show(preview: Preview) -> None:
    rows = []
    for line in preview.standings["lines"][OVERALL]:
        rating, rate = line["rating"] or {}, line["rate"] or {}
        rows.append(
            (
                line["system"],
                _number(rating.get("rating"), ".0f"),
                f"{rating.get('rank_lower') or NOTHING}–{rating.get('rank_upper') or NOTHING}",
                _number(rate.get("win_rate"), ".1%"),
                _number(rate.get("win_tie_rate"), ".1%"),
            )
        )
    grid(("System", "Rating", "Rank", "Win", "Win + tie"), rows, caption="As it would be published")
    found = preview.changes
    if found is None:
        note("There is no other board of this set to compare with.")
        return
    moved = [
        (
            one.system,
            _ranks(one.ranks_before),
            _ranks(one.ranks_after),
            _number(one.shift, "+.0f"),
            _moved(one.moved),
        )
        for one in found.systems
    ]
    grid(("System", "Rank before", "Rank now", "Shift", "Moved"), moved, caption=f"Against {preview.before}")
    for word, names in (("New", found.entered), ("Gone", found.left)):
        if names:
            note(f"{word}: {', '.join(names)}.")
    for setting, (before, after) in found.settings.items():
        note(f"{setting}: {before or NOTHING} → {after or NOTHING}")


def _moved(moved: bool) -> str:
    return "yes" if moved else "within noise"


def _ranks(ranks: tuple[int, int] | None) -> str:
    return NOTHING if ranks is None else f"{ranks[0]}–{ranks[1]}"


def _number(value: float | None, form: str) -> str:
    return NOTHING if value is None else format(value, form)
