"""Form of a new round: choose, plan and launch."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.boards.sentences import name_and_model
from arena.services.rounds.models import RoundRequest
from arena.site.admin.common import NOTHING, grid, usd
from arena.site.services import arena
from arena.site.ui.html import OPENED, anchor, heading, note, paragraph, strip
from arena.site.ui.messages import attempt, show_error
from arena.site.ui.url_state import chosen_many, distinct
from data.errors import ArenaError
from data.models import MissingRule, OrderPolicy, SetSummary

SET_PARAMETER, SYSTEMS_PARAMETER = "set", "systems"
PLANNED = "organise-planned"
PAIRS = {
    "reference": "each system against the reference",
    "reference,complete": "against the reference, and every pair on some questions",
    "complete": "every pair of systems on some questions",
    "all": "every pair on every question",
}
ORDERS = dict(zip((None, *OrderPolicy), ("judge's default", "one fixed", "random", "both"), strict=True))

MISSING = {MissingRule.LOSE: "count as lost", MissingRule.SKIP: "are not compared"}


def new_round(caller: Caller) -> None:
    """Show the form, its plan and the launch."""
    sets = {summary.name: summary for summary in arena().sets.summaries()}
    if not sets:
        note("There are no question sets yet.")
        paragraph(anchor("Import a question set", "admin-data"))
        return
    try:
        request = _read_form(sets)
    except ArenaError as error:
        show_error(error)
        return
    if st.button("Plan", type="primary", icon=":material/calculate:"):
        try:
            st.session_state[PLANNED] = (request, arena().planner.estimate(request, caller=caller))
        except ArenaError as error:
            st.session_state.pop(PLANNED, None)
            show_error(error)
    planned = st.session_state.get(PLANNED)
    if planned is None:
        return
    if planned[0] != request:
        note("The form has changed: plan again to see the cost.")
        return
    _show_plan(request, planned[1])
    _show_to_do(planned[1]["to_do"])
    _offer_launch(request, planned[1], caller)


def _read_form(sets: dict[str, SetSummary]) -> RoundRequest:
    left, right = st.columns(2, gap="large")
    with left:
        names = list(sets)
        wanted = st.query_params.get(SET_PARAMETER, "")
        summary = sets[st.selectbox("Question set", names, names.index(wanted) if wanted in sets else 0)]
        entrants = [entrant.system for entrant in arena().planner.entrants(summary.name)]
        systems = st.multiselect(
            "Systems",
            entrants,
            chosen_many(SYSTEMS_PARAMETER, entrants, ()) if summary.name == wanted else [],
            placeholder="All systems",
            key=f"systems-{summary.name}",
        )
        domains = st.multiselect(
            "Domains",
            list(summary.domains),
            placeholder="All domains",
            format_func=distinct(summary.domains).__getitem__,
            key=f"domains-{summary.name}",
        )
        pairs = st.selectbox("Pairs", list(PAIRS), format_func=PAIRS.__getitem__)
        if "complete" in pairs:
            pairs += f":{st.number_input('Questions on which systems meet', 1, value=20)}"
        sample = st.text_input("Sample", placeholder="All questions; or 100, or 10%")
    with right:
        judges = [info for info in arena().judges.known() if not info.problem]
        about = {info.name: name_and_model(info.name, info.model or info.kind) for info in judges}
        names = list(about)
        judge = st.selectbox("Judge", names, names.index("lexical"), format_func=about.__getitem__)
        order = st.selectbox("Answer order", list(ORDERS), format_func=ORDERS.__getitem__)
        missing = st.selectbox("Missing answers", list(MISSING), format_func=MISSING.__getitem__)
        cap = st.number_input("Cap in USD", 0.0, value=None, placeholder="Spending limit of the round")
        seed = st.number_input("Seed", 0, value=0)
        name = st.text_input("Name of the round", placeholder="Default: set, judge and date")
    return RoundRequest(
        set_name=summary.name,
        judge=judge,
        pairs=pairs,
        systems=tuple(systems),
        domains=tuple(domains),
        sample=sample.strip() or None,
        order=order,
        missing=missing,
        seed=seed,
        budget_usd=cap,
        name=name.strip() or None,
    )


def _offer_launch(request: RoundRequest, plan: dict[str, Any], caller: Caller) -> None:
    heading("Launch", anchor="launch")
    cap = "without a cap" if request.budget_usd is None else f"and at most {usd(request.budget_usd)}"
    sure = st.checkbox(f"Judge {plan['planned']:,} battles for about {usd(plan['cost_usd'])} {cap}.")
    blocked = any(item["blocks"] for item in plan["to_do"])
    if blocked:
        note("The round can be launched once every item marked as needed is done.")
    if st.button("Launch", type="primary", disabled=blocked or not sure, icon=":material/rocket_launch:"):

        def launch() -> None:
            job = arena().rounds.launch(request, caller=caller)
            st.session_state.pop(PLANNED, None)
            st.query_params["round"] = job.round_name or ""
            # Open the round's page at its top.
            st.session_state.pop(OPENED, None)

        attempt(launch, "Round launched and queued.")


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _show_plan(request: RoundRequest, plan: Mapping[str, Any]) -> None:
    strip(
        [
            ("battles", f"{plan['planned']:,}"),
            ("requests", _range(plan["requests"], plan["requests_most"])),
            ("cost", f"{usd(plan['cost_usd'])} – {usd(plan['cost_usd_most'])}"),
            ("cap", NOTHING if request.budget_usd is None else usd(request.budget_usd)),
        ]
    )
    for head, key in (("Left out", "left_out"), ("The judge cannot decide", "undecidable")):
        rows = [(why, f"{count:,}") for why, count in plan[key].items()]
        if rows:
            grid((head, "Battles"), rows)
    note(f"Systems: {', '.join(plan['systems']) or 'none'}.")


def _show_to_do(to_do: Sequence[Mapping[str, Any]]) -> None:
    heading("Before you launch", anchor="to-do")
    if not to_do:
        note("Nothing is missing.")
        return
    rows = [(item["text"], "needed" if item["blocks"] else "to consider", item["advice"]) for item in to_do]
    grid(("Missing", "Urgency", "What to do"), rows)
