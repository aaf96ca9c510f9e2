"""Public blind votes of a set, for organisers: opened, closed, counted, exported."""

from __future__ import annotations

from functools import partial

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.site.admin.common import attempt, grid
from arena.site.services import arena
from arena.site.ui.components import note, strip
from arena.site.ui.done import show_done
from arena.site.ui.formats import shown


def public_votes_part(set_name: str, caller: Caller) -> None:
    """Open and close votes on a set, and show their own board."""
    votes = arena().public_votes
    st.header("Public blind votes", anchor="votes")
    poll = votes.state(set_name)
    is_open = poll is not None and poll.open
    note(
        "Visitors judge blind pairs of the published systems at /vote. Votes are never mixed with a judge's."
    )
    show_done("votes")
    wanted = st.toggle("Visitors may vote on this set", is_open, key="public-votes")
    if wanted and not is_open:
        attempt(lambda: votes.open(set_name, caller=caller), "Visitors may vote.", "votes")
    elif is_open and not wanted:
        attempt(lambda: votes.close(set_name, caller=caller), "Votes are closed.", "votes")
    if poll is not None:
        _figures(set_name, caller)


def _figures(set_name: str, caller: Caller) -> None:
    board = arena().public_votes.board(set_name)
    strip(
        [
            ("votes", f"{board.given:,}"),
            ("count", f"{len(board.count.kept):,}"),
            ("visitors", f"{board.visitors:,}"),
            ("test pairs", f"{board.count.gold:,}"),
            ("did not pass", f"{board.count.untried:,}"),
            ("rejected", f"{sum(board.rejected.values()):,}"),
            ("beyond the cap", f"{board.count.over_cap:,}"),
        ]
    )
    if board.ratings is None:
        note(board.unrankable)
    else:
        rows = [
            (row.system, shown(row.rating, ".0f"), shown(row.lower, ".0f"), shown(row.upper, ".0f"))
            for row in board.ratings.ratings
        ]
        grid(("System", "Rating", "Lower", "Upper"), rows, caption="By visitors' votes alone")
    st.download_button(
        "Votes file, JSONL",
        partial(_file, set_name, caller),
        file_name=f"{set_name}-public-votes.jsonl",
        mime="application/jsonl",
        icon=":material/download:",
        on_click="ignore",
        key="public-votes-file",
    )


def _file(set_name: str, caller: Caller) -> bytes:
    return arena().public_votes.export(set_name, caller=caller).encode()
