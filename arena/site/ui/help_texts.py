"""What the words on the pages mean."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

PAGES: Mapping[str, str] = MappingProxyType(
    {
        "": "Leaderboard",
        "compare": "Compare",
        "matrix": "Head to head",
        "questions": "Questions",
        "retrieval": "Retrieval",
        "rounds": "Rounds",
        "methodology": "Methodology",
        "data": "Data",
        "about": "About",
        "submit": "Submit",
        "team": "My team",
        "system": "System",
        "question": "Question",
        "report": "Report",
        "trust": "Judge trust",
        "register": "Register a team",
        "admin": "Overview",
        "admin-inbox": "Overview",
        "admin-data": "Organise sets",
        "admin-rounds": "Organise rounds",
        "admin-calibration": "Calibration",
        "annotate": "Label answers",
        "references": "References",
        "admin-annotation": "Label tasks",
        "admin-people": "People",
        "admin-notifications": "Notifications",
        "admin-audit": "Audit log",
    }
)
"""Addresses of the pages, and what they are called in the navigation and in a browser's tab."""

DEFINITIONS: Mapping[str, str] = MappingProxyType(
    {
        "Rank": "Best and worst place that the battles leave open, for all systems at once with 95 % "
        "confidence. Two systems share a letter exactly where the battles do not separate them, by tests of "
        "all paired differences at once; a system may have several letters. Under a stronger rule stand "
        "systems that are separated from all above it. The reference is a line and takes no rank, unless it "
        "is shown as a row; in files and the API it has one.",
        "System": "A system that answered the questions. Its name leads to its page.",
        "Rating": "Bradley-Terry strength on the Elo scale: 400 points more mean ten times the odds to win "
        "a battle. Below it the 95 % interval.",
        "Interval": "The value (dot) and its 95 % interval (bar), on one scale for all rows. The dashed line "
        "is the reference, or half of all battles where there are no ratings.",
        "Win": "Share of its battles that the system won, in per cent. Where there is a reference, only the "
        "battles against it count, and its own row has a dash.",
        "Win + tie": "Share of its battles that the system won or tied, in per cent: at 50 % it loses "
        "half of them. The battles are those of Win.",
        "Comprehensive": "Mean share of the yardstick's statements that its answers cover, in per cent.",
        "Domains": "Win + tie rate in each domain as a small bar, in the order of the domains above; point "
        "at it for the figures. The charts by domain have the ratings.",
        "Aspects": "Mean share of a question's aspects that its grounded claims address, in per cent.",
        "Sub-questions": "Mean share of a question's answerable sub-questions that it answers, in per cent.",
        "Context": "Mean share of the sub-questions that its retrieved passages answer, in per cent.",
        "Citations": "Mean of citation precision and recall (F1) over its answers, in per cent; an answer "
        "that cites nothing counts 0, and a dash stands where none of its answers cites.",
        "Nuggets": "Mean share of a question's nuggets that it states, in per cent; okay ones and partial "
        "support count half.",
        "Attempts": "How many versions of the system were judged so far.",
        "Factual": "Mean share of its claims that the passages support, as an LLM read them, in per cent.",
        "No answer": "Share of its answers that say that none was found, in per cent.",
        "Words": "Median length of its answers in words.",
        "Organisation": "Who runs it, as its team says.",
        "Licence": "Of the system, as its team says.",
        "Released": "When it was released, as its team says.",
        "Weights": "Whether its weights are open, as its team says.",
        "Parameters": "How many there are in all, as its team says.",
        "Tokens": "Mean tokens per answer, as its answers report; below it of how many, where not of all.",
        "USD": "Mean price of an answer in US dollars, as its answers report.",
        "ms": "Mean time an answer took in milliseconds, as its answers report.",
        "Battles": "Judged battles behind the rating. Where there is a reference, the rates count "
        "the battles against it alone: that number is below.",
    }
)

FLAGS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "never_wins": ("never wins", "Not even a tie: its rating has no lower end, so none is given."),
        "never_loses": (
            "never loses",
            "Not even a tie against it: its rating has no upper end, so none is given.",
        ),
        "unbounded": ("no rating", "Its wins and losses never lead back to the rated systems."),
        "separate": ("separate", "Rated within its own group of systems, not comparable with the others."),
        "prior": ("by prior", "Finite only thanks to the prior that was asked for."),
        "anchor": ("anchor", "Its rating is fixed by definition; the others are measured from it."),
        "no_interval": ("no interval", "Too few questions or battles to say how sure the rating is."),
        "borrowed": ("overall rating", "No battle in this domain; the overall rating is shown instead."),
        "partial": ("partial", "It answered only part of the questions."),
    }
)

COMMANDS = """arena leaderboard show {board} --json
arena leaderboard export {board} {board}.csv
arena rounds export {board} {board}/"""

CITATION = """@misc{{{view.name}-{year},
  title = {{{view.title}}},
  howpublished = {{Answer Arena, board {view.name}}},
  url = {{{address}/s/{view.content_hash}}},
  note = {{content sha256 {view.content_hash}}},
  year = {{{year}}}
}}"""

SET_CITATION = """@misc{{{set.name}-{set.version},
  title = {{{set.title}}},
  howpublished = {{{set.source}}},
  note = {{Version {set.version}, licence {set.licence}, content sha256 {set.content_hash}}}
}}"""
