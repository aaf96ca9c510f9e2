"""Simulate the coverage of corrected ratings and rates.

Run: python -m benchmarks.people [--repeats N] [--labelled SHARE]
The target is the figure from people's votes on every battle of the same round. Systems differ by question;
three people vote on each battle; the judge sees most of those differences and favours some systems.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from leaderboard.battles import BattleTable
from leaderboard.people.correct import MEASURES, correct, correct_rates
from leaderboard.people.votes import Vote, votes_of
from leaderboard.ratings import IntervalKind, rate

REFERENCE = "human"
PEOPLE, TIES, SPREAD = 3, 0.15, 0.7


@dataclass(frozen=True)
class Setting:
    """Parameters of a simulated round, its judge's bias and the sampling of votes."""

    systems: int
    questions: int
    bias: float = 0.5
    pairs: str = "reference"
    draw: str = "uniform"

    def __str__(self) -> str:
        return f"{self.systems} | {self.questions} | {self.bias:g} | {self.pairs} | {self.draw}"


SETTINGS = (
    Setting(4, 60),
    Setting(8, 100),
    Setting(6, 100, bias=0.0),
    Setting(6, 100, bias=1.5),
    Setting(5, 40, pairs="all"),
    Setting(8, 60, pairs="all", bias=1.5),
    Setting(6, 60, pairs="all", draw="doubt"),
)


@dataclass
class Coverage:
    """Coverage of people's own figures by 95 % intervals and the intervals' width, by figure."""

    held: dict[str, list[bool]] = field(default_factory=dict)
    width: dict[str, list[float]] = field(default_factory=dict)
    gain: list[float] = field(default_factory=list)

    def add(self, name: str, target: float | None, lower: float | None, upper: float | None) -> None:
        """Count one interval, unless it or its target is missing."""
        if target is not None and lower is not None and upper is not None:
            self.held.setdefault(name, []).append(lower <= target <= upper)
            self.width.setdefault(name, []).append(upper - lower)

    def share(self, name: str) -> float:
        """Return the share of intervals that contain the target."""
        return float(np.mean(self.held[name]))


@dataclass(frozen=True)
class Simulated:
    """Round with the judge's verdicts, people's mean shares and votes on all battles, and sampled votes."""

    plan: BattleTable
    people: BattleTable
    cast: NDArray[np.float64]
    votes: list[Vote]


def simulated(setting: Setting, seed: int, labelled: float) -> Simulated:
    """Simulate a round."""
    random = np.random.default_rng([seed, setting.systems, setting.questions])
    names = [REFERENCE, *(f"s{number}" for number in range(setting.systems))]
    pairs = np.array(
        list(combinations(range(len(names)), 2))
        if setting.pairs == "all"
        else [(0, system) for system in range(1, len(names))]
    )
    strength = np.linspace(0.6, -0.6, len(names))
    taste = setting.bias * np.resize([1.0, -1.0, 0.5, -0.5], len(names))
    suits = strength + SPREAD * random.standard_normal((setting.questions, len(names)))
    gap = np.subtract(*(suits[:, pairs[:, side]] for side in (0, 1)))
    seen = 2 * (gap + taste[pairs[:, 0]] - taste[pairs[:, 1]] + 0.3 * random.standard_normal(gap.shape))
    people = _verdicts(random, np.repeat(gap[..., None], PEOPLE, axis=2))
    judge = _verdicts(random, seen)
    doubt = np.where(judge == 0.5, 1.6, 0.8) if setting.draw == "doubt" else np.ones(gap.shape)
    chance = np.minimum(labelled * doubt / doubt.mean(), 1.0)
    has_votes = random.random(gap.shape) < chance
    question, pair = np.indices(gap.shape).reshape(2, -1)
    columns = {
        "question_id": [f"q{code}" for code in question],
        "domain": ["all"] * gap.size,
        "model_a": [names[code] for code in pairs[pair, 0]],
        "model_b": [names[code] for code in pairs[pair, 1]],
        "winner": ["tie"] * gap.size,
    }
    votes = [
        {
            "question_id": f"q{at}",
            "model_a": names[pairs[of, 0]],
            "model_b": names[pairs[of, 1]],
            "score": float(vote),
            **({"chance": float(chance[at, of])} if setting.draw == "doubt" else {}),
        }
        for at, of in np.argwhere(has_votes).tolist()
        for vote in people[at, of]
    ]
    tables = [
        BattleTable.from_columns(**columns, score=share.ravel().tolist()) for share in (judge, people.mean(2))
    ]
    return Simulated(plan=tables[0], people=tables[1], cast=people, votes=votes_of(votes))


def _verdicts(random: np.random.Generator, gap: NDArray[np.float64]) -> NDArray[np.float64]:
    """Draw 1, ½ or 0 for each difference of log-odds."""
    won = (random.random(gap.shape) < expit(gap)).astype(np.float64)
    return np.where(random.random(gap.shape) < TIES, 0.5, won)


def measured(setting: Setting, repeats: int, labelled: float = 0.2) -> Coverage:
    """Simulate rounds with a setting and measure the intervals' coverage."""
    coverage = Coverage()
    for seed in range(repeats):
        round_ = simulated(setting, seed, labelled)
        table = correct(round_.plan, round_.votes)
        target = rate(round_.people, interval=IntervalKind.SANDWICH)
        for row in table["ratings"]:
            coverage.add("rating", target.of(row["system"]).rating, row["lower"], row["upper"])
            coverage.add("judge", target.of(row["system"]).rating, row["judge_lower"], row["judge_upper"])
        coverage.gain.append(table["gain"] or 1.0)
        truth = dict(_full(round_.cast[:, : setting.systems]))
        rates = correct_rates(round_.plan, round_.votes, reference=REFERENCE, by_domain=False)
        for row in rates["rows"]:
            for measure, ends in MEASURES.items():
                bounds = (row[f"{ends}lower"], row[f"{ends}upper"])
                coverage.add(measure, truth[row["system"], measure], *bounds)
    return coverage


def _full(cast: NDArray[np.float64]) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield each system's mean score, win rate and win+tie rate against the reference from all votes."""
    for system in range(cast.shape[1]):
        share = 1 - cast[:, system]
        means = (share.mean(), (share > 0.5).mean(), (share >= 0.5).mean())
        yield from (((f"s{system}", name), float(mean)) for name, mean in zip(MEASURES, means, strict=True))


def main() -> None:
    """Print one line per setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--labelled", type=float, default=0.2)
    options = parser.parse_args()
    names = ("rating", *MEASURES, "judge")
    columns = ("systems", "questions", "bias", "pairs", "draw", *names, "gain", "width")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for setting in SETTINGS:
        coverage = measured(setting, options.repeats, options.labelled)
        shares = " | ".join(f"{100 * coverage.share(name):.1f}" for name in names)
        width = f"{np.mean(coverage.gain):.2f} | {np.mean(coverage.width['rating']):.0f}"
        print(f"| {setting} | {shares} | {width} |", flush=True)


if __name__ == "__main__":
    main()
