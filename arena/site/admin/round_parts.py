"""Parts of an organiser's round page: figures, actions, battles without a verdict, and the board."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from arena.formats import ends_of, or_dash, rank_range, span
from arena.services.accounts.auth import Caller
from arena.services.boards.people import LABELS, VoteSource
from arena.services.evidence.reasons import read_reasons
from arena.services.rounds.battle_table import LiveStanding
from arena.services.rounds.models import RoundWatch
from arena.site.admin.common import cap_label, grid, offer_cancel, usd
from arena.site.admin.judges_page import calibration_title
from arena.site.questions.question_page import in_short, order_of
from arena.site.services import arena
from arena.site.ui.html import Cell, anchor, heading, note, paragraph, strip
from arena.site.ui.messages import attempt, confirmed, show_error, show_flash, without_commands
from arena.site.ui.url_state import choose_one
from data.errors import ArenaError
from data.models import BattleEvidence, JobState, Outcome, Preference, RoundState
from data.text import percent
from leaderboard.standings.places import ranks_among_systems
from leaderboard.vocabulary import OVERALL

CONTROLS, BOARD, PREVIEW = "controls", "board", "round-preview"
MAX_BATTLES = 20


def figures(watch: RoundWatch) -> None:
    """Show the progress, cost and speed of a round, with its warnings."""
    round_, counts = watch.round, watch.counts
    queued = watch.job is not None and watch.job.job.state is JobState.QUEUED and not watch.publishing
    st.progress(watch.share, f"{JobState.QUEUED if queued else round_.state}: {watch.sentence}")
    facts = [(f"charged, {cap_label(round_.budget_usd)}", usd(counts.cost_usd))]
    if counts.reserved_usd or counts.lost_usd:
        facts.append(("reserved for calls in flight", usd(counts.reserved_usd)))
        facts.append(("possibly charged without a reply", usd(counts.lost_usd)))
    if round_.state is RoundState.RUNNING:
        facts.append(("battles per second", f"{watch.rate:.2f}"))
        facts.append(("time left", span(watch.seconds_left)))
        facts.append(("workers", ", ".join(watch.workers) or "none"))
    strip(facts)
    for sentence in filter(None, (watch.cap_sentence, *watch.warnings)):
        st.warning(without_commands(sentence))
    if watch.job is not None:
        job, position = watch.job.job, watch.job.position
        if watch.job.waiting and watch.waiting:
            note(f"The round waits for the judge's endpoint: {watch.job.waiting}.")
        place = "" if position is None else f", place {position} in the queue"
        note(f"Job {job.id} ({job.kind}): {job.state}{place}.")
        if job.error:
            st.text(without_commands(job.error))


def standing(live: LiveStanding) -> None:
    """Show the win shares so far, with their intervals."""
    heading("Standings so far", anchor="standing")
    note(live.sentence)
    rows = [
        (row.system, percent(row.score), Cell(ends_of(row, share=True), sub=row.word)) for row in live.systems
    ]
    grid(("System", "Score", "95 % interval"), rows, caption="Mean win share per question")


def controls(watch: RoundWatch, caller: Caller) -> None:
    """Offer the actions that the round's state allows."""
    name, rounds = watch.round.name, arena().rounds
    words = " and ".join(f"{count:,} {how}" for how, count in watch.retriable.items())
    actions = watch.actions
    show_flash(CONTROLS)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cap = None
        if actions & {"cancel", "retry"}:
            cap = st.number_input("New cap in USD", 0.0, value=None, placeholder="unchanged", width=160)
        go_on = partial(rounds.go_on, name, budget_usd=cap, caller=caller)
        buttons: tuple[tuple[bool, str, str, Callable[[], object], str], ...] = (
            (
                *(cap is not None, "Change the cap", "payments"),
                *(partial(rounds.set_budget, name, cap or 0.0, caller=caller), f"The cap is {usd(cap)}."),
            ),
            (
                *("pause" in actions, "Pause", "pause", partial(rounds.pause, name, caller=caller)),
                "The round is paused; battles in flight finish.",
            ),
            ("resume" in actions, "Resume", "play_arrow", go_on, "Round queued."),
            (
                *("overrule" in actions, "Judge anyway", "warning", partial(go_on, anyway=True)),
                "Round queued; it will no longer stop because of the judge's replies.",
            ),
            (
                *("retry" in actions, f"Judge the {words}", "replay", partial(go_on, retry=True)),
                f"The {words} were queued again.",
            ),
        )
        for enabled, label, icon, work, done in buttons:
            if enabled and st.button(label, icon=f":material/{icon}:"):
                attempt(work, done, CONTROLS)
        if "cancel" in actions and confirmed("Cancel", "Yes, end the round", icon="cancel", key="end"):
            attempt(partial(rounds.cancel, name, caller=caller), "Round cancelled.", CONTROLS)
        sure = "I understand: delete this round for good"
        if "delete" in actions and confirmed("Delete", sure, icon="delete", key="delete"):

            def delete() -> None:
                rounds.delete(name, caller=caller)
                st.query_params.clear()

            attempt(delete, f"Round {name} deleted.")


