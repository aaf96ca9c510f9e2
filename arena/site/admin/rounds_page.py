"""Rounds for organisers: planned, tried, launched, watched, published, retracted."""

from __future__ import annotations

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.evidence.reasons import read_reasons
from arena.services.organisers.monitor import RoundWatch
from arena.services.rounds.service import DELETABLE
from arena.site.admin.board_part import board_part
from arena.site.admin.common import (
    EVERY,
    NOTHING,
    attempt,
    capped,
    duration,
    grid,
    organiser,
    show_work,
    usd,
    watched,
)
from arena.site.admin.round_form import new_round
from arena.site.admin.waves_part import show_waves
from arena.site.questions.battles import in_short, order_of
from arena.site.services import arena
from arena.site.ui.components import heading, lead, name_page, note, page_heading, strip, tick
from arena.site.ui.flash_messages import show_flash
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor
from data.percent import percent
from data.records import BattleRecord, JobKind, Preference, RoundState
from data.records.irreversible import Irreversible

ACTIVE = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED)
CONTROLS = "controls"
RETRIABLE = (RoundState.FINISHED, RoundState.CANCELLED, RoundState.PAUSED)


def live(name: str, state: RoundState) -> None:
    """Show a round's counters and what may be done; where its state changed, rerun the whole page."""
    caller = organiser()
    watch = arena().round_admin.watch(name, caller=caller)
    if watch.round.state is not state:
        st.rerun()
    _figures(watch)
    show_waves(watch)
    _standing(watch)
    _controls(watch, caller)
    _recent(watch)


def _figures(watch: RoundWatch) -> None:
    round_, counts = watch.round, watch.counts
    st.progress(
        watch.share,
        f"{round_.state}: {percent(watch.share, decimals=0)} of {counts.planned:,} battles have ended",
    )
    strip(
        [
            (f"charged, {capped(round_.budget_usd)}", usd(counts.cost_usd)),
            ("set aside for calls", usd(counts.reserved_usd)),
            ("lost: charged at most, without a reply", usd(counts.lost_usd)),
            ("battles per second", f"{watch.rate:.2f}"),
            ("time left", duration(watch.seconds_left)),
            ("workers", ", ".join(watch.alive) or "none"),
            ("canaries", str(watch.attacks)),
        ]
    )
    for sentence in watch.warnings:
        st.warning(sentence)
    if watch.job is not None and watch.job.waiting and watch.waiting:
        note(f"The endpoint makes the round wait: {watch.job.waiting}.")
    names = ("judged", "unreadable", "refused", "failed", "skipped", "missing", "estimated", "pending")
    strip([(name, f"{getattr(counts, name):,}") for name in names])
    if watch.dead:
        note(f"No heartbeat any more: {', '.join(watch.dead)}. Another worker takes over their claims.")
    if watch.job is not None:
        job, position = watch.job.job, watch.job.position
        waits = "" if position is None else f", place {position} in the queue"
        note(f"Job {job.id} ({job.kind}): {job.state}{waits}.")
        show_work(watch.job)
        if job.error:
            st.text(job.error)


def _standing(watch: RoundWatch) -> None:
    """How the systems stand at this look, and at how many looks the intervals hold."""
    rows = [
        (
            row.system,
            percent(row.score),
            _between(row.lower, row.upper),
            percent(row.behind),
            _between(row.behind_lower, row.behind_upper),
            "yes" if row.separated else "no",
        )
        for row in watch.live.systems
    ]
    headers = ("System", "Score", "Interval", "Behind the leader", "Between", "Separated")
    heading("Standing", anchor="standing")
    note(watch.live.sentence)
    grid(headers, rows, caption="Mean share of the win per question")


def _between(lower: float | None, upper: float | None) -> str:
    return NOTHING if lower is None or upper is None else f"{percent(lower)} to {percent(upper)}"


