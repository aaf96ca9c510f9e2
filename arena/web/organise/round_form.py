"""What a new round is to be: asked, planned, tried and launched."""

from __future__ import annotations

from typing import Any

import streamlit as st

from arena.services.identity import Caller
from arena.services.round_requests import RoundRequest
from arena.web.guard import plain
from arena.web.organise.common import NOTHING, attempt, grid, usd, watched
from arena.web.organise.trial_view import show_trial
from arena.web.pieces import note, strip
from arena.web.wiring import arena
from data.errors import ArenaError
from data.records import OrderPolicy, SetSummary

PLANNED, TRIAL = "organise-planned", "organise-trial"
PAIRS = {
    "reference": "each system against the reference",
    "reference,complete": "that, and every pair of systems on some questions",
    "complete": "every pair of systems on some questions",
    "all": "every pair on every question",
}


def new_round(caller: Caller) -> None:
    """Show the form, the plan that follows from it, a dry sample, and the launch."""
    sets = {one.name: one for one in arena().sets.summaries()}
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
            st.session_state[PLANNED] = (request, arena().desk.estimate(request, caller=caller))
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
        entrants = [one.system for one in arena().planner.entrants(summary.name)]
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
        judges = [one for one in arena().judges.known() if not one.problem]
        names = [one.name for one in judges]
        about = {one.name: f"{one.name} ({one.model or one.kind})" for one in judges}
        judge = st.selectbox("Judge", names, names.index("lexical"), format_func=about.__getitem__)
        order = st.selectbox(
            "Which answer is shown first",
            [None, *OrderPolicy],
            format_func=lambda one: one or "as the judge says",
        )
        cap = st.number_input("Cap in USD", 0.0, value=None, placeholder="Needed where an LLM judges")
        seed = st.number_input("Seed", 0, value=0)
        name = st.text_input("Name of the round", placeholder="Made of set, judge and day")
    return RoundRequest(
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


def _show_plan(request: RoundRequest, found: dict[str, Any]) -> None:
    strip(
        [
            ("battles", f"{found['planned']:,}"),
            ("canaries", f"{found['canaries']:,}"),
            ("requests", f"{found['requests']:,}–{found['requests_most']:,}"),
            ("cost", f"{usd(found['cost_usd'])} – {usd(found['cost_usd_most'])}"),
            ("cap", NOTHING if request.budget_usd is None else usd(request.budget_usd)),
        ]
    )
    left_out = [(what, f"{count:,}") for what, count in found["left_out"].items()]
    if left_out:
        grid(("Left out", "Battles"), left_out)
    note(f"Systems: {', '.join(found['systems']) or 'none'}. {found['missing']:,} battles lack an answer.")


def _offer_trial(request: RoundRequest, caller: Caller) -> None:
    st.subheader("Dry sample", anchor="dry-sample")
    note("A worker judges up to 20 of the battles. Their verdicts are shown here and count nowhere.")
    if st.button("Try 20 battles", icon=":material/science:"):
        try:
            st.session_state[TRIAL] = arena().desk.sample(request, caller=caller).id
        except ArenaError as error:
            st.error(plain(error), icon=":material/error:")
    if TRIAL in st.session_state:
        watched(show_trial, st.session_state[TRIAL])


def _offer_launch(request: RoundRequest, found: dict[str, Any], caller: Caller) -> None:
    st.subheader("Launch", anchor="launch")
    cap = "without a cap" if request.budget_usd is None else f"and at most {usd(request.budget_usd)}"
    sure = st.checkbox(
        f"Judge {found['planned']:,} battles for about {usd(found['cost_usd'])} {cap}.", key="organise-sure"
    )
    if st.button("Launch", type="primary", disabled=not sure, icon=":material/rocket_launch:"):

        def launch() -> None:
            job = arena().desk.launch(request, caller=caller)
            st.session_state.pop(PLANNED, None)
            st.query_params["round"] = job.round_name or ""

        attempt(launch, "The round waits for a worker.")
