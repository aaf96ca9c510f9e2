"""Rounds for organisers: planned, tried, launched, watched, published, retracted."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from arena.formats import ends_of, rank_range, shown, span
from arena.services.accounts.auth import Caller
from arena.services.boards.people import LABELS, VoteSource
from arena.services.evidence.reasons import read_reasons
from arena.services.rounds.models import RoundWatch
from arena.services.rounds.service import DELETABLE
from arena.site.admin.common import EVERY, capped, grid, offer_cancel, organiser, usd, watched
from arena.site.admin.judges_page import calibration_title
from arena.site.admin.round_form import new_round
from arena.site.questions.battles import in_short, order_of
from arena.site.services import arena
from arena.site.ui.html import anchor, heading, lead, name_page, note, page_heading, paragraph, strip
from arena.site.ui.messages import attempt, confirmed, show_error, show_flash
from arena.site.ui.url_state import choose_one
from data.errors import ArenaError
from data.models import BattleEvidence, JobKind, Outcome, Preference, RoundState
from data.text import percent
from leaderboard.standings.places import ranks_among_systems
from leaderboard.vocabulary import OVERALL

ACTIVE = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED)
CONTROLS = "controls"
WITHOUT_VERDICT = (
    *(Outcome.FAILED, Outcome.REFUSED, Outcome.UNREADABLE),
    *(Outcome.SKIPPED, Outcome.MISSING),
)
MOST_SHOWN = 20
RETRIABLE = (RoundState.FINISHED, RoundState.CANCELLED, RoundState.PAUSED)


def live(name: str, state: RoundState) -> None:
    """Show a round's counters and what may be done; where its state changed, rerun the whole page."""
    caller = organiser()
    watch = arena().rounds.watch(name, caller=caller)
    if watch.round.state is not state:
        st.rerun()
    _figures(watch)
    rows = [(row.system, percent(row.score), ends_of(row, share=True)) for row in watch.live.systems]
    heading("Standing", anchor="standing")
    note(watch.live.sentence)
    grid(("System", "Score", "Interval"), rows, caption="Mean share of the win per question")
    _controls(watch, caller)
    _without_verdict(watch, caller)


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
            ("time left", span(watch.seconds_left)),
            ("workers", ", ".join(watch.workers) or "none"),
        ]
    )
    if watch.capped:
        st.warning(
            f"The cap of {usd(round_.budget_usd)} is reached: {counts.skipped:,} of {counts.planned:,} "
            "battles were not judged. With a larger cap the rest is."
        )
    for sentence in watch.warnings:
        st.warning(sentence)
    if watch.job is not None and watch.job.waiting and watch.waiting:
        note(f"The endpoint makes the round wait: {watch.job.waiting}.")
    names = ("judged", "unreadable", "refused", "failed", "skipped", "missing", "pending")
    strip([(name, f"{getattr(counts, name):,}") for name in names])
    if watch.job is not None:
        job, position = watch.job.job, watch.job.position
        waits = "" if position is None else f", place {position} in the queue"
        note(f"Job {job.id} ({job.kind}): {job.state}{waits}.")
        if job.error:
            st.text(job.error)


def _controls(watch: RoundWatch, caller: Caller) -> None:
    name, state = watch.round.name, watch.round.state
    rounds = arena().rounds
    judging = watch.waiting and watch.job is not None and watch.job.job.kind is not JobKind.PUBLISH
    active, idle = state in ACTIVE, not watch.waiting
    words = " and ".join(f"{count:,} {how}" for how, count in watch.retriable.items())
    show_flash(CONTROLS)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cap = None
        if active or watch.retriable:
            cap = st.number_input(
                "New cap in USD", 0.0, value=None, placeholder="as it is", width=160, key="cap"
            )
        go_on = partial(rounds.go_on, name, budget_usd=cap, caller=caller)
        buttons: tuple[tuple[bool, str, str, Callable[[], object], str], ...] = (
            (
                cap is not None,
                "Raise the cap",
                "payments",
                lambda: rounds.set_budget(name, cap or 0.0, caller=caller),
                f"The cap is {usd(cap)}.",
            ),
            (
                active and judging,
                "Pause",
                "pause",
                lambda: rounds.pause(name, caller=caller),
                "The round is paused; what is in flight finishes.",
            ),
            (active and idle, "Resume", "play_arrow", go_on, "The round is resumed and waits for a worker."),
            (
                state is RoundState.PAUSED and idle and bool(watch.warnings),
                "Judge all the same",
                "warning",
                partial(go_on, anyway=True),
                "The round is judged to its end, whatever its judge replies.",
            ),
            (
                state in RETRIABLE and idle and bool(words) and not (watch.capped and cap is None),
                f"Judge the {words}",
                "replay",
                partial(go_on, retry=True),
                f"The {words} are judged again: the round waits for a worker.",
            ),
        )
        for offered, label, icon, work, done in buttons:
            if offered and st.button(label, icon=f":material/{icon}:"):
                attempt(work, done, CONTROLS)
        if active and confirmed("Cancel", "Yes, end the round", icon="cancel", key="end"):
            attempt(lambda: rounds.cancel(name, caller=caller), "The round is cancelled.", CONTROLS)
        if state in DELETABLE and idle:
            sure = "Yes, delete the round and its verdicts"
            if confirmed("Delete", sure, icon="delete", key="delete"):

                def delete() -> None:
                    rounds.delete(name, caller=caller)
                    st.query_params.clear()

                attempt(delete, f"The round {name} is deleted.")


