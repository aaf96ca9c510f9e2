"""How far forged public votes move the ratings by visitors' votes, over polls and floods.

Run: python -m benchmarks.flood [--repeats N]

Honest visitors come from a network each and give five votes beside a gold pair. The flood is right on gold,
has as many visitors as it likes, and prefers one system wherever it meets it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from leaderboard.battles import BattleTable
from leaderboard.people.public_votes import Ballot, count_ballots
from leaderboard.ratings import RatingTable, rate

SYSTEMS = tuple(f"s{number}" for number in range(6))
QUESTIONS = 100
EACH = 5
FLOOD = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A vote with what a rating needs of it."""

    ballot: Ballot
    question: str
    a: str
    b: str
    winner: str


def given_votes(random: np.random.Generator, people: int, networks: int, forged: str) -> Iterator[Given]:
    """Votes of some people from some networks; `forged` is the system that all of them prefer, or empty."""
    worth = dict(zip(SYSTEMS, np.linspace(0.75, -0.75, len(SYSTEMS)), strict=True))
    kind = "flood" if forged else "honest"
    for person in range(people):
        visitor, network = f"{kind}{person}", f"{kind} net {person % networks}"
        for place in range(EACH + 1):
            a, b = (str(name) for name in random.choice(SYSTEMS, 2, replace=False))
            wins = random.random() < 1 / (1 + np.exp(worth[b] - worth[a]))
            if forged in {a, b}:
                wins = a == forged
            right = True if place == EACH else None
            yield Given(
                ballot=Ballot(key=f"{visitor} {place}", visitor=visitor, network=network, right=right),
                question=f"q{random.integers(QUESTIONS)}",
                a=a,
                b=b,
                winner="model_a" if wins else "model_b",
            )


def rated(votes: list[Given]) -> tuple[RatingTable, int]:
    """Ratings by the votes that count, and how many count."""
    kept = count_ballots([one.ballot for one in votes], salt="bench").kept
    rows = [one for one in votes if one.ballot.key in kept]
    table = BattleTable.from_columns(
        question_id=[one.question for one in rows],
        domain=["all"] * len(rows),
        model_a=[one.a for one in rows],
        model_b=[one.b for one in rows],
        winner=[one.winner for one in rows],
    )
    return rate(table), len(rows)


def moved(random: np.random.Generator, honest: int, networks: int) -> tuple[float, float, int]:
    """Points by which a flood moves a rating at most, the half-width of an interval, and votes that count."""
    votes = list(given_votes(random, honest, honest, ""))
    before, count = rated(votes)
    target = SYSTEMS[int(random.integers(len(SYSTEMS)))]
    after, _ = rated(votes + list(given_votes(random, FLOOD // EACH, networks, target)))
    shifts = [abs((row.rating or 0) - (before.of(row.system).rating or 0)) for row in after.ratings]
    widths = [(row.upper - row.lower) / 2 for row in before.ratings if row.upper and row.lower]
    return max(shifts), float(np.mean(widths)), count


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    print("| honest visitors | networks of the flood | votes that count | moved: mean | most | half-width |")
    print("|---|---|---|---|---|---|")
    for honest in (300, 600, 1000, 2000):
        for networks in (1, 3, 10):
            found = [moved(random, honest, networks) for _ in range(options.repeats)]
            shifts = [one[0] for one in found]
            print(
                f"| {honest:,} | {networks} | {found[0][2]:,} | {np.mean(shifts):.1f} | {max(shifts):.1f} "
                f"| {np.mean([one[1] for one in found]):.0f} |"
            )


if __name__ == "__main__":
    main()
