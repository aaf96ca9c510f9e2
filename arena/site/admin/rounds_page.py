"""Rounds for organisers: planned, tried, launched, watched, published, retracted."""

from __future__ import annotations

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.organisers.monitor import Preview, RoundWatch
from arena.site.admin.calibration_page import calibration_title
from arena.site.admin.common import (
    EVERY,
    NOTHING,
    attempt,
    capped,
    duration,
    grid,
    offer_cancel,
    organiser,
    show_done,
    show_work,
    usd,
    watched,
)
from arena.site.admin.people_votes import choose_votes, correct_published
from arena.site.admin.round_form import new_round
from arena.site.admin.waves_part import show_waves
from arena.site.services import arena
from arena.site.ui.components import lead, name_page, note, strip
from arena.site.ui.errors import plain
from arena.site.ui.formats import shown
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor
from data.errors import ArenaError
from data.records import BattleRecord, JobKind, Preference, RoundState
from leaderboard.standings.judged_shares import estimated_sentences
from leaderboard.vocabulary import OVERALL

ACTIVE = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED)
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
    st.progress(watch.share, f"{round_.state}: {watch.share:.0%} of {counts.planned:,} battles have ended")
    strip(
        [
            (f"charged, {capped(round_.budget_usd)}", usd(counts.cost_usd)),
            ("set aside for calls", usd(counts.reserved_usd)),
            ("lost: charged at most, without a reply", usd(counts.lost_usd)),
            ("battles a second", f"{watch.rate:.2f}"),
            ("time left", duration(watch.seconds_left)),
            ("workers", ", ".join(watch.alive) or "none"),
            ("canaries", str(watch.attacks)),
            ("control battles", str(watch.controls)),
        ]
    )
    if watch.cascade is not None:
        note(f"{watch.cascade}. Promised: {watch.cascade.promise}.")
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
            shown(row.score, ".1%"),
            _between(row.lower, row.upper),
            shown(row.behind, ".1%"),
            _between(row.behind_lower, row.behind_upper),
            "yes" if row.separated else "no",
        )
        for row in watch.live.systems
    ]
    headers = ("System", "Score", "Interval", "Behind the leader", "Between", "Separated")
    st.header("Standing", anchor="standing")
    note(watch.live.sentence)
    grid(headers, rows, caption="Mean share of the win a question")


def _between(lower: float | None, upper: float | None) -> str:
    return NOTHING if lower is None or upper is None else f"{lower:.1%} to {upper:.1%}"


def _controls(watch: RoundWatch, caller: Caller) -> None:
    name, state = watch.round.name, watch.round.state
    rounds, round_admin = arena().rounds, arena().round_admin
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
            attempt(
                lambda: round_admin.go_on(name, budget_usd=cap, caller=caller),
                "The round waits for a worker.",
            )
        if state in RETRIABLE and not watch.waiting and st.button("Retry failed", icon=":material/replay:"):
            attempt(
                lambda: round_admin.retry(name, budget_usd=cap, caller=caller),
                "The round waits for a worker.",
            )
        if state in ACTIVE:
            sure = st.checkbox("Cancel permanently", key="end")
            if st.button("Cancel", disabled=not sure, icon=":material/cancel:"):
                attempt(lambda: rounds.cancel(name, caller=caller), "The round is cancelled.")


def _recent(watch: RoundWatch) -> None:
    st.header("Judged last", anchor="recent")
    if not watch.recent:
        note("Nothing is judged yet.")
    for evidence in watch.recent:
        battle = evidence.battle
        with st.expander(f"{battle.system_a} – {battle.system_b}, {battle.question_id}: {_winner(battle)}"):
            for judgment in evidence.judgments:
                note(
                    f"{judgment.judge}, {judgment.presentation}: {judgment.outcome}, {usd(judgment.cost_usd)}"
                )
                st.text(judgment.rationale or judgment.detail or NOTHING)


def _winner(battle: BattleRecord) -> str:
    winners = {Preference.A: battle.system_a, Preference.B: battle.system_b, Preference.TIE: "tie"}
    return winners[battle.preference] if battle.preference else str(battle.outcome)


