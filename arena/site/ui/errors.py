"""Message for a page that cannot be shown: one sentence with a remedy."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
import structlog

from arena.site.ui.html import anchor, paragraph, put
from data.errors import AccessError, ArenaError, NotFoundError, RetractedError, StoreError, UnavailableError

log = structlog.get_logger("arena.site")


def public_error(error: ArenaError) -> ArenaError:
    """Return the error as a visitor reads it: of a database that fails neither host nor name."""
    if not isinstance(error, StoreError):
        return error
    log.error("unavailable", error=str(error))
    return UnavailableError("The arena cannot do this now.", advice="Try again in a moment.")


MARKDOWN = frozenset("\\`*_{}[]()<>#+-.!|$~:")


class PageEndedError(Exception):
    """A page has said all that there is to say. Streamlit's own `stop` would also leave out the footer."""


def guarded(show: Callable[[], None]) -> None:
    """Show a page, or the sentence of the error that it raised."""
    try:
        show()
    except PageEndedError:
        return
    except RetractedError as error:
        put("retracted", error.board, error.notice)
    except NotFoundError as error:
        st.info(plain(error), icon=":material/search_off:")
        paragraph(anchor("Go to the leaderboard", ""))
    except AccessError as error:
        st.info(plain(error), icon=":material/lock:")
        paragraph(anchor("Sign in", "auth/sign-in"))
    except ArenaError as error:
        show_error(error)


def show_error(error: ArenaError) -> None:
    """Show what went wrong and what to do, as text."""
    st.error(plain(error), icon=":material/error:")


def plain(error: ArenaError) -> str:
    """Return the error's sentence with everything that Markdown would read as its own escaped."""
    return "".join(f"\\{sign}" if sign in MARKDOWN else sign for sign in str(public_error(error)))
