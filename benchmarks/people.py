"""Whether corrected boards hold what people would say, in simulation and on a study, and how fast.

Run: python -m benchmarks.people [simulation|study|speed …] [--repeats N] [--study pairs.jsonl]

The simulation asks for the ratings of the population that questions and people are drawn from. The study asks
for the rating that all of its votes give, when 10 or 20 % of the pairs have votes. Speed is that of 250,000
battles of 23 systems with 2,000 votes, beside that of rating the same battles without votes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from leaderboard.battles import BattleTable
from leaderboard.people import CorrectedTable, Votes, correct
from leaderboard.people.pairing import Pairing, climb
from leaderboard.ratings import IntervalKind, RatingTable, rate
from leaderboard.ratings.vocabulary import POINTS

Floats = NDArray[np.float64]
STUDY = Path(__file__).parents[1] / "../shared/data/crowd_rag/pairs.jsonl"
ASKED = (
    "quality_overall",
    "coverage_broad",
    "coverage_deep",
    "correctness_topical",
    "coherence_logical",
    "consistency_internal",
)
SHARE_OF = {"a": 1.0, "b": 0.0, "n": 0.5}
BIASES: Mapping[str, float] = {"none": 0.0, "moderate": 0.5, "strong": 1.5}
SPREAD, PAIR_SPREAD, PEOPLE = 0.5, 0.5, 3


@dataclass(frozen=True)
class Setting:
    """A simulated round: who judges it, how much of it people see, and how battles are drawn for them."""

    bias: str
    labelled: float
    draw: str
    systems: int
    questions: int


SIZES = ((0.05, 6, 67), (0.1, 6, 34), (0.4, 6, 34), (0.05, 10, 100), (0.1, 10, 100), (0.4, 10, 40))
SETTINGS = [
    Setting(bias, labelled, draw, systems, questions)
    for (labelled, systems, questions), bias, draw in product(SIZES, BIASES, ("uniform", "doubt"))
]


@dataclass
class Tally:
    """How often intervals and rank sets held, over repeats."""

    held: list[bool] = field(default_factory=list)
    alone: list[bool] = field(default_factory=list)
    judge: list[bool] = field(default_factory=list)
    ranks: list[bool] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    unrated: int = 0

    def add(self, table: CorrectedTable, truth: Mapping[str, float]) -> None:
        """Compare a table with the truth."""
        order = sorted(truth, key=lambda name: -truth[name])
        self.labels.append(table.evidence.labelled_battles)
        self.gains.append(table.evidence.gain or 1.0)
        self.ranks.append(
            all(row.rank_lower <= order.index(row.system) + 1 <= row.rank_upper for row in table.ratings)
        )
        for row in table.ratings:
            wanted = truth[row.system]
            if row.judge.lower is not None and row.judge.upper is not None:
                self.judge.append(row.judge.lower <= wanted <= row.judge.upper)
            value, lower, upper = row.corrected.value, row.corrected.lower, row.corrected.upper
            if value is None or lower is None or upper is None:
                self.unrated += 1
                continue
            self.held.append(lower <= wanted <= upper)
            self.widths.append(upper - lower)
            self.errors.append(abs(value - wanted))
            if row.people.lower is not None and row.people.upper is not None:
                self.alone.append(row.people.lower <= wanted <= row.people.upper)

    def cells(self) -> str:
        """Labels, the four coverages, gain, width, error and systems without a rating, as table cells."""
        shares = [f"{100 * np.mean(x):.1f}" for x in (self.held, self.alone, self.judge, self.ranks)]
        numbers = f"{np.mean(self.gains):.2f} | {np.mean(self.widths):.0f} | {np.mean(self.errors):.0f}"
        return f"{np.mean(self.labels):.0f} | {' | '.join(shares)} | {numbers} | {self.unrated}"


COLUMNS = "labelled | corrected | votes alone | judge | rank sets | gain | width | error | unrated"


def simulation(options: argparse.Namespace) -> None:
    """Coverage of the population's ratings, for each setting."""
    print(f"| bias | systems | share | draw | {COLUMNS} |")
    print("|" + "---|" * 13)
    every = Tally()
    for setting in SETTINGS:
        tally, truth = Tally(), _truth(setting.systems)
        for repeat in range(options.repeats):
            plan, votes = _simulated(setting, np.random.default_rng([options.seed, repeat]))
            table = correct(plan, votes, interval=options.interval, bootstrap=400)
            tally.add(table, truth)
            every.add(table, truth)
        words = f"{setting.bias} | {setting.systems} | {setting.labelled:.0%} | {setting.draw}"
        print(f"| {words} | {tally.cells()} |", flush=True)
    print(f"| all | | | | {every.cells()} |")


