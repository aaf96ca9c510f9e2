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
        "submit": "Submit",
        "team": "My team",
        "system": "System",
        "question": "Question",
        "report": "Report",
        "trust": "Judge trust",
        "admin-data": "Organise sets",
        "admin-rounds": "Organise rounds",
        "admin-calibration": "Calibration",
        "annotate": "Label answers",
        "references": "References",
        "admin-annotation": "Label tasks",
        "admin-people": "People",
        "admin-audit": "Audit log",
    }
)
"""Addresses of the pages, and what they are called in the navigation and in a browser's tab."""

DEFINITIONS: Mapping[str, str] = MappingProxyType(
    {
        "Rank": "Best and worst place that the battles leave open, for all systems at once with 95 % "
        "confidence. Two systems share a letter exactly where the battles do not separate them, by tests of "
        "all paired differences at once; a system may have several letters. Under a stronger rule stand "
        "systems that are separated from all above it.",
        "System": "A system that answered the questions. Its name leads to its page.",
        "Rating": "Bradley-Terry strength on the Elo scale: 400 points more mean ten times the odds to win "
        "a battle. Below it the 95 % interval.",
        "Interval": "The value (dot) and its 95 % interval (bar), on one scale for all rows.",
        "Win": "Share of its battles that the system won, in per cent. Where there is a reference, only the "
        "battles against it count, and its own row has a dash.",
        "Win + tie": "Share of its battles that the system won or tied, in per cent: at 50 % it loses "
        "half of them. The battles are those of Win.",
        "Comprehensive": "Mean share of the yardstick's statements that its answers cover, in per cent.",
        "Domains": "Win + tie rate in each domain as a small bar, in the order of the domains above; point "
        "at it for the figures. The heat map below has them all.",
        "Aspects": "Mean share of a question's aspects that its grounded claims address, in per cent.",
        "Sub-questions": "Mean share of a question's answerable sub-questions that it answers, in per cent.",
        "Context": "Mean share of the sub-questions that its retrieved passages answer, in per cent.",
        "Attempts": "How many versions of the system were judged so far.",
        "Factual": "Mean share of its claims that the passages support, as an LLM read them, in per cent.",
        "No answer": "Share of its answers that say that none was found, in per cent.",
        "Words": "Median length of its answers in words.",
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

STANDINGS_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "domain, system": "The domain's id (overall: all together) and the system's name",
        "rating, se, lower, upper": "Points on the Elo scale, standard error, 95 % interval; empty if none",
        "rank, rank_lower, rank_upper": "Rank, and the best and worst that the battles leave open (95 %)",
        "tie_group": "1 for the leader and all whom the battles do not separate from it, then 2, …",
        "letters": "Two systems of a component share a letter exactly where the battles do not separate them",
        "component, flags": "Group of comparable systems, and what a reader must know, such as never_wins",
        "battles, wins, ties, losses": "Counts of judged battles, against the reference where there is one; "
        "empty in the reference's own row, and so are the rates",
        "questions": "On how many questions",
        "win_rate, win_lower, win_upper": "Share of battles won, 0–1, and its 95 % interval",
        "win_tie_rate, win_tie_lower, win_tie_upper": "Share of battles won or tied, 0–1, and its interval",
        "mean_score, standard_error": "Mean share of the win, a tie being a half, and its standard error",
        "answers, no_answer_share": "Answers, and the share that says that none was found, 0–1",
        "median_words": "Median length of the answers in words",
        "comprehensiveness…": "Mean share of the yardstick's statements covered, 0–1, with its bounds",
    }
)

BATTLE_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "question_id, domain": "Which question, in which domain",
        "model_a, model_b": "The two systems; the reference takes part under its own name",
        "winner": "model_a, model_b or tie; battles without a verdict are left out and counted on the board",
        "score": "Share of the win that model_a gets, 0–1, where the judge gives degrees",
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
