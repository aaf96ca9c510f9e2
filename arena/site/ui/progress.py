"""Work that a page waits for, with a bar that says how far it is."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from threading import Event
from typing import TypeVar

import streamlit as st

from arena.site.ui.formats import span
from data.errors import StoppedError
from data.files.text_files import MEBIBYTE
from data.progress import Latest, Work, listening

Result = TypeVar("Result")
EVERY = 0.25


def shown(do: Callable[[Callable[[], None]], Result], *, until_told: str) -> Result:
    """Do something in a thread of its own and show how far it is; what it raises is raised here.

    The work touches nothing of the page. It gets a function that it calls at intervals, which raises
    StoppedError once the visitor has left. `until_told` is shown until it says how far it is.
    """
    latest, box, left = Latest(), st.empty(), Event()

    def raise_if_left() -> None:
        if left.is_set():
            raise StoppedError("The visitor left before the work was done.", advice="Open the page again.")

    box.progress(0.0, until_told)
    with listening(latest):
        context = copy_context()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(context.run, do, raise_if_left)
        try:
            while wait([future], timeout=EVERY).not_done:
                work = latest.work
                # Where the visitor has left or gone on, whatever is put on the page raises.
                box.progress((work and work.progress.share) or 0.0, words_of(work) if work else until_told)
        except BaseException:
            left.set()
            raise
    box.empty()
    return future.result()


def words_of(work: Work) -> str:
    """Describe the progress of work: done of total, and the time left."""
    progress, unit = work.progress, MEBIBYTE if work.in_bytes else 1
    amount, form = (" MiB", ",.1f") if work.in_bytes else ("", ",.0f")
    if progress.total is None:
        return f"{work.what}: {format(progress.done / unit, form)}{amount}" if progress.done else work.what
    text = (
        f"{work.what}: {format(progress.done / unit, form)} of {format(progress.total / unit, form)}{amount}"
    )
    return text if progress.seconds_left is None else f"{text}, {span(progress.seconds_left)} left"
