"""Shared parts of organisers' pages: the signed-in organiser, actions with their errors, small tables."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import streamlit as st

from arena.services.accounts.auth import Caller, require
from arena.services.jobs.service import JobStatus
from arena.site.auth import present
from arena.site.services import arena
from arena.site.ui.html import Child, note, put_html, words_table
from arena.site.ui.messages import attempt, guarded, words_of
from data.models import JobState, TokenScope

NOTHING = "–"
REFRESH_SECONDS = 2.0


def organiser() -> Caller:
    """Return the signed-in organiser."""
    caller = present()
    require(caller, TokenScope.ORGANISE)
    return caller


def refreshing(show: Callable[..., None], *arguments: object, every: float | None = REFRESH_SECONDS) -> None:
    """Show a section that refreshes itself every few seconds, with its errors as sentences."""
    st.fragment(lambda: guarded(partial(show, *arguments)), run_every=every)()


def grid(headings: Sequence[str], rows: Iterable[Sequence[Child]], *, caption: str = "") -> None:
    """Show a table; a wide one scrolls sideways."""
    put_html(words_table(headings, rows, caption=caption, scrolls=True))


def usd(amount: float | None) -> str:
    """Format an amount of money, small ones with four decimals."""
    if amount is None:
        return "price unknown"
    return f"{amount:,.2f} USD" if amount >= 1 or amount == round(amount, 2) else f"{amount:.4f} USD"


def cap_label(amount: float | None) -> str:
    """Format a spending limit."""
    return "no cap" if amount is None else f"cap {usd(amount)}"


def offer_cancel(job: int, caller: Caller, place: str) -> None:
    """Show a button that cancels a queued or running job."""
    if st.button("Cancel", key=f"cancel-{job}", icon=":material/cancel:"):
        attempt(lambda: arena().jobs.cancel(job, caller=caller), f"Job {job} is cancelled.", place)


def show_work(status: JobStatus, caller: Caller | None = None, place: str = "") -> bool:
    """Show a job's progress, for a caller with a cancel button; return False if it has ended."""
    if status.job.finished_at is not None:
        return False
    note("Waiting for a worker." if status.job.state is JobState.QUEUED else "Running.")
    if status.work is not None:
        st.progress(status.work.progress.share or 0.0, words_of(status.work))
    if caller is not None:
        offer_cancel(status.job.id, caller, place)
    return True