def _pairs(systems: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    low, high = np.triu_indices(systems, 1)
    return low.astype(np.int64), high.astype(np.int64)


def _strength(systems: int) -> Floats:
    return np.linspace(-0.6, 0.6, systems)


def _truth(systems: int) -> dict[str, float]:
    """Bradley-Terry ratings of the population's mean vote shares, by quadrature."""
    low, high = _pairs(systems)
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    spread = np.sqrt(2 * SPREAD**2 + PAIR_SPREAD**2)
    gap = (_strength(systems)[low] - _strength(systems)[high])[:, None] + spread * nodes
    share = expit(gap) @ (weights / weights.sum())
    theta = climb(Pairing(low=low, high=high, systems=systems), share, np.ones(len(low)))
    assert theta is not None
    return {f"s{code}": 1000 + POINTS * float(value) for code, value in enumerate(theta)}


def _simulated(setting: Setting, random: np.random.Generator) -> tuple[BattleTable, Votes]:
    """A round in which systems suit questions more or less, and the judge sees some of that."""
    low, high = _pairs(setting.systems)
    shape = (setting.questions, len(low))
    suits = SPREAD * random.standard_normal((setting.questions, setting.systems))
    luck = PAIR_SPREAD * random.standard_normal(shape)
    fit = suits[:, low] - suits[:, high] + luck
    strength = _strength(setting.systems)
    biased = strength + BIASES[setting.bias] * np.resize([1, -1, 0.5, -0.5], setting.systems)
    people = random.binomial(PEOPLE, expit(strength[low] - strength[high] + fit)) / PEOPLE
    judged = expit(2 * (biased[low] - biased[high] + 0.8 * fit + 0.3 * random.standard_normal(shape)))
    verdict = (random.random(shape) < judged).astype(float) / 2 + (random.random(shape) < judged) / 2
    doubt = np.where(verdict == 0.5, 1.25, 0.55) if setting.draw == "doubt" else np.ones(shape)
    chance = np.minimum(setting.labelled * doubt / doubt.mean(), 1.0)
    question, pair = np.indices(shape).reshape(2, -1)
    drawn = np.flatnonzero((random.random(shape) < chance).reshape(-1))
    plan = _plan(question, low[pair], high[pair], verdict.reshape(-1), setting.systems)
    votes = Votes.from_columns(
        [f"q{code}" for code in question[drawn]],
        [f"s{code}" for code in low[pair[drawn]]],
        [f"s{code}" for code in high[pair[drawn]]],
        score=people.reshape(-1)[drawn].tolist(),
        sampling_prob=chance.reshape(-1)[drawn].tolist() if setting.draw == "doubt" else None,
    )
    return plan, votes


def _plan(
    question: NDArray[np.int64], a: NDArray[np.int64], b: NDArray[np.int64], share: Floats, systems: int
) -> BattleTable:
    return BattleTable(
        systems=tuple(f"s{code}" for code in range(systems)),
        questions=tuple(f"q{code}" for code in range(int(question.max()) + 1)),
        domains=("",),
        a=a.astype(np.int32),
        b=b.astype(np.int32),
        winner=np.full(len(a), 2, dtype=np.int8),
        question=question.astype(np.int32),
        domain=np.zeros(len(a), dtype=np.int32),
        score=share,
    )


@dataclass(frozen=True)
class Pair:
    """A pair of the study: the judge's mean share in both orders, and people's votes, for the first."""

    topic: str
    first: str
    second: str
    judge: float
    votes: Sequence[float]


def study(options: argparse.Namespace) -> None:
    """How often intervals hold the rating by all votes, when a part of the pairs has votes.

    The study has several pairs of answers for a topic and two systems: each is a battle of its own (the
    topic's first, second, … pair of these systems is on its first, second, … question).
    """
    print(f"| question | rule | share | {COLUMNS} |")
    print("|" + "---|" * 12)
    totals = {share: Tally() for share in (0.1, 0.2)}
    for asked in ASKED:
        pairs = list(_study_pairs(options.study, asked))
        plan = _study_plan(pairs)
        truth = {row.system: row.rating or 0.0 for row in _rated(pairs).ratings}
        for share, total in totals.items():
            tally = Tally()
            for repeat in range(options.repeats):
                random = np.random.default_rng([options.seed, repeat])
                chosen = random.choice(len(pairs), round(share * len(pairs)), replace=False)
                table = correct(plan, _study_votes(pairs, chosen.tolist()), interval=options.interval)
                tally.add(table, truth)
                total.add(table, truth)
            print(f"| {asked} | mean | {share:.0%} | {tally.cells()} |", flush=True)
    for share, total in totals.items():
        print(f"| all | mean | {share:.0%} | {total.cells()} |")


def _study_pairs(path: Path, asked: str) -> Iterator[Pair]:
    """Pairs on which the judge decided in both orders."""
    seen: Counter[tuple[str, ...]] = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        sides = [row["llm_combined"][order] for order in ("a_first", "b_first")]
        verdicts = [side and side[asked] for side in sides]
        if None in verdicts:
            continue
        key = (row["question_id"], *sorted((row["model_a"], row["model_b"])))
        seen[key] += 1
        yield Pair(
            topic=f"{row['question_id']}/{seen[key]}",
            first=row["model_a"],
            second=row["model_b"],
            judge=float(np.mean([SHARE_OF[verdict] for verdict in verdicts])),
            votes=[SHARE_OF[vote] for vote in row["people"][asked]],
        )


def _columns(pairs: Sequence[Pair], share: Callable[[Pair], float]) -> BattleTable:
    return BattleTable.from_columns(
        [pair.topic for pair in pairs],
        ["all"] * len(pairs),
        [pair.first for pair in pairs],
        [pair.second for pair in pairs],
        ["tie"] * len(pairs),
        [share(pair) for pair in pairs],
    )


def _study_plan(pairs: Sequence[Pair]) -> BattleTable:
    return _columns(pairs, lambda pair: pair.judge)


def _rated(pairs: Sequence[Pair]) -> RatingTable:
    table = _columns(pairs, lambda pair: float(np.mean(pair.votes)))
    return rate(table, interval=IntervalKind.SANDWICH)


def _study_votes(pairs: Sequence[Pair], chosen: Sequence[int]) -> Votes:
    cast = [(pairs[index], vote) for index in chosen for vote in pairs[index].votes]
    return Votes.from_columns(
        [pair.topic for pair, _ in cast],
        [pair.first for pair, _ in cast],
        [pair.second for pair, _ in cast],
        score=[vote for _, vote in cast],
    )


def speed(options: argparse.Namespace) -> None:
    """Seconds of a correction, and how many times those of rating the same battles without votes."""
    systems, questions = 23, 988
    random = np.random.default_rng(options.seed)
    pair = np.array(list(combinations(range(systems), 2)))
    question = np.repeat(np.arange(questions), len(pair))
    a, b = np.tile(pair.T, questions)
    gap = _strength(systems)[a] - _strength(systems)[b]
    plan = _plan(question, a, b, np.round(expit(gap + random.standard_normal(len(gap))) * 2) / 2, systems)
    drawn = random.choice(len(plan), 2000, replace=False)
    votes = Votes.from_columns(
        [f"q{question[row]}" for row in drawn],
        [f"s{a[row]}" for row in drawn],
        [f"s{b[row]}" for row in drawn],
        score=(random.random(len(drawn)) < expit(gap[drawn])).astype(float).tolist(),
    )
    print(f"{len(plan):,} battles, {len(votes):,} votes")
    for kind in (IntervalKind.SANDWICH, IntervalKind.BOOTSTRAP):
        taken = min(_seconds(partial(correct, plan, votes, interval=kind)) for _ in range(3))
        plain = min(_seconds(partial(rate, plan, interval=kind)) for _ in range(3))
        print(f"{kind.value}: {taken:.2f} s, {taken / plain:.1f} times the plain rate ({plain:.2f} s)")


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


PARTS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "simulation": simulation,
    "study": study,
    "speed": speed,
}


def main() -> None:
    """Run the parts that are named, else all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--interval", type=IntervalKind, default=IntervalKind.SANDWICH)
    parser.add_argument("--study", type=Path, default=STUDY, help="pairs.jsonl of the Crowd-RAG-25 study")
    options = parser.parse_args()
    for name in options.parts or PARTS:
        print(f"\n{name}")
        PARTS[name](options)


if __name__ == "__main__":
    main()