def without_verdict(watch: RoundWatch, caller: Caller) -> None:
    """List the battles without a verdict of one outcome, with the reasons."""
    labels = {name: f"{name} ({count:,})" for name, count in watch.unjudged.items()}
    if not labels:
        return
    heading("Without a verdict", anchor="without-verdict")
    chosen = choose_one("outcome", "Outcome", labels, width=240)
    name, outcome = watch.round.name, Outcome(chosen)
    battles = arena().rounds.without_verdict(name, outcome, limit=MAX_BATTLES, caller=caller)
    if watch.unjudged[chosen] > len(battles):
        note(f"The first {len(battles):,} of {watch.unjudged[chosen]:,}.")
    for evidence in battles:
        _show_battle(evidence)


def _show_battle(evidence: BattleEvidence) -> None:
    battle = evidence.battle
    winners = {Preference.A: battle.system_a, Preference.B: battle.system_b, Preference.TIE: "tie"}
    ended = winners[battle.preference] if battle.preference else battle.outcome
    with st.expander(f"{battle.system_a} – {battle.system_b}, {battle.question_id}: {ended}"):
        if battle.detail:
            st.text(battle.detail)
        for judgment in evidence.judgments:
            cost = f", {usd(judgment.cost_usd)}" if judgment.calls else ""
            note(f"{judgment.judge}, {order_of(battle, judgment)}: {judgment.outcome}{cost}")
            reasons = read_reasons(judgment.rationale)
            reply = "No reply was received." if judgment.reply is None else judgment.reply.text
            st.text(in_short(battle, reasons) if reasons else judgment.rationale or judgment.detail or reply)


def board_part(watch: RoundWatch, caller: Caller) -> None:
    """Preview and publish a finished round; show and retract a published round."""
    name, state = watch.round.name, watch.round.state
    if state is RoundState.FINISHED:
        _unpublished(watch, caller)
    elif state is RoundState.PUBLISHED:
        heading("Board", anchor="board")
        show_flash(BOARD)
        paragraph(anchor("Open the board", "", board=name))
        people = _labels(name, caller)
        if people is not None and st.button("Publish the correction", icon=":material/how_to_vote:"):
            publish = partial(arena().boards.publish, name, report=note, people=people, caller=caller)
            attempt(publish, "The corrected board is published.", BOARD)
        notice = st.text_area("Notice to readers", key="notice")
        sure = "I understand: take it down for good"
        if confirmed("Retract", sure, icon="undo", key="retract", enabled=bool(notice.strip())):
            retract = partial(arena().boards.retract, name, notice.strip(), caller=caller)
            attempt(retract, "Board retracted.", BOARD)
    elif state is RoundState.RETRACTED:
        heading("Retracted", anchor="board")
        show_flash(BOARD)
        st.text(arena().boards.get(name, caller=caller).notice)


def _unpublished(watch: RoundWatch, caller: Caller) -> None:
    name = watch.round.name
    heading("Board", anchor="board")
    show_flash(BOARD)
    if watch.job is not None and watch.publishing:
        st.info("A worker is scoring the answers to publish the board.", icon=":material/hourglass_top:")
        offer_cancel(watch.job.job.id, caller, BOARD)
        return
    if st.toggle("Preview the board", key="preview"):
        try:
            _preview(watch, caller)
        except ArenaError as error:
            show_error(error)
    metrics = st.checkbox("First score the answers by the metrics on the board", value=True, key="metrics")
    calibration = _choose_calibration(watch.round.judge_name, caller)
    people = _labels(name, caller)
    warning = arena().boards.partial(name, caller=caller)
    if warning:
        st.warning(warning, icon=":material/incomplete_circle:")
    is_partial = bool(warning) and st.checkbox("Publish it as a partial board", key="partial")
    incomplete = bool(warning) and not is_partial
    if st.button("Publish", type="primary", icon=":material/publish:", disabled=incomplete):
        queue = partial(arena().boards.queue_publishing, name, metrics=metrics, partial=is_partial)
        publish = partial(queue, calibration=calibration, people=people, caller=caller)
        attempt(publish, "Board queued for publishing.", BOARD)


def _labels(name: str, caller: Caller) -> VoteSource | None:
    count = {round_.name: count for round_, count in arena().labels.rounds(caller=caller)}.get(name, 0)
    if count and st.checkbox(f"Correct the board with this round's {count:,} labels", key="votes-labels"):
        return arena().boards.votes(LABELS, name)
    return None


def _choose_calibration(judge: str, caller: Caller) -> int | None:
    calibrations = {job.id: job for job in arena().calibrations.of_judge(judge, caller=caller)}
    if not calibrations:
        note(f"The judge {judge} is not calibrated here; the board will say so.")
        return None
    return st.selectbox(
        "Calibration to report",
        [*calibrations, None],
        format_func=lambda number: "none" if number is None else calibration_title(calibrations[number]),
    )


def _preview(watch: RoundWatch, caller: Caller) -> None:
    # The page refreshes every few seconds, but the standings change only with the battles.
    key, cached = (watch.round.name, watch.counts), st.session_state.get(PREVIEW)
    if cached is None or cached[0] != key:
        cached = st.session_state[PREVIEW] = (key, arena().boards.preview(watch.round.name, caller=caller))
    standings: Mapping[str, Any] = cached[1]
    ranks = ranks_among_systems(standings)
    rows = [
        (
            line["system"],
            or_dash((line["rating"] or {}).get("rating"), ".0f").replace("-", "−"),
            rank_range(ranks.get(line["system"])),
            *(percent((line["rate"] or {}).get(name)) for name in ("win_rate", "win_tie_rate")),
        )
        for line in standings["lines"][OVERALL]
    ]
    grid(("System", "Rating", "Rank", "Win", "Win + tie"), rows, caption="As it would be published")
