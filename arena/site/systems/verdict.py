"""What a board says of one system, in one sentence, and where the system loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from arena.services.evidence.losses import LossShare, LossShares
from arena.site.boards.sentences import place_of, separation, standing
from arena.site.boards.view_model import BoardView
from arena.site.ui.components import note
from arena.site.ui.formats import Bounded, interval_of_shares, percent, range_of_shares
from arena.site.ui.markup import put
from arena.site.ui.tables import plain_table
from data.stats import Interval
from leaderboard.rates import Rate

MOST_ROWS = 6


def verdict(view: BoardView, system: str, field: Rate | None) -> str:
    """Its places, and how often it wins or ties against the reference and against the other systems."""
    line = view.line(system)
    if line is None or line.rating is None or line.own_rates.win_tie is None:
        return standing(view, system)
    against = "all systems" if line.is_reference or not view.reference else view.the_reference
    own = line.own_rates.win_tie
    parts = [f"{percent(own.value)} of its battles against {against} ({interval_of_shares(own)})"]
    if field is not None and view.reference and not line.is_reference:
        others = _bounded(field.win_tie_rate, field.win_tie_interval)
        parts.append(
            f"{percent(others.value)} of those against the other systems ({range_of_shares(others)})"
        )
    return f"{place_of(view, system)}: it wins or ties {' and '.join(parts)}. {separation(view, line)}"


def show_losses(view: BoardView, losses: LossShares) -> None:
    """In which domains, on what kinds of question and against whom it loses, the worst first."""
    st.header("Where it loses", anchor="losses")
    if not losses.opponents:
        note("None of its battles has a verdict.")
        return
    note("Shares of its battles against everyone that it lost, with 95 % intervals over questions.")
    groups: Sequence[tuple[str, Sequence[LossShare], Mapping[str, str]]] = (
        ("Domain", losses.domains, view.domains),
        ("Kind of question", losses.kinds, {}),
        ("Against", losses.opponents, {}),
    )
    for place, (name, shares, labels) in zip(st.columns(len(groups), gap="medium"), groups, strict=True):
        with place:
            rows = [_row(share, labels.get(share.name, share.name)) for share in shares[:MOST_ROWS]]
            put(plain_table((name, "Lost", "95 % interval"), rows))
            if len(shares) > MOST_ROWS:
                note(f"The worst {MOST_ROWS} of {len(shares)}.")


def _row(share: LossShare, label: str) -> tuple[str, ...]:
    ends = share.interval
    bounds = "–" if ends is None else f"{100 * ends.lower:.0f} to {100 * ends.upper:.0f} %"
    return label, f"{100 * share.share:.0f} %", bounds


def _bounded(value: float, interval: Interval | None) -> Bounded:
    if interval is None:
        return Bounded(value=value)
    return Bounded(value=value, lower=interval.lower, upper=interval.upper)
