"""The board of a set's public votes, from every vote that was given; no judge has a part in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from arena.models.sets import VoteBoard
from data.errors import UnrankableError
from data.records import Preference
from data.records.public_votes import Poll, PollPair, Rejection
from leaderboard.battles import BattleTable
from leaderboard.people import Votes
from leaderboard.people.public_votes import FEWEST_RATED, Ballot, Count, count_ballots
from leaderboard.people.votes_files import votes_text
from leaderboard.ratings import RatingTable, rate

PSEUDONYM = 16
WINNERS = {Preference.A: "model_a", Preference.TIE: "tie", Preference.B: "model_b"}


def board_of(poll: Poll, votes: Sequence[PollPair]) -> VoteBoard:
    """The board of a poll."""
    count, kept = counted(poll, votes)
    ratings, unrankable = _rated(kept)
    rejected = Counter(vote.rejection for vote in votes)
    return VoteBoard(
        set=poll.set_name,
        open=poll.open,
        given=len(votes),
        counted=len(count.kept),
        visitors=len({vote.visitor for vote in kept}),
        rejected={reason.value: rejected[reason] for reason in Rejection},
        gold=count.gold,
        untried=count.untried,
        over_cap=count.over_cap,
        cap=count.cap,
        ratings=[] if ratings is None else [row.as_json() for row in ratings.ratings],
        unrankable=unrankable,
    )


def votes_file(poll: Poll, votes: Sequence[PollPair]) -> str:
    """The votes that count as a votes file, JSON Lines; annotators are pseudonyms."""
    _, kept = counted(poll, votes)
    return votes_text(
        Votes.from_columns(
            [vote.question for vote in kept],
            [vote.system_a for vote in kept],
            [vote.system_b for vote in kept],
            [_winner(vote) for vote in kept],
            annotator=[f"visitor-{vote.visitor[:PSEUDONYM]}" for vote in kept],
        )
    )


def counted(poll: Poll, votes: Sequence[PollPair]) -> tuple[Count, list[PollPair]]:
    """What counts of the votes given, in figures and as votes."""
    ballots = [
        Ballot(
            key=vote.token,
            visitor=vote.visitor,
            network=vote.network,
            right=vote.preference is Preference.A if vote.gold else None,
        )
        for vote in votes
        if vote.rejection is None
    ]
    count = count_ballots(ballots, salt=poll.salt)
    return count, [vote for vote in votes if vote.token in count.kept]


def _rated(kept: Sequence[PollPair]) -> tuple[RatingTable | None, str]:
    if len(kept) < FEWEST_RATED:
        return (
            None,
            f"Ratings need {FEWEST_RATED:,} votes that count; there are {len(kept):,} so far.",
        )
    table = BattleTable.from_columns(
        question_id=[vote.question for vote in kept],
        domain=[vote.domain for vote in kept],
        model_a=[vote.system_a for vote in kept],
        model_b=[vote.system_b for vote in kept],
        winner=[_winner(vote) for vote in kept],
    )
    try:
        return rate(table), ""
    except UnrankableError as error:
        return None, str(error)


def _winner(vote: PollPair) -> str:
    return WINNERS[vote.preference or Preference.TIE]
