"""Second names of commands: one word for each noun's list, one for each option that reads as a verb."""

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
        "sets short-answers": ("export", "--format", "short-answers"),
        "sets statistics": ("show", "--statistics"),
    }
)
"""Commands that are an option of another command, with its words."""
LISTS: Mapping[str, str] = MappingProxyType({"rounds": "status"})
"""What lists the things of a noun where that is not `show`; `list` is the same without a name."""
