"""How often a judge makes cycles: A over B, B over C and C over A, on one question and over questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from data.errors import UnrankableError
from data.records.plain import to_json
from data.stats import Interval, bounds_json
from leaderboard.battles import BattleTable
from leaderboard.ratings.counts import Cells, Floats, Ints
from leaderboard.ratings.rate import usable
from leaderboard.stats.intervals import cluster_variance, effective_count, mean_interval, wilson
from leaderboard.trust.robustness.total_cycles import (
    COIN_FLIPS,
    MOST_LISTED,
    OverQuestions,
    Shared,
    cycles_over_questions,
)
from leaderboard.trust.robustness.tournaments import Tallies, Verdicts, joined_counts, stacks_of, verdicts_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistence:
    """Kendall and Babington Smith's coefficient on the questions of which all pairs were judged.

    Attributes:
        questions: How many there are.
        mean: Mean coefficient, at most 1: no cycle; None without questions.
        interval: Its 95 % interval over questions.
        coin_flips: What it would be on average if verdicts were fair coins.
    """

    questions: int
    mean: float | None
    interval: Interval | None
    coin_flips: float | None

    def as_json(self) -> dict[str, object]:
        """Its fields, with bounds."""
        return to_json(self, "interval", **bounds_json(self.interval))


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstQuestion:
    """A question with many cycles: how many of how many strict triples, and its coefficient if any."""

    question: str
    cycles: int
    strict: int
    consistence: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstTriple:
    """Three systems with many cycles.

    Attributes:
        systems: Each was preferred to the next, and the last to the first, on most of the questions.
        cycles: On how many questions they formed a cycle, either way round.
        same_way: On how many of those in this order.
        strict: On how many questions all three pairs were judged without a tie.
    """

    systems: tuple[str, str, str]
    cycles: int
    same_way: int
    strict: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycles:
    """How often a judge makes cycles.

    Attributes:
        questions: Questions with a triple of systems of which all three pairs were judged.
        triples: Such triples.
        strict: Of those, triples without a tie: only they can form a cycle.
        cycles: Triples that do.
        share: Cycles of strict triples, clustered by question.
        one_tie: Triples with one tie.
        one_tie_cycles: Of those, A > B > C ~ A: weak cycles, counted apart.
        two_ties: Triples A > B ~ C ~ A, each of them a weak cycle; a judge that cannot see small differences
            makes such without erring.
        consistence: By question.
        worst_questions: Those with most cycles.
        worst_triples: Systems with most cycles.
        over_questions: What all questions together say.
    """

    questions: int
    triples: int
    strict: int
    cycles: int
    share: Shared
    one_tie: int
    one_tie_cycles: int
    two_ties: int
    consistence: Consistence
    worst_questions: tuple[WorstQuestion, ...]
    worst_triples: tuple[WorstTriple, ...]
    over_questions: OverQuestions

    def as_json(self) -> dict[str, object]:
        """The object of `battles cycles --json`."""
        return {
            "questions": self.questions,
            "triples": self.triples,
            "strict": self.strict,
            "cycles": self.cycles,
            **self.share.as_json(),
            "coin_flips": COIN_FLIPS,
            "one_tie": self.one_tie,
            "one_tie_cycles": self.one_tie_cycles,
            "two_ties": self.two_ties,
            "consistence": self.consistence.as_json(),
            "worst_questions": [to_json(question) for question in self.worst_questions],
            "worst_triples": [to_json(triple) for triple in self.worst_triples],
            "over_questions": self.over_questions.as_json(),
        }


def count_cycles(table: BattleTable, *, seed: int = 0) -> Cycles:
    """Count the cycles of a judge's verdicts.

    Several battles of a pair on a question are one verdict, by their mean share of the win. Only triples of
    which all three pairs were judged on the question count.

    Args:
        table: The battles; each question is a unit.
        seed: Of the resamples of questions.

    Raises:
        UnrankableError: On no question were all three pairs of three systems judged.

    Source: Kendall & Babington Smith (1940); docs/method/judge-error.md.
    """
    battles = usable(table)
    verdicts = verdicts_of(battles)
    size = len(battles.systems)
    stacks = [(stack.tallies(), stack.cycle_counts(size)) for stack in stacks_of(verdicts, size)]
    stacks = [(tallies, counts) for tallies, counts in stacks if tallies.triples.any()]
    if not stacks:
        message = (
            "On no question were all three pairs of three systems judged, so there are no cycles to count."
        )
        raise UnrankableError(message, advice="Judge complete pairs: --pairs complete:K, or all.")
    tallies = _joined([tallies for tallies, _ in stacks])
    counts = joined_counts((counts for _, counts in stacks), size)
    strict, cycles = int(tallies.strict.sum()), int(tallies.cycles.sum())
    return Cycles(
        questions=len(tallies.question),
        triples=int(tallies.triples.sum()),
        strict=strict,
        cycles=cycles,
        share=_share(tallies.cycles, tallies.strict),
        one_tie=int(tallies.one_tie.sum()),
        one_tie_cycles=int(tallies.one_tie_cycles.sum()),
        two_ties=int(tallies.two_ties.sum()),
        consistence=_consistence(tallies),
        worst_questions=_worst_questions(tallies, battles.questions),
        worst_triples=_worst_triples(counts, verdicts, battles.systems),
        over_questions=cycles_over_questions(verdicts.of_questions(tallies.question), battles.systems, seed),
    )


def _joined(parts: list[Tallies]) -> Tallies:
    """The tallies of all questions with a triple, in the order of questions."""
    columns = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Tallies)
    }
    order = np.argsort(columns["question"])
    order = order[columns["triples"][order] > 0]
    return Tallies(**{name: column[order] for name, column in columns.items()})


def _share(part: Ints, whole: Ints) -> Shared:
    total = float(whole.sum())
    if not total:
        return Shared(share=None, interval=None)
    share, questions = float(part.sum()) / total, int((whole > 0).sum())
    chosen = whole > 0
    variance = cluster_variance(part[chosen] - share * whole[chosen], total)
    count = effective_count(share, total, questions, variance or 0.0)
    return Shared(share=share, interval=wilson(share, count))


def consistence_of(tallies: Tallies) -> Floats:
    """(Q,) Kendall and Babington Smith's coefficient; NaN where not all pairs of a question were judged.

    A tie counts as falling either way with even chances.
    """
    most = _most_circular(tallies.systems.astype(np.float64))
    complete = 2 * tallies.pairs == tallies.systems * (tallies.systems - 1)
    return np.where(complete, 1 - tallies.circular / most, np.nan)


def _consistence(tallies: Tallies) -> Consistence:
    values = consistence_of(tallies)
    complete = ~np.isnan(values)
    questions = int(complete.sum())
    if not questions:
        return Consistence(questions=0, mean=None, interval=None, coin_flips=None)
    n = tallies.systems[complete].astype(np.float64)
    chance = 1 - n * (n - 1) * (n - 2) / 24 / _most_circular(n)
    mean = float(values[complete].mean())
    error = float(values[complete].std(ddof=1) / np.sqrt(questions)) if questions > 1 else None
    interval = mean_interval(mean, error, questions)
    return Consistence(
        questions=questions,
        mean=mean,
        interval=None if interval is None else Interval(interval.lower, min(1.0, interval.upper)),
        coin_flips=float(chance.mean()),
    )


def _most_circular(n: Floats) -> Floats:
    """The most circular triads that so many systems can have."""
    return np.where(n % 2 == 1, n**3 - n, n**3 - 4 * n) / 24


def _worst_questions(tallies: Tallies, questions: tuple[str, ...]) -> tuple[WorstQuestion, ...]:
    values = consistence_of(tallies)
    order = np.lexsort((tallies.question, -tallies.cycles / np.maximum(tallies.strict, 1), -tallies.cycles))
    return tuple(
        WorstQuestion(
            question=questions[tallies.question[at]],
            cycles=int(tallies.cycles[at]),
            strict=int(tallies.strict[at]),
            consistence=None if np.isnan(values[at]) else float(values[at]),
        )
        for at in order[:MOST_LISTED].tolist()
        if tallies.cycles[at]
    )


def _worst_triples(
    counts: Mapping[tuple[int, int, int], int], verdicts: Verdicts, systems: tuple[str, ...]
) -> tuple[WorstTriple, ...]:
    either: Counter[tuple[int, ...]] = Counter()
    for cycle, count in counts.items():
        either[tuple(sorted(cycle))] += count
    worst = sorted(either, key=lambda triple: (-either[triple], triple))[:MOST_LISTED]
    rows = []
    for first, second, third in worst:
        ways = ((first, second, third), (first, third, second))
        way = max(ways, key=lambda cycle: counts.get(cycle, 0))
        rows.append(
            WorstTriple(
                systems=(systems[way[0]], systems[way[1]], systems[way[2]]),
                cycles=either[first, second, third],
                same_way=counts.get(way, 0),
                strict=_strict_questions(verdicts, (first, second, third)),
            )
        )
    return tuple(rows)


def _strict_questions(verdicts: Verdicts, triple: tuple[int, int, int]) -> int:
    """On how many questions all three pairs of a triple were judged without a tie."""
    pairs = np.flatnonzero(np.isin(verdicts.low, triple) & np.isin(verdicts.high, triple))
    margins = verdicts.margins
    if isinstance(margins, Cells):
        ends = margins.doubled[:, pairs]
        return int(((ends == 0) | (ends == 2)).all(axis=1).sum())  # noqa: PLR2004 - twice a whole win
    decided = np.flatnonzero(np.isin(margins.indices, pairs) & (margins.data != 0))
    questions = np.searchsorted(margins.indptr, decided, side="right")
    return int((np.bincount(questions, minlength=1) == len(triple)).sum())
