"""Errors as sentences, flash messages after actions, and progress bars."""

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
    """Return the error for visitors; for a database error, without its host and name."""
    if not isinstance(error, errors.StoreError):
        return error
    log.error("unavailable", error=str(error))
    return errors.UnavailableError("The arena cannot do this now.", advice="Try again in a moment.")


MARKDOWN = frozenset("\\`*_{}[]()<>#+-.!|$~:")


class PageEndedError(Exception):
    """End of a page's script; Streamlit's own `stop` would also skip the footer."""


def guarded(show: Callable[[], None]) -> None:
    """Show a page, or its error as a sentence."""
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
    """Show an error with its advice, as text."""
    st.error(plain(error), icon=":material/error:")


COMMANDS = re.compile(
    r"(?<=\.) (?:(?:Run|See) )?`arena [^`]*`[^.]*\.|(?::| by|,? or with| with)? ?\(?`arena [^`]*`\)?"
    r"| (?:by|with) --[a-z-]+|(?<= )--(?=[a-z])"
)
"""Commands and options in an error: a sentence about one, or one in brackets or after a colon."""


def without_commands(text: str) -> str:
    """Remove commands and options: pages have buttons and fields instead."""
    return COMMANDS.sub("", text).strip() or text


def plain(error: errors.ArenaError) -> str:
    """Return the error's sentence, escaped for Markdown."""
    return "".join(
        f"\\{char}" if char in MARKDOWN else char for char in without_commands(str(public_error(error)))
    )


FLASH = "flash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flash:
    """Message about an action, with time and place; `failed` if it is an error."""

    place: str
    text: str
    at: datetime
    failed: bool = False
    shown: bool = False


def tell(text: str, place: str = "", *, failed: bool = False) -> None:
    """Rerun the page with a message at `place`; empty is the top of the page."""
    st.session_state[FLASH] = Flash(place=place, text=text, at=datetime.now(UTC), failed=failed)
    st.rerun()


def attempt(do: Callable[[], object], done: str, place: str = "") -> None:
    """Run an action, and rerun the page with the result or the error at `place`."""
    try:
        do()
    except errors.ArenaError as error:
        if not place:
            show_error(error)
        else:  # The next refresh of the part would remove the error.
            tell(without_commands(str(public_error(error))), place, failed=True)
    else:
        tell(done, place)


def confirmed(label: str, sure: str, *, icon: str, key: str, enabled: bool = True) -> bool:
    """Show a button behind a checkbox, and return True if it was pressed."""
    ticked = st.checkbox(sure, key=f"{key}-sure")
    return st.button(label, disabled=not (ticked and enabled), icon=f":material/{icon}:", key=key)


def show_flash(place: str = "") -> None:
    """Show the last message if this is its place."""
    flash: Flash | None = st.session_state.get(FLASH)
    if flash is None or flash.place != place:
        return
    st.session_state[FLASH] = replace(flash, shown=True)
    moment = Cell(f" {flash.at:%H:%M} UTC", class_="aa-muted")
    class_, role = ("aa-told aa-bad", "alert") if flash.failed else ("aa-told", "status")
    paragraph(flash.text, moment, class_=class_, role=role)


def forget_flash() -> None:
    """Forget a displayed message when another page opens."""
    flash: Flash | None = st.session_state.get(FLASH)
    if flash is not None and flash.shown:
        del st.session_state[FLASH]


Result = TypeVar("Result")
EVERY = 0.25


def show_progress(do: Callable[[Callable[[], None]], Result], *, before: str) -> Result:
    """Run `work` in a thread and show its progress, or `before` until it reports any; raise its errors.

    The work must not touch the page. It must call the function that it receives at intervals, which raises
    StoppedError once the visitor has left.
    """
    latest, box, left = Latest(), st.empty(), Event()

    def raise_if_left() -> None:
        if left.is_set():
            raise errors.StoppedError("The visitor left before the work was done.", advice="Reload the page.")

    box.progress(0.0, before)
    with listening(latest):
        context = copy_context()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(context.run, do, raise_if_left)
        try:
            while wait([future], timeout=EVERY).not_done:
                work = latest.work
                # Once the visitor has left the page, any change to it raises.
                box.progress((work and work.progress.share) or 0.0, words_of(work) if work else before)
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
