"""Commands and options of before, and what stands in their place: for one version they say so."""

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
        "rounds retry": ("resume", "--failed"),
        "rounds table": ("status",),
        "sets short-answers": ("export", "--format", "short-answers"),
        "sets statistics": ("show", "--statistics"),
    }
)
"""Commands that are an option of another now, with its words: they run, and say what they are."""
LISTS: Mapping[str, str] = MappingProxyType({"rounds": "status"})
"""What lists the things of a noun where that is not `show`; `list` is the same without a name."""
REMOVED: Mapping[str, str] = MappingProxyType(
    {
        "battles cycles": "Use `arena battles rate`, or count the cycles of an exported file.",
        "rounds notice": 'Use `arena rounds publish ROUND --notice "TEXT"`; an empty text takes it off.',
        "submissions template": "Use `arena sets export SET FILE --format template`, or `sample`.",
        "teams account": "Use `arena teams accounts ACCOUNT` with --email, --subject or --organiser.",
        "teams member": "Use `arena teams members TEAM ACCOUNT`, also with --role or --remove.",
    }
)
"""Commands that are gone, with what to use instead."""
REMOVED_OPTIONS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        command: MappingProxyType({"--controls": "A round judges its battles once."})
        for command in ("rounds plan", "rounds run")
    }
)
"""For each command the options that are gone, with what to use instead."""
