"""What people would say, from a judge's verdicts on every battle and votes of people on some."""

from leaderboard.people.correct import correct
from leaderboard.people.rates import correct_rates
from leaderboard.people.result import (
    CorrectedRate,
    CorrectedRateTable,
    CorrectedRating,
    CorrectedTable,
    Estimated,
    Evidence,
)
from leaderboard.people.votes import Votes
from leaderboard.people.votes_files import read_votes
from leaderboard.vocabulary import VoteRule

__all__ = [
    "CorrectedRate",
    "CorrectedRateTable",
    "CorrectedRating",
    "CorrectedTable",
    "Estimated",
    "Evidence",
    "VoteRule",
    "Votes",
    "correct",
    "correct_rates",
    "read_votes",
]
