"""Errors in one sentence, flash messages of what was done, and bars for long work."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Event
from typing import TypeVar

import streamlit as st
import structlog

from arena.formats import span
from arena.site.ui.html import Cell, anchor, paragraph, put
from data import errors
from data.files.text_files import MEBIBYTE
from data.progress import Latest, Work, listening

log = structlog.get_logger("arena.site")


def public_error(error: errors.ArenaError) -> errors.ArenaError:
    """Return the error as a visitor reads it: of a database that fails neither host nor name."""
    if not isinstance(error, errors.StoreError):
        return error
    log.error("unavailable", error=str(error))
    return errors.UnavailableError("The arena cannot do this now.", advice="Try again in a moment.")


MARKDOWN = frozenset("\\`*_{}[]()<>#+-.!|$~:")


class PageEndedError(Exception):
    """A page has said all that there is to say. Streamlit's own `stop` would also leave out the footer."""


def guarded(show: Callable[[], None]) -> None:
    """Show a page, or the sentence of the error that it raised."""
    try:
        show()
    except PageEndedError:
        return
    except errors.RetractedError as error:
        put("retracted", error.board, error.notice)
    except errors.NotFoundError as error:
        st.info(plain(error), icon=":material/search_off:")
        paragraph(anchor("Go to the leaderboard", ""))
    except errors.AccessError as error:
        st.info(plain(error), icon=":material/lock:")
        paragraph(anchor("Sign in", "auth/sign-in"))
    except errors.ArenaError as error:
        show_error(error)


def show_error(error: errors.ArenaError) -> None:
    """Show what went wrong and what to do, as text."""
    st.error(plain(error), icon=":material/error:")


COMMANDS = re.compile(
    r"(?<=\.) (?:Run )?`arena [^`]*`[^.]*\.|(?::| by|,? or with| with)? ?\(?`arena [^`]*`\)?"
    r"| (?:by|with) --[a-z-]+|(?<= )--(?=[a-z])"
)
"""Commands and options in an error: a sentence about one, one in brackets or behind a colon."""


def without_commands(text: str) -> str:
    """Leave out commands and their options, which a page has buttons and fields for."""
    return COMMANDS.sub("", text).strip() or text


def plain(error: errors.ArenaError) -> str:
    """Return the error's sentence with everything that Markdown would read as its own escaped."""
    return "".join(
        f"\\{sign}" if sign in MARKDOWN else sign for sign in without_commands(str(public_error(error)))
    )


FLASH = "flash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flash:
    """Message on an action, with time and place; `failed` if it is an error, `shown` after its display."""

    place: str
    text: str
    at: datetime
    failed: bool = False
    shown: bool = False


def tell(text: str, place: str = "", *, failed: bool = False) -> None:
    """Rerun the page, which says where it shows `place` what was done; empty is the top of the page."""
    st.session_state[FLASH] = Flash(place=place, text=text, at=datetime.now(UTC), failed=failed)
    st.rerun()


def attempt(do: Callable[[], object], done: str, place: str = "") -> None:
    """Do something and rerun the page, which says so, or why it cannot be done, where it shows `place`."""
    try:
        do()
    except errors.ArenaError as error:
        if not place:
            show_error(error)
        else:  # A part that refreshes itself would drop the error within seconds.
            tell(without_commands(str(public_error(error))), place, failed=True)
    else:
        tell(done, place)


def confirmed(label: str, sure: str, *, icon: str, key: str, enabled: bool = True) -> bool:
    """Show a button that needs a tick first, and return whether it was pressed; `key` names its thing."""
    ticked = st.checkbox(sure, key=f"{key}-sure")
    return st.button(label, disabled=not (ticked and enabled), icon=f":material/{icon}:", key=key)


def show_flash(place: str = "") -> None:
    """Say what was done last, where this is its place."""
    flash: Flash | None = st.session_state.get(FLASH)
    if flash is None or flash.place != place:
        return
    st.session_state[FLASH] = replace(flash, shown=True)
    moment = Cell(f" {flash.at:%H:%M} UTC", class_="aa-muted")
    class_, role = ("aa-told aa-bad", "alert") if flash.failed else ("aa-told", "status")
    paragraph(flash.text, moment, class_=class_, role=role)


def forget_flash() -> None:
    """Forget what was said; for where another page is opened."""
    flash: Flash | None = st.session_state.get(FLASH)
    if flash is not None and flash.shown:
        del st.session_state[FLASH]


Result = TypeVar("Result")
EVERY = 0.25


def show_progress(do: Callable[[Callable[[], None]], Result], *, until_told: str) -> Result:
    """Do something in a thread of its own and show how far it is; what it raises is raised here.

    The work touches nothing of the page. It gets a function that it calls at intervals, which raises
    StoppedError once the visitor has left. `until_told` is shown until it says how far it is.
    """
    latest, box, left = Latest(), st.empty(), Event()

    def raise_if_left() -> None:
        if left.is_set():
            raise errors.StoppedError(
                "The visitor left before the work was done.", advice="Open the page again."
            )

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