def _without_verdict(watch: RoundWatch, caller: Caller) -> None:
    counts = {one: getattr(watch.counts, one.value) for one in WITHOUT_VERDICT}
    labels = {one.value: f"{one.value} ({count:,})" for one, count in counts.items() if count}
    if not labels:
        return
    heading("Without a verdict", anchor="without-verdict")
    name = watch.round.name
    chosen = Outcome(choose_one("outcome", "Ended as", labels, width=240))
    shown = arena().rounds.without_verdict(name, chosen, limit=MOST_SHOWN, caller=caller)
    if counts[chosen] > len(shown):
        more = f"`arena rounds status {name} --replies N` has more"
        note(f"The first {len(shown):,} of {counts[chosen]:,}; {more}.")
    for evidence in shown:
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
            reply = "No reply came." if judgment.reply is None else judgment.reply.text
            st.text(in_short(battle, reasons) if reasons else judgment.rationale or judgment.detail or reply)


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
    watch = arena().rounds.watch(name, caller=caller)
    round_ = watch.round
    paragraph(anchor("All rounds", "admin-rounds"), class_="aa-eyebrow")
    page_heading(round_.name)
    name_page(round_.name, "Organise rounds")
    show_flash()
    facts = {"set": round_.set_name, "judge": round_.judge_name, "pairs": round_.plan["pairs"]}
    strip([*facts.items(), ("seed", str(round_.seed))])
    watched(live, name, round_.state, every=EVERY if watch.moving else None)
    board_part(watch, caller)


def _list() -> None:
    lead("A round is launched here and judged by workers; this site only watches.")
    rounds = arena().rounds.rounds(caller=organiser())
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
            publish = partial(arena().boards.publish, name, report=note, people=people, caller=caller)
            attempt(publish, "The corrected board is published.", BOARD)
        notice = st.text_area("Notice for readers, if it is retracted", key="notice")
        sure = "Take it down for everybody; the round cannot be published again"
        if confirmed("Retract", sure, icon="undo", key="retract", enabled=bool(notice.strip())):
            retract = partial(arena().boards.retract, name, notice.strip(), caller=caller)
            attempt(retract, "The board is retracted.", BOARD)
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
            _show(arena().boards.preview(name, caller=caller))
        except ArenaError as error:
            show_error(error)
    metrics = st.checkbox("Score the answers by the embedded metrics first", value=True, key="metrics")
    calibration = _choose_calibration(watch.round.judge_name, caller)
    people = _labels(name, caller)
    warning = arena().boards.partial(name, caller=caller)
    if warning:
        st.warning(warning, icon=":material/incomplete_circle:")
    partial = bool(warning) and st.checkbox("Publish it as a partial board", key="partial")

    if st.button(
        "Publish", type="primary", icon=":material/publish:", disabled=bool(warning) and not partial
    ):
        attempt(
            lambda: arena().boards.queue_publishing(
                name, metrics=metrics, partial=partial, calibration=calibration, people=people, caller=caller
            ),
            "A worker scores the answers and publishes the board.",
            BOARD,
        )


def _labels(name: str, caller: Caller) -> VoteSource | None:
    count = {found.name: count for found, count in arena().labels.rounds(caller=caller)}.get(name, 0)
    if count and st.checkbox(f"Correct by the {count:,} labels of this round", key="votes-labels"):
        return arena().boards.votes(LABELS, name)
    return None


def _choose_calibration(judge: str, caller: Caller) -> int | None:
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
            rank_range(ranks.get(line["system"])),
            *(percent((line["rate"] or {}).get(name)) for name in ("win_rate", "win_tie_rate")),
        )
        for line in standings["lines"][OVERALL]
    ]
    grid(("System", "Rating", "Rank", "Win", "Win + tie"), rows, caption="As it would be published")
