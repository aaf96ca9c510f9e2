"""Help texts of words on pages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

FLAGS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "never_wins": ("never wins", "Not even a tie: its rating has no lower end, so none is given."),
        "never_loses": (
            "never loses",
            "Not even a tie against it: its rating has no upper end, so none is given.",
        ),
        "unbounded": ("no rating", "Its wins and losses never lead back to the rated systems."),
        "separate": (
            "separate",
            "Its rating is measured within its own group of systems; only places compare with others.",
        ),
        "anchor": ("anchor", "Its rating is fixed by definition; the others are measured from it."),
        "no_interval": ("no interval", "Too few questions or battles to say how sure the rating is."),
        "few_questions": ("few questions", "Fewer than twelve questions carry the rating: a t interval."),
        "borrowed": ("overall rating", "No battle in this domain; the overall rating is shown instead."),
        "partial": ("partial", "It answered only part of the questions."),
    }
)

CITATION = """@misc{{{view.name}-{year},
  title = {{{view.title}}},
  howpublished = {{Answer Arena, board {view.name}}},
  url = {{{address}/?board={view.name}}},
  note = {{content sha256 {view.content_hash}}},
  year = {{{year}}}
}}"""

SET_CITATION = """@misc{{{set.name}-{set.version},
  title = {{{set.title}}},
  howpublished = {{{set.source}}},
  note = {{Version {set.version}, licence {set.licence}, content sha256 {set.content_hash}}}
}}"""
