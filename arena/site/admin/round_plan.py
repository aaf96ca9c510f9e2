"""What a planned round would judge and cost, and what it lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from arena.services.rounds.models import RoundRequest
from arena.services.rounds.readiness import Lack
from arena.site.admin.common import NOTHING, grid, usd
from arena.site.admin.waves_part import show_curve
from arena.site.ui.components import note, strip
from arena.site.ui.tables import anchor

MENDED = {
    Lack.ANSWERS: ("Open the set", "admin-data", "set"),
    Lack.CLOSED: ("Open the set", "admin-data", "set"),
    Lack.OPEN: ("See the phases", "admin-data", "set"),
    Lack.INCOMPLETE: ("See who lacks what", "admin", ""),
    Lack.REFERENCES: ("See the set", "admin-data", "set"),
    Lack.CALIBRATION: ("Calibrate it", "admin-calibration", ""),
}
"""Where what is missing is mended: the words of the link, its page, and the query that names the set."""


def show_plan(request: RoundRequest, plan: Mapping[str, Any]) -> None:
    """Show what would be judged and what it would cost."""
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


def show_to_do(request: RoundRequest, to_do: Sequence[Mapping[str, Any]]) -> None:
    """What the round lacks, with what to do; what keeps it from being launched comes first."""
    st.header("Before you launch", anchor="to-do")
    if not to_do:
        note("Nothing is missing.")
        return
    rows = []
    for one in to_do:
        word = "needed" if one["blocks"] else "to consider"
        text, page, query = MENDED.get(Lack(one["what"]), ("", "", ""))
        link = anchor(text, page, **({query: request.set_name} if query else {})) if text else ""
        rows.append((one["text"], word, one["advice"], link))
    grid(("What is missing", "How urgent", "What to do", "Where"), rows)
