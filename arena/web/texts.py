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
        "never_loses": (
            "never loses",
            "Not even a tie against it: its rating has no upper end, so none is given.",
        ),
        "unbounded": ("no rating", "Its wins and losses never lead back to the rated systems."),
        "separate": ("separate", "Rated within its own group of systems, not comparable with the others."),
        "prior": ("by prior", "Finite only thanks to the prior that was asked for."),
        "anchor": ("anchor", "Its rating is fixed by definition; the others are measured from it."),
        "no_interval": ("no interval", "Too few questions or battles to say how sure the rating is."),
        "borrowed": ("overall rating", "No battle in this domain; the overall rating stands in."),
        "partial": ("partial", "It answered only part of the questions."),
    }
)

STANDINGS_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "domain, system": "The domain's id (overall: all together) and the system's name",
        "rank_lower, rank_upper": "Best and worst rank that the battles leave open (95 %, all systems at once)",
        "tie_group": "1 for the leader and all whom the battles do not separate from it, then 2, …",
        "rating, rating_lower, rating_upper": "Points on the Elo scale and the 95 % interval",
        "win_rate, win_lower, win_upper": "Share of battles won, 0–1, and its 95 % interval",
        "win_tie_rate, win_tie_lower, win_tie_upper": "Share of battles won or tied, 0–1, and its interval",
        "comprehensiveness": "Mean share of the yardstick's statements covered, 0–1",
        "no_answer_share": "Share of answers that say that none was found, 0–1",
        "median_words": "Median length of the answers in words",
        "battles, questions": "How many judged battles, on how many questions",
        "flags": "What a reader must know of a rating, such as never_wins",
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
  note = {{content sha256 {view.content_hash}}},
  year = {{{year}}}
}}"""
