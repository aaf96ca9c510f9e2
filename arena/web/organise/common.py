"""What the organisers' pages share: who is looking, doing something with its error, small tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import streamlit as st

from arena.services.identity import Caller, require
from arena.web.guard import guarded, plain
from arena.web.markup import Child, element, put
from arena.web.visitors import present
from arena.web.wiring import arena
from data.errors import ArenaError
from data.records import TokenScope

FLASH = "organise-flash"
NOTHING = "–"
EVERY = 2.0
"""Seconds between two looks at what is going on."""


def organiser() -> Caller:
    """Who is looking, where they organise.

    Raises:
        AccessError: Nobody is signed in.
        ForbiddenError: They are no organiser.
    """
    caller = present()
    require(caller, TokenScope.ORGANISE)
    return caller


def is_organiser() -> bool:
    """Whether the navigation offers these pages; what they do, the services decide."""
    try:
        return present().organiser
    except ArenaError:
        return False


def attempt(do: Callable[[], object], done: str) -> None:
    """Do something and show the page anew with a word about it, or say why it cannot be done."""
    try:
        do()
    except ArenaError as error:
        st.error(plain(error), icon=":material/error:")
        return
    st.session_state[FLASH] = done
    st.rerun()


def watched(show: Callable[..., None], *given: object, every: float | None = EVERY) -> None:
    """Show a part that is shown anew every few seconds; its errors are sentences too."""
    st.fragment(lambda: guarded(partial(show, *given)), run_every=every)()


def show_done() -> None:
    """The word about what was done just before."""
    done = st.session_state.pop(FLASH, None)
    if done:
        st.success(done, icon=":material/check:")


def grid(headings: Sequence[str], rows: Iterable[Sequence[Child]], *, caption: str = "") -> None:
    """A table of names, words and numbers; first column heads its row, wide ones scroll within themselves."""
    head = element("tr", *(element("th", name, scope="col", class_="aa-left") for name in headings))
    body = [
        element(
            "tr",
            element("th", cells[0], scope="row"),
            *(element("td", cell, class_="aa-words") for cell in cells[1:]),
        )
        for cells in rows
    ]
    parts = [element("caption", caption)] if caption else []
    table = element("table", *parts, element("thead", head), element("tbody", *body), class_="aa-board")
    put(element("div", table, class_="aa-wrap aa-scroll"))


def usd(amount: float | None) -> str:
    """An amount of money; small ones with what distinguishes them."""
    if amount is None:
        return "price not known"
    return f"{amount:,.2f} USD" if amount >= 1 or not amount else f"{amount:.4f} USD"


def capped(amount: float | None) -> str:
    """The most that may be spent."""
    return "no cap" if amount is None else f"cap {usd(amount)}"


def offer_cancel(job: int, caller: Caller) -> None:
    """A button that takes a job out of the queue, or out of its worker's hands."""
    if st.button("Cancel", key=f"cancel-{job}", icon=":material/cancel:"):
        attempt(lambda: arena().jobs.cancel(job, caller=caller), f"Job {job} is cancelled.")


def duration(seconds: float | None) -> str:
    """A time span as people say it."""
    if seconds is None:
        return NOTHING
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