def _controls(watch: RoundWatch, caller: Caller) -> None:
    name, state = watch.round.name, watch.round.state
    rounds, round_admin = arena().rounds, arena().round_admin
    judging = watch.waiting and watch.job is not None and watch.job.job.kind is not JobKind.PUBLISH
    show_flash(CONTROLS)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cap = st.number_input("New cap in USD", 0.0, value=None, placeholder="as it is", width=160, key="cap")
        if cap is not None and st.button("Raise the cap", icon=":material/payments:"):
            attempt(lambda: rounds.set_budget(name, cap, caller=caller), f"The cap is {usd(cap)}.", CONTROLS)
        if state in ACTIVE and judging and st.button("Pause", icon=":material/pause:"):
            attempt(
                lambda: rounds.pause(name, caller=caller),
                "The round is paused; what is in flight finishes.",
                CONTROLS,
            )
        if state in ACTIVE and not watch.waiting and st.button("Resume", icon=":material/play_arrow:"):
            attempt(
                lambda: round_admin.go_on(name, budget_usd=cap, caller=caller),
                "The round is resumed and waits for a worker.",
                CONTROLS,
            )
        doubted = state is RoundState.PAUSED and watch.warnings and not watch.waiting
        if doubted and st.button("Judge all the same", icon=":material/warning:"):
            attempt(
                lambda: round_admin.go_on(name, budget_usd=cap, anyway=True, caller=caller),
                "The round is judged to its end, whatever its judge replies.",
                CONTROLS,
            )
        if state in RETRIABLE and not watch.waiting and st.button("Retry failed", icon=":material/replay:"):
            attempt(
                lambda: round_admin.retry(name, budget_usd=cap, caller=caller),
                "What failed is tried again: the round waits for a worker.",
                CONTROLS,
            )
        if state in ACTIVE:
            sure = tick(Irreversible.CANCEL_ROUND, key="end")
            if st.button("Cancel", disabled=not sure, icon=":material/cancel:"):
                attempt(lambda: rounds.cancel(name, caller=caller), "The round is cancelled.", CONTROLS)
        if state in DELETABLE and not watch.waiting:
            sure = tick(Irreversible.DELETE_ROUND, key="delete")
            if st.button("Delete", disabled=not sure, icon=":material/delete:"):
                attempt(lambda: _delete(name, caller), f"The round {name} is deleted.")


def _delete(name: str, caller: Caller) -> None:
    arena().rounds.delete(name, caller=caller)
    st.query_params.clear()


def _recent(watch: RoundWatch) -> None:
    heading("Judged last", anchor="recent")
    if not watch.recent:
        note("Nothing has been judged yet.")
    for evidence in watch.recent:
        battle = evidence.battle
        with st.expander(f"{battle.system_a} – {battle.system_b}, {battle.question_id}: {_winner(battle)}"):
            for judgment in evidence.judgments:
                cost = f", {usd(judgment.cost_usd)}" if judgment.calls else ""
                note(f"{judgment.judge}, {order_of(battle, judgment)}: {judgment.outcome}{cost}")
                reasons = read_reasons(judgment.rationale)
                said = judgment.rationale or judgment.detail or NOTHING
                st.text(said if reasons is None else in_short(battle, reasons))


def _winner(battle: BattleRecord) -> str:
    winners = {Preference.A: battle.system_a, Preference.B: battle.system_b, Preference.TIE: "tie"}
    return winners[battle.preference] if battle.preference else str(battle.outcome)


def show() -> None:
    """Show the round that the address names, else all of them and the form for another."""
    caller = organiser()
    name = st.query_params.get("round")
    if name is None:
        page_heading("Organise rounds")
        show_flash()
        _list()
        heading("New round", anchor="new")
        new_round(caller)
        return
    watch = arena().round_admin.watch(name, caller=caller)
    round_ = watch.round
    put(element("p", anchor("All rounds", "admin-rounds"), class_="aa-eyebrow"))
    page_heading(round_.name)
    name_page(round_.name, "Organise rounds")
    show_flash()
    strip(
        [
            ("set", round_.set_name),
            ("judge", round_.judge_name),
            ("pairs", round_.plan["pairs"]),
            ("seed", str(round_.seed)),
        ]
    )
    watched(live, name, round_.state, every=EVERY if watch.moving else None)
    board_part(watch, caller)


def _list() -> None:
    lead("A round is launched here and judged by workers; this site only watches.")
    rounds = arena().round_admin.rounds(caller=organiser())
    if not rounds:
        note("There are no rounds yet.")
        return
    rows = [
        (
            anchor(round_.name, "admin-rounds", round=round_.name),
            round_.set_name,
            round_.judge_name,
            round_.state.value,
            f"{round_.created_at:%Y-%m-%d %H:%M}",
        )
        for round_ in rounds
    ]
    grid(("Round", "Set", "Judge", "State", "Made (UTC)"), rows)
