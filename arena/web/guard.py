"""What a reader sees when a page cannot be shown: one sentence that says what to do."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from arena.web.markup import element, put
from arena.web.told import told
from data.errors import AccessError, ArenaError, NotFoundError

MARKDOWN = frozenset("\\`*_{}[]()<>#+-.!|$~:")


def guarded(show: Callable[[], None]) -> None:
    """Show a page, or the sentence of the error that it raised."""
    try:
        show()
    except NotFoundError as error:
        st.info(plain(error), icon=":material/search_off:")
        put(element("p", element("a", "Go to the leaderboard", href="./", target="_self")))
    except AccessError as error:
        st.info(plain(error), icon=":material/lock:")
        put(element("p", element("a", "Sign in", href="./auth/sign-in", target="_self")))
    except ArenaError as error:
        show_error(error)


def show_error(error: ArenaError) -> None:
    """Show what went wrong and what to do, as text."""
    st.error(plain(error), icon=":material/error:")


def plain(error: ArenaError) -> str:
    """The error's sentence with everything that Markdown would read as its own escaped."""
    return "".join(f"\\{sign}" if sign in MARKDOWN else sign for sign in str(told(error)))
