"""Grey bars below what is drawn so far, while a page is opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from arena.web.markup import as_html, element

OPENED = "opened-page"
BARS = 6


@contextmanager
def skeleton(page: str) -> Iterator[None]:
    """Show bars until the page is whole; only where it is opened, not where something on it is chosen.

    They stand below everything else, so nothing moves when they go. A page that is quick is whole before the
    style sheet lets them be seen.
    """
    body, below = st.container(), st.empty()
    if st.session_state.get(OPENED) != page:
        st.session_state[OPENED] = page
        below.html(_bars())
    try:
        with body:
            yield
    finally:
        below.empty()


def _bars() -> str:
    words = element("span", "Loading this page", class_="aa-unseen")
    return as_html(
        element("div", words, *(element("i") for _ in range(BARS)), role="status", class_="aa-bones")
    )
