"""A round while it is judged, and what can be done with it."""

from __future__ import annotations

import streamlit as st

from arena.services.identity import Caller
from arena.services.round_desk import RoundWatch
from arena.web.organise.common import NOTHING, attempt, capped, duration, organiser, usd
from arena.web.pieces import note, strip
from arena.web.wiring import arena
from data.records import BattleRecord, JobKind, Preference, RoundState

ACTIVE = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED)
RETRIABLE = (RoundState.FINISHED, RoundState.CANCELLED, RoundState.PAUSED)


def live(name: str, state: RoundState) -> None:
    """Show a round's counters and what may be done; where its state changed, the whole page anew."""
    caller = organiser()
    watch = arena().desk.watch(name, caller=caller)
    if watch.round.state is not state:
        st.rerun()
    _figures(watch)
    _controls(watch, caller)
    _recent(watch)


def _figures(watch: RoundWatch) -> None:
    found, counts = watch.round, watch.counts
    st.progress(watch.share, f"{found.state}: {watch.share:.0%} of {counts.planned:,} battles have ended")
    strip(
        [
            (f"spent, {capped(found.budget_usd)}", usd(counts.cost_usd)),
            ("battles a second", f"{watch.rate:.2f}"),
            ("time left", duration(watch.seconds_left)),
            ("workers", ", ".join(watch.alive) or "none"),
            ("canaries", str(watch.attacks)),
        ]
    )
    names = ("judged", "unreadable", "refused", "failed", "skipped", "missing", "pending")
    strip([(name, f"{getattr(counts, name):,}") for name in names])
    if watch.dead:
        note(f"Not heard of any more: {', '.join(watch.dead)}. Another worker takes over what they held.")
    if watch.job is not None:
        job, place = watch.job.job, watch.job.position
        waits = "" if place is None else f", place {place} in the queue"
        note(f"Job {job.id} ({job.kind}): {job.state}{waits}.")
        if job.error:
            st.text(job.error)


def _controls(watch: RoundWatch, caller: Caller) -> None:
    name, state = watch.round.name, watch.round.state
    rounds, desk = arena().rounds, arena().desk
    judging = watch.waiting and watch.job is not None and watch.job.job.kind is not JobKind.PUBLISH
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cap = st.number_input("New cap in USD", 0.0, value=None, placeholder="as it is", width=160, key="cap")
        if cap is not None and st.button("Raise the cap", icon=":material/payments:"):
            attempt(lambda: rounds.set_budget(name, cap, caller=caller), "The cap is changed.")
        if state in ACTIVE and judging and st.button("Pause", icon=":material/pause:"):
            attempt(
                lambda: rounds.pause(name, caller=caller), "The round is paused; what is in flight finishes."
            )
        if state in ACTIVE and not watch.waiting and st.button("Resume", icon=":material/play_arrow:"):
            attempt(lambda: desk.go_on(name, budget_usd=cap, caller=caller), "The round waits for a worker.")
        if state in RETRIABLE and not watch.waiting and st.button("Retry failed", icon=":material/replay:"):
            attempt(lambda: desk.retry(name, budget_usd=cap, caller=caller), "The round waits for a worker.")
        if state in ACTIVE:
            sure = st.checkbox("End it for good", key="end")
            if st.button("Cancel", disabled=not sure, icon=":material/cancel:"):
                attempt(lambda: rounds.cancel(name, caller=caller), "The round is cancelled.")


def _recent(watch: RoundWatch) -> None:
    st.subheader("Judged last", anchor="recent")
    if not watch.recent:
        note("Nothing is judged yet.")
    for one in watch.recent:
        battle = one.battle
        with st.expander(f"{battle.system_a} – {battle.system_b}, {battle.question_id}: {_winner(battle)}"):
            for judgment in one.judgments:
                note(
                    f"{judgment.judge}, {judgment.presentation}: {judgment.outcome}, {usd(judgment.cost_usd)}"
                )
                st.text(judgment.rationale or judgment.detail or NOTHING)


def _winner(battle: BattleRecord) -> str:
    winners = {Preference.A: battle.system_a, Preference.B: battle.system_b, Preference.TIE: "tie"}
    return winners[battle.preference] if battle.preference else str(battle.outcome)
