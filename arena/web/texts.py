"""What the words on the pages mean, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

DEFINITIONS: Mapping[str, str] = MappingProxyType(
    {
        "Rank": "Best and worst place that the battles leave open, for all systems at once with 95 % "
        "confidence. Systems with the same letter are not separated by the battles.",
        "System": "A system that answered the questions. Its name leads to its page.",
        "Rating": "Bradley-Terry strength on the Elo scale: 400 points more mean ten times the odds to win "
        "a battle. Below it the 95 % interval.",
        "Interval": "The value (dot) and its 95 % interval (bar), on one scale for all rows.",
        "Win": "Share of its battles that the system won, in per cent.",
        "Win + tie": "Share of its battles that the system won or tied, in per cent.",
        "Comprehensive": "Comprehensiveness: mean share of the yardstick's statements that its answers cover.",
        "No answer": "Share of questions to which it replied that it could not find an answer.",
        "Words": "Median length of its answers in words.",
        "Battles": "Judged battles behind the rates and the rating.",
    }
)

FLAGS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "never_wins": ("never wins", "Not even a tie: its rating has no lower end, so none is given."),
        "never_loses": ("never loses", "Not even a tie against it: its rating has no upper end, so none is given."),
        "unbounded": ("no rating", "Its wins and losses never lead back to the rated systems."),
        "separate": ("separate", "Rated within its own group of systems, not comparable with the others."),
        "prior": ("by prior", "Finite only thanks to the prior that was asked for."),
        "anchor": ("anchor", "Its rating is fixed by definition; the others are measured from it."),
        "no_interval": ("no interval", "Too few questions or battles to say how sure the rating is."),
        "borrowed": ("overall rating", "No battle in this domain; the overall rating stands in."),
        "partial": ("partial", "It answered only part of the questions."),
    }
)
