"""The first view of a page: what the document of its address begins with, as the page was drawn last.

Streamlit's document is empty until its script has loaded, connected and drawn the page. What a run of the
page sent to the browser of a visitor who is not signed in is kept as HTML, and covers the same address of
the next visitor until their own page is whole.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.server_util import AUTH_COOKIE_NAME

from arena.container import Arena
from arena.services.accounts.sessions import COOKIE
from arena.site.ui.drawn import Drawn
from data.errors import ArenaError

FRESH = 600.0
"""Seconds for which a view stands in for its page; less where a board or a right changes."""
MOST_CHARACTERS = 32_000_000
LONGEST_ADDRESS = 300
"""Characters; longer ones are searches that hardly anybody opens again."""
SIGNED_IN = (COOKIE, AUTH_COOKIE_NAME)
"""How the names of cookies begin that say who somebody is."""


@dataclass(frozen=True, slots=True)
class Address:
    """A page, and what its address asks for."""

    page: str
    query: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, page: str, query: Iterable[tuple[str, str]]) -> Address:
        """The address, whatever the order in which it asks."""
        return cls(page, tuple(sorted(query)))

    @property
    def is_kept(self) -> bool:
        """Whether a view of it is worth its place."""
        return len(self.page) + sum(len(name) + len(value) for name, value in self.query) <= LONGEST_ADDRESS


def is_public(cookies: Iterable[str]) -> bool:
    """Whether a browser with cookies of these names is signed in nowhere: it is shown what all are."""
    return not any(name.startswith(SIGNED_IN) for name in cookies)


@dataclass(frozen=True, slots=True)
class _Kept:
    html: str
    state: object
    until: float


class FirstViews:
    """The views of one arena; from threads of every session.

    Args:
        state_of: What the views rest on; one that was recorded in another state is not shown.
        clock: Seconds that only grow.
    """

    def __init__(self, state_of: Callable[[], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._state_of, self._clock = state_of, clock
        self._kept: OrderedDict[Address, _Kept] = OrderedDict()
        self._characters, self._one_changes = 0, threading.Lock()

    def of(self, address: Address) -> str:
        """The view of an address as HTML; empty where there is none that holds."""
        with self._one_changes:
            kept = self._kept.get(address)
            if kept is not None:
                self._kept.move_to_end(address)
        if kept is None or kept.until < self._clock() or kept.state != self._state_of():
            return ""
        return kept.html

    def keep(self, address: Address, html: str, state: object) -> None:
        """Keep the view of an address as it is in a state; those that nobody has asked for the longest go."""
        with self._one_changes:
            before = self._kept.pop(address, None)
            self._characters += len(html) - (len(before.html) if before else 0)
            self._kept[address] = _Kept(html, state, self._clock() + FRESH)
            while self._characters > MOST_CHARACTERS:
                _, gone = self._kept.popitem(last=False)
                self._characters -= len(gone.html)

    def _known_state(self) -> object:
        """The state; None where the database cannot be asked, which the page says."""
        try:
            return self._state_of()
        except ArenaError:
            return None

    @contextmanager
    def recorded(self, address: Address) -> Iterator[None]:
        """Keep what the run of a page shows meanwhile, unless it breaks off or shows an error."""
        context, state = get_script_run_ctx(), self._known_state()
        if context is None or state is None or not address.is_kept:
            yield
            return
        drawn, send = Drawn(), context.enqueue

        def take(message: ForwardMsg) -> None:
            drawn.take(message)
            send(message)

        context.enqueue = take  # type: ignore[assignment,method-assign] # nothing else shows what is sent
        try:
            yield
        finally:
            context.enqueue = send  # type: ignore[method-assign] # as it was
        if drawn.is_sound:
            self.keep(address, drawn.html(), state)


@lru_cache(maxsize=4)
def first_views(arena: Arena) -> FirstViews:
    """The views of an arena: they rest on its published boards, and on what its people have changed."""

    def state() -> object:
        changes = arena.store.audit.entries(limit=1)
        return arena.boards.heads(), arena.boards.retracted(), *(change.id for change in changes)

    return FirstViews(state)
