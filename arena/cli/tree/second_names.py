"""Verbs of the command contract that are an option of another command, and the verb `list`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MOVED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "metrics context": ("analyse", "context"),
        "metrics coverage": ("analyse", "coverage"),
        "metrics export": ("show",),
        "metrics marginals": ("analyse", "marginals"),
        "metrics plan": ("run", "--plan"),
        "labels close": ("open", "--close"),
        "rounds retract": ("publish", "--retract"),
        "rounds retry": ("resume", "--failed"),
        "sets attach-passages": ("attach",),
        "sets short-answers": ("export", "--format", "short-answers"),
        "sets statistics": ("show", "--statistics"),
    }
)
"""Verbs that are an option of another command, with its words; docs/design.md lists them."""
LISTS: Mapping[str, str] = MappingProxyType({"rounds": "status"})
"""Command that lists a noun, where it is not `show`; `list` runs it without a name."""
