"""What people would say of a board, as its snapshot keeps it (read by `leaderboard.standings.corrected`)."""

from __future__ import annotations

from typing import Any

from leaderboard.battles import BattleTable
from leaderboard.people.correct import correct
from leaderboard.people.rates import correct_rates
from leaderboard.people.votes import Votes
from leaderboard.vocabulary import VoteRule


def corrected_section(
    plan: BattleTable,
    votes: Votes,
    *,
    source: tuple[str, str],
    left_out: int,
    rule: VoteRule,
    reference: str | None,
    seed: int,
) -> dict[str, Any]:
    """Ratings and rates of a board as people would give them.

    Args:
        plan: The judge's verdict on every judged battle.
        votes: Votes of people on some of them.
        source: What the votes are from (`task` or `file`), and its name.
        left_out: How many votes were on no judged battle.
        rule: What several votes on a battle come to.
        reference: The opponent of the rates; as on the board, none where no battle names it.
        seed: Of the round.

    Returns:
        The object of `battles rate --people --json`, with `rates`, the rows of `battles winrates --people`,
        `source` and `votes_left_out`. No name of a voter is in it.

    Raises:
        InputError: There are no votes.
        RecordError: A vote is on no planned battle; the message names its line.
        UnrankableError: The votes compare no two systems.
    """
    table = correct(plan, votes, rule=rule, seed=seed)
    opponent = reference if reference in plan.systems else None
    rates = correct_rates(plan, votes, rule=rule, reference=opponent, seed=seed)
    return {
        "source": {"kind": source[0], "name": source[1]},
        **table.as_json(),
        "votes_left_out": left_out,
        "rates": [row.as_json() for row in rates.rows],
    }
