"""What a new round is to be: asked, planned, tried and launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.rounds.models import RoundRequest
from arena.services.rounds.waves.settings import EARLIER, TRAINED
from arena.site.admin.common import (
    NOTHING,
    attempt,
    capped,
    grid,
    offer_cancel,
    organiser,
    show_work,
    usd,
    watched,
)
from arena.site.admin.waves_part import show_curve
from arena.site.services import arena
from arena.site.ui.components import note, strip
from arena.site.ui.errors import plain
from data.errors import ArenaError
from data.records import JobState, OrderPolicy, RoundState, SetSummary

MEASURED = "organise-measured"
WORDS = {JobState.QUEUED: "It waits for a worker.", JobState.RUNNING: "A worker judges it now."}


def sample_of(number: int | None) -> Mapping[str, Any] | None:
    """What a dry sample found, by the number of its job; None while there is nothing."""
    return None if number is None else arena().round_admin.trial(number, caller=organiser()).job.result


def show_trial(number: int) -> None:
    """Show a dry sample by the number of its job."""
    status = arena().round_admin.trial(number, caller=organiser())
    job = status.job
    if job.state in WORDS:
        st.info(WORDS[job.state], icon=":material/hourglass_top:")
        show_work(status)
        if job.error:
            st.text(job.error)
        note(f"Spending: {capped(job.payload['request']['budget_usd'])}.")
        offer_cancel(number, organiser())
        return
    if job.result is None:
        st.error("The sample came to nothing.", icon=":material/error:")
        st.text(job.error)
        return
    trial = job.result
    if st.session_state.get(MEASURED) != number:
        # The launch below takes the measured cost, so the whole page is rerun.
        st.session_state[MEASURED] = number
        st.rerun()
    strip(
        [
            *((name, f"{count:,}") for name, count in trial["outcomes"].items()),
            (f"cost of the sample, {capped(trial.get('cap_usd'))}", usd(trial["cost_usd"])),
            ("cost of the round at that", usd(trial["cost_usd_round"])),
        ]
    )
    for position, verdict in enumerate(trial["verdicts"], start=1):
        winner = verdict["winner"] or verdict["outcome"]
        title = f"{position}. {verdict['system_a']} – {verdict['system_b']}: {winner}"
        with st.expander(title):
            st.text(verdict["question"])
            note(f"Question {verdict['question_id']}, {usd(verdict['cost_usd'])}.")
            st.text(verdict["why"] or NOTHING)


JUDGED = (RoundState.FINISHED, RoundState.PUBLISHED)
PLANNED, TRIAL = "organise-planned", "organise-trial"
PAIRS = {
    "reference": "each system against the reference",
    "reference,complete": "that, and every pair of systems on some questions",
    "complete": "every pair of systems on some questions",
    "all": "every pair on every question",
}


def new_round(caller: Caller) -> None:
    """Show the form, the plan that follows from it, a dry sample, and the launch."""
    sets = {summary.name: summary for summary in arena().sets.summaries()}
    if not sets:
        st.info("Import a question set first, on the Sets page.", icon=":material/upload:")
        return
    try:
        request = _asked(sets)
    except ArenaError as error:
        st.error(plain(error), icon=":material/error:")
        return
    if st.button("Plan", type="primary", icon=":material/calculate:"):
        st.session_state.pop(TRIAL, None)
        try:
            st.session_state[PLANNED] = (request, arena().round_admin.estimate(request, caller=caller))
        except ArenaError as error:
            st.session_state.pop(PLANNED, None)
            st.error(plain(error), icon=":material/error:")
    planned = st.session_state.get(PLANNED)
    if planned is None:
        return
    if planned[0] != request:
        note("The form was changed since: plan again to see what it costs.")
        return
    _show_plan(request, planned[1])
    _offer_trial(request, caller)
    _offer_launch(request, planned[1], caller)


def _asked(sets: dict[str, SetSummary]) -> RoundRequest:
    """The request as the form says it."""
    left, right = st.columns(2, gap="large")
    with left:
        summary = sets[st.selectbox("Question set", list(sets))]
        entrants = [entrant.system for entrant in arena().planner.entrants(summary.name)]
        systems = st.multiselect(
            "Systems", entrants, placeholder="All of them", key=f"systems-{summary.name}"
        )
        domains = st.multiselect(
            "Domains",
            list(summary.domains),
            placeholder="All of them",
            format_func=lambda domain: summary.domains[domain],
            key=f"domains-{summary.name}",
        )
        pairs = st.selectbox("Pairs", list(PAIRS), format_func=PAIRS.__getitem__)
        if "complete" in pairs:
            pairs += f":{st.number_input('Questions on which systems meet', 1, value=20)}"
        sample = st.text_input("Sample", placeholder="All questions; or 100, or 10%")
    with right:
        judges = [info for info in arena().judges.known() if not info.problem]
        names = [info.name for info in judges]
        about = {info.name: f"{info.name} ({info.model or info.kind})" for info in judges}
        judge = st.selectbox("Judge", names, names.index("lexical"), format_func=about.__getitem__)
        order = st.selectbox(
            "Answer order", [None, *OrderPolicy], format_func=lambda choice: choice or "judge's default"
        )
        cap = st.number_input("Cap in USD", 0.0, value=None, placeholder="Needed where an LLM judges")
        seed = st.number_input("Seed", 0, value=0)
        name = st.text_input("Name of the round", placeholder="Made of set, judge and day")
    cheap = _asked_of_cheap(summary.name, names, judge)
    return RoundRequest(
        **cheap,
        set_name=summary.name,
        judge=judge,
        pairs=pairs,
        systems=tuple(systems),
        domains=tuple(domains),
        sample=sample.strip() or None,
        order=order,
        seed=seed,
        budget_usd=cap,
        name=name.strip() or None,
    )


def _asked_of_cheap(set_name: str, judges: Sequence[str], judge: str) -> dict[str, Any]:
    """The fields of a round whose judge decides a part; none where it is to decide everything."""
    earlier = [
        f"{EARLIER}{round_.name}"
        for round_ in arena().round_admin.rounds(caller=organiser())
        if round_.set_name == set_name and round_.state in JUDGED
    ]
    choices = [*(name for name in judges if name != judge), TRAINED, *earlier]
    chosen = st.multiselect(
        "Cheap judges",
        choices,
        placeholder="None: the judge decides every battle",
        help="They decide every battle, and the judge a sample of them, drawn in waves.",
        key=f"cheap-{set_name}",
    )
    if not chosen:
        return {}
    left, right = st.columns(2, gap="large")
    spend = left.text_input("Spend", "10%", help="500 battles, 10% of them, or 20USD; or none", key="spend")
    ask = right.text_input("Asked", "ranking", help="ranking, leaders, pair:A,B or domains", key="ask")
    width = left.number_input("Width wanted, in rating points", 0.0, value=None, key="width")
    return {
        "cheap_judges": tuple(chosen),
        "spend": spend.strip() or None,
        "target_width": width or None,
        "ask": ask.strip(),
    }


def _show_plan(request: RoundRequest, plan: dict[str, Any]) -> None:
    strip(
        [
            ("battles", f"{plan['planned']:,}"),
            ("canaries", f"{plan['canaries']:,}"),
            ("control battles", f"{plan['controls']:,}"),
            ("requests", f"{plan['requests']:,}–{plan['requests_most']:,}"),
            ("cost", f"{usd(plan['cost_usd'])} – {usd(plan['cost_usd_most'])}"),
            ("cap", NOTHING if request.budget_usd is None else usd(request.budget_usd)),
        ]
    )
    left_out = [(reason, f"{count:,}") for reason, count in plan["left_out"].items()]
    if left_out:
        grid(("Left out", "Battles"), left_out)
    undecidable = [(why, f"{count:,}") for why, count in plan["undecidable"].items()]
    if undecidable:
        grid(("The judge cannot decide, since", "Battles"), undecidable)
    note(f"Systems: {', '.join(plan['systems']) or 'none'}. {plan['missing']:,} battles lack an answer.")
    if "waves" in plan:
        show_curve(plan["waves"])


def _offer_trial(request: RoundRequest, caller: Caller) -> None:
    st.header("Dry sample", anchor="dry-sample")
    note("A worker judges up to 20 of the battles. Their verdicts are shown here and count nowhere.")
    if st.button("Try 20 battles", icon=":material/science:"):
        try:
            st.session_state[TRIAL] = arena().round_admin.sample(request, caller=caller).id
        except ArenaError as error:
            st.error(plain(error), icon=":material/error:")
    if TRIAL in st.session_state:
        watched(show_trial, st.session_state[TRIAL])


def _offer_launch(request: RoundRequest, plan: dict[str, Any], caller: Caller) -> None:
    st.header("Launch", anchor="launch")
    cap = "without a cap" if request.budget_usd is None else f"and at most {usd(request.budget_usd)}"
    sure = st.checkbox(f"{_judging(request, plan)} {cap}.", key="organise-sure")
    if st.button("Launch", type="primary", disabled=not sure, icon=":material/rocket_launch:"):

        def launch() -> None:
            job = arena().round_admin.launch(request, caller=caller)
            st.session_state.pop(PLANNED, None)
            st.query_params["round"] = job.round_name or ""

        attempt(launch, "The round waits for a worker.")


def _judging(request: RoundRequest, plan: dict[str, Any]) -> str:
    """What would be launched, in a sentence without its end."""
    if not request.cheap_judges:
        return f"Judge {plan['planned']:,} battles for {_cost(plan)}"
    ends = [
        "" if request.spend is None else f"{request.spend} are spent",
        "" if request.target_width is None else f"intervals are {request.target_width:g} points wide",
    ]
    judges = " and ".join(request.cheap_judges)
    return f"Judge {plan['planned']:,} battles by {judges}, and some by {request.judge} until " + " or ".join(
        filter(None, ends)
    )


def _cost(plan: dict[str, Any]) -> str:
    """What the round will cost in half a sentence: as its dry sample measured where there is one."""
    sampled = sample_of(st.session_state.get(TRIAL))
    if sampled is None or sampled["cost_usd_round"] is None:
        return f"about {usd(plan['cost_usd'])} (estimated before any is judged)"
    return (
        f"about {usd(sampled['cost_usd_round'])} ({usd(sampled['cost_usd_battle'])} a battle, as the dry "
        f"sample of {sampled['tried']:,} measured)"
    )