def board_part(watch: RoundWatch, caller: Caller) -> None:
    """Preview and publish a finished round; show and retract a published one."""
    name, state = watch.round.name, watch.round.state
    if state is RoundState.FINISHED:
        _unpublished(watch, caller)
    elif state is RoundState.PUBLISHED:
        st.header("Board", anchor="board")
        put(element("p", anchor("Open the board", "", board=name)))
        correct_published(watch.round, caller)
        notice = st.text_area("Notice for readers, if it is retracted", key="notice")
        if st.button("Retract", disabled=not notice.strip(), icon=":material/undo:"):
            attempt(
                lambda: arena().boards.retract(name, notice.strip(), caller=caller), "The board is retracted."
            )
    elif state is RoundState.RETRACTED:
        st.header("Retracted", anchor="board")
        st.text(arena().boards.get(name, caller=caller).notice)


def _unpublished(watch: RoundWatch, caller: Caller) -> None:
    name = watch.round.name
    st.header("Board", anchor="board")
    if watch.waiting and watch.job is not None and watch.job.job.kind is JobKind.PUBLISH:
        st.info("A worker scores the answers and publishes the board.", icon=":material/hourglass_top:")
        offer_cancel(watch.job.job.id, caller)
        return
    if st.toggle("Preview the board", key="preview"):
        try:
            _show(arena().round_admin.preview(name, caller=caller))
        except ArenaError as error:
            st.error(plain(error), icon=":material/error:")
    metrics = st.checkbox("Score the answers by the embedded metrics first", value=True, key="metrics")
    calibration = _choose_calibration(watch.round.judge_name, caller)
    votes = choose_votes(watch.round, caller)
    warning = arena().round_admin.partial(name, caller=caller)
    if warning:
        st.warning(warning, icon=":material/incomplete_circle:")
    partial = bool(warning) and st.checkbox("Publish it as a partial board", key="partial")

    def publish() -> None:
        with votes.source() as people:
            arena().jobs.publish(
                name, metrics=metrics, partial=partial, calibration=calibration, people=people, caller=caller
            )

    if st.button(
        "Publish", type="primary", icon=":material/publish:", disabled=bool(warning) and not partial
    ):
        attempt(publish, "A worker publishes the board.")


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
    for line in preview.standings["lines"][OVERALL]:
        rating, rate = line["rating"] or {}, line["rate"] or {}
        rows.append(
            (
                line["system"],
                shown(rating.get("rating"), ".0f"),
                f"{rating.get('rank_lower') or NOTHING}–{rating.get('rank_upper') or NOTHING}",
                shown(rate.get("win_rate"), ".1%"),
                shown(rate.get("win_tie_rate"), ".1%"),
            )
        )
    grid(("System", "Rating", "Rank", "Win", "Win + tie"), rows, caption="As it would be published")
    for sentence in estimated_sentences(preview.standings.get("estimated") or {}):
        note(sentence)
    changes = preview.changes
    if changes is None:
        note("There is no other board of this set to compare with.")
        return
    moved = [
        (
            change.system,
            _ranks(change.ranks_before),
            _ranks(change.ranks_after),
            shown(change.shift, "+.0f"),
            _moved(change.moved),
        )
        for change in changes.systems
    ]
    grid(("System", "Rank before", "Rank now", "Shift", "Moved"), moved, caption=f"Against {preview.before}")
    for word, names in (("New", changes.entered), ("Gone", changes.left)):
        if names:
            note(f"{word}: {', '.join(names)}.")
    for setting, (before, after) in changes.settings.items():
        note(f"{setting}: {before or NOTHING} → {after or NOTHING}")


def _moved(moved: bool) -> str:
    return "yes" if moved else "within noise"


def _ranks(ranks: tuple[int, int] | None) -> str:
    return NOTHING if ranks is None else f"{ranks[0]}–{ranks[1]}"


def show() -> None:
    """Show the round that the address names, else all of them and the form for another."""
    caller = organiser()
    name = st.query_params.get("round")
    if name is None:
        st.title("Rounds", anchor=False)
        show_done()
        _list()
        st.header("New round", anchor="new")
        new_round(caller)
        return
    watch = arena().round_admin.watch(name, caller=caller)
    round_ = watch.round
    put(element("p", anchor("All rounds", "admin-rounds"), class_="aa-eyebrow"))
    st.title(round_.name, anchor=False)
    name_page(round_.name, "Organise rounds")
    show_done()
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
