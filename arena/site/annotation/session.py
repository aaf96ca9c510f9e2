"""What a browser's tab knows while somebody labels: the item at hand, and what they are writing.

Everything that is said goes to the store at once; a tab that is lost loses no label.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.site.services import arena
from arena.site.ui.errors import plain
from data.errors import ArenaError, InputError
from data.records import AnnotationTask, BlindItem

SKIPPING, PASSAGES, COMMENTING, ONWARD = "skipping", "passages", "commenting", "onward"


@dataclass(frozen=True, slots=True)
class Labelling:
    """Somebody at a task in one tab."""

    task: AnnotationTask
    caller: Caller

    def key(self, name: str) -> str:
        """Where the tab keeps something."""
        return f"label-{self.task.name}-{name}"

    @property
    def item(self) -> BlindItem | None:
        """The item at hand: what the tab has, else the next one."""
        kept: BlindItem | None = st.session_state.get(self.key("item"))
        return (
            kept if kept is not None else self._show(arena().labels.next(self.task.name, caller=self.caller))
        )

    @property
    def comment(self) -> str:
        """What they wrote of the item at hand."""
        return str(st.session_state.get(self.key("comment"), ""))

    def is_open(self, part: str) -> bool:
        """Whether a part of the page is unfolded; going on after each label is the usual way."""
        return bool(st.session_state.get(self.key(part), part == ONWARD))

    def fold(self, part: str) -> None:
        """Fold a part of the page, or unfold it."""
        st.session_state[self.key(part)] = not self.is_open(part)

    def choose(self, value: int) -> None:
        """Label the pair at hand."""
        self.submit(value)

    def submit(self, value: int = 0, text: str = "") -> tuple[str, ...] | None:
        """Label the item at hand, and go on where that is wished for; after a text always.

        Returns:
            Short answers that the words of a text do not hold; None where it was refused.
        """
        item, left_out = self.item, list[str]()
        if item is None:
            return None

        def keep() -> None:
            kept = arena().labels.label(
                self.task.name, item.id, value, text=text, comment=self.comment, caller=self.caller
            )
            left_out.extend(kept)
            given = replace(item, value=value, comment=self.comment, skip_reason=None)
            self._show(None if text else given)

        if not self._try(keep):
            return None
        if self.is_open(ONWARD) and not text:
            self.onward()
        return tuple(left_out)

    def keep_comment(self) -> None:
        """Keep what they wrote; with a label that is there already in the store too."""
        item = self.item
        if item is not None and item.value is not None and self.comment != item.comment:
            value = item.value
            self._try(
                lambda: arena().labels.label(
                    self.task.name, item.id, value, comment=self.comment, caller=self.caller
                )
            )

    def skip(self, reason: str) -> None:
        """Leave the item at hand to others."""
        item = self.item
        if item is not None and self._try(
            lambda: arena().labels.skip(self.task.name, item.id, reason, caller=self.caller)
        ):
            st.session_state[self.key(SKIPPING)] = False
            self._show(replace(item, value=None, skip_reason=reason))
            self.onward()

    def onward(self) -> None:
        """Go to the item after the one at hand, or to a new one."""
        self._step(1)

    def back(self) -> None:
        """Go to the item before the one at hand."""
        self._step(-1)

    def leave(self) -> None:
        """Delete everything they said in the task."""
        if self._try(lambda: arena().labels.withdraw(self.task.name, caller=self.caller)):
            self._show(None)

    def _step(self, by: int) -> None:
        def go() -> None:
            item = self.item
            numbers = arena().labels.progress(self.task.name, caller=self.caller).labels
            # After the last item there is none at hand, and the one before is the last.
            place = (numbers.index(item.id) if item is not None else len(numbers)) + by
            if place >= len(numbers):
                if item is not None and item.value is None and item.skip_reason is None:
                    st.session_state[self.key("error")] = "Label this one first, or skip it."
                    return
                self._show(None)
            elif place >= 0:
                self._show(arena().labels.item(self.task.name, numbers[place], caller=self.caller))

        self._try(go)

    def _try(self, do: Callable[[], object]) -> bool:
        try:
            do()
        except ArenaError as error:
            st.session_state[self.key("error")] = plain(error)
            # What went to others is no longer there to be labelled; what was written badly is.
            if not isinstance(error, InputError):
                st.session_state.pop(self.key("item"), None)
            return False
        return True

    def _show(self, item: BlindItem | None) -> BlindItem | None:
        st.session_state[self.key("item")] = item
        st.session_state[self.key("comment")] = "" if item is None else item.comment
        if item is not None:
            st.session_state[self.key(SKIPPING)] = False
        return item

    def error(self) -> str:
        """What went wrong last, once."""
        return str(st.session_state.pop(self.key("error"), ""))
