"""Boards of rankings: means with intervals, ranks with letters, and paired differences, by domain.

Sources: Sakai (2014), "Statistical reform in information retrieval?", for paired t tests and intervals over
topics; Holm (1979); Piepho (2004) for letters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from data.errors import NotFoundError
from data.intervals import Interval
from data.stats import Floats
from leaderboard.ratings.ranks import MOST_SYSTEMS, competition_ranks, letters
from leaderboard.ratings.uncertainty.paired_errors import ERROR, holm
from leaderboard.retrieval.measures import Measure
from leaderboard.stats.intervals import cluster_variance, mean_interval
from leaderboard.vocabulary import OVERALL

FEWEST = 2
DUST = 1e-12
"""Differences this small are rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalLine:
    """A system by one measure in one domain.

    Attributes:
        system: Its name.
        mean: Over questions; None where the measure exists for none.
        interval: 95 % t interval over questions; None for fewer than two.
        questions: How many the mean is over.
        missing: How many of them the system retrieved nothing for; they count as 0.
        undefined: Questions for which the measure does not exist, such as for want of texts.
        rank: By the mean, 1 for the best.
        rank_lower: The best place that the questions leave open.
        rank_upper: The worst.
        letters: Shared exactly by systems that no test separates; None for very many systems.
    """

    system: str
    mean: float | None
    interval: Interval | None
    questions: int
    missing: int
    undefined: int
    rank: int
    rank_lower: int
    rank_upper: int
    letters: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """How much higher one system scores than another on the same questions.

    Attributes:
        domain: The domain, or `overall`.
        difference: Mean over questions; None where no question has both.
        interval: Its 95 % t interval; None for fewer than two questions.
        p_value: Two-sided p of the paired t test; of the sign test where all differences are equal.
        questions: How many have both.
        ahead: On how many the first scores higher.
        behind: On how many it scores lower.
    """

    domain: str
    difference: float | None
    interval: Interval | None
    p_value: float | None
    questions: int
    ahead: int
    behind: int

    @property
    def significant(self) -> bool:
        """Whether the test of these two alone separates them at 5 %."""
        return self.p_value is not None and self.p_value <= ERROR


@dataclass(frozen=True, eq=False, kw_only=True)
class RetrievalTable:
    """The values of all systems, measures and questions.

    Attributes:
        systems: Names.
        questions: Ids of the questions that have a relevant passage.
        domains: (Q,) the domain of each.
        measures: What was measured.
        values: By measure, (S, Q); NaN where it does not exist.
        missing: (S, Q) whether the system retrieved nothing for the question.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    domains: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Mapping[str, Floats]
    missing: NDArray[np.bool_]

    @cached_property
    def places(self) -> Mapping[str, NDArray[np.bool_]]:
        """(Q,) which questions belong to each domain, `overall` first."""
        own = np.array(self.domains, dtype=object)
        named = {domain: own == domain for domain in dict.fromkeys(self.domains)}
        return MappingProxyType({OVERALL: np.ones(len(self.questions), dtype=np.bool_), **named})

    def measure(self, name: str) -> Measure:
        """A measure by its name, whatever its case.

        Raises:
            NotFoundError: The board does not have it.
        """
        found = next((one for one in self.measures if one.name.casefold() == name.casefold()), None)
        if found is None:
            known = ", ".join(one.name for one in self.measures)
            raise NotFoundError(f"The board has no measure {name!r}.", advice=f"It has: {known}.")
        return found

    def lines(self, measure: str, domain: str = OVERALL) -> tuple[RetrievalLine, ...]:
        """The systems by a measure in a domain, best first.

        Raises:
            NotFoundError: The board does not have one of them.
        """
        values, missing = self._part(measure, domain)
        means = _means(values)
        sure = _surely_better(values, means)
        order = sorted(range(len(means)), key=lambda at: (np.isnan(means[at]), -np.nan_to_num(means[at]), at))
        named: Sequence[str | None] = [None] * len(order)
        if len(order) <= MOST_SYSTEMS:
            ordered = sure[np.ix_(order, order)]
            named = letters(ordered | ordered.T)
        ranks = competition_ranks(np.where(np.isnan(means), -np.inf, means))
        return tuple(
            _line(self.systems[at], values[at], missing[at], (int(ranks[at]), sure[:, at], sure[at]), text)
            for at, text in zip(order, named, strict=True)
        )

    def compared(self, measure: str, first: str, second: str) -> tuple[PairedDifference, ...]:
        """The paired differences of two systems, overall and in every domain.

        Raises:
            NotFoundError: The board does not have one of them, or not the measure.
        """
        gap = self.differences(measure, first, second)
        return tuple(_paired(domain, gap[places]) for domain, places in self.places.items())

    def differences(self, measure: str, first: str, second: str) -> Floats:
        """(Q,) how much higher one system scores than another; NaN where one has no value."""
        values = self.values[self.measure(measure).name]
        gap: Floats = values[self.place_of(first)] - values[self.place_of(second)]
        return gap

    def value(self, measure: str, system: str, question: str) -> float | None:
        """What a system scores on a question; None where it does not exist."""
        value = self.values[measure][self.place_of(system), self.questions.index(question)]
        return None if np.isnan(value) else float(value)

    def _part(self, measure: str, domain: str) -> tuple[Floats, NDArray[np.bool_]]:
        places = self.places.get(domain)
        if places is None:
            known = ", ".join(self.places)
            raise NotFoundError(f"The board has no domain {domain!r}.", advice=f"It has: {known}.")
        return self.values[self.measure(measure).name][:, places], self.missing[:, places]

    def place_of(self, system: str) -> int:
        """The row of a system.

        Raises:
            NotFoundError: The board does not have it.
        """
        if system not in self.systems:
            known = ", ".join(self.systems) or "none"
            raise NotFoundError(f"The board has no system {system!r}.", advice=f"It has: {known}.")
        return self.systems.index(system)


def _line(
    system: str,
    values: Floats,
    missing: NDArray[np.bool_],
    place: tuple[int, NDArray[np.bool_], NDArray[np.bool_]],
    text: str | None,
) -> RetrievalLine:
    defined = ~np.isnan(values)
    rank, better, worse = place
    return RetrievalLine(
        system=system,
        mean=float(values[defined].mean()) if defined.any() else None,
        interval=_interval(values[defined]),
        questions=int(defined.sum()),
        missing=int(missing.sum()),
        undefined=int((~defined).sum()),
        rank=rank,
        rank_lower=1 + int(better.sum()),
        rank_upper=len(better) - int(worse.sum()),
        letters=text,
    )


def _means(values: Floats) -> Floats:
    counts = (~np.isnan(values)).sum(axis=1)
    sums = np.nansum(values, axis=1)
    means: Floats = np.divide(sums, counts, out=np.full(len(values), np.nan), where=counts > 0)
    return means


def _surely_better(values: Floats, means: Floats) -> NDArray[np.bool_]:
    """(S, S) whether the row's system is better than the column's, by paired tests of all pairs (Holm)."""
    size = len(values)
    above, right = np.triu_indices(size, k=1)
    gaps = [values[one] - values[other] for one, other in zip(above, right, strict=True)]
    tests = [_test(gap[~np.isnan(gap)]) for gap in gaps]
    p_values = np.array([1.0 if p_value is None else p_value for _, p_value in tests])
    signs = np.array([0.0 if gap is None else np.sign(gap) for gap, _ in tests])
    sure = np.zeros((size, size), dtype=np.bool_)
    fallen = holm(p_values) & ~np.isnan(means[above]) & ~np.isnan(means[right])
    sure[above[fallen & (signs > 0)], right[fallen & (signs > 0)]] = True
    sure[right[fallen & (signs < 0)], above[fallen & (signs < 0)]] = True
    return sure


def _test(gap: Floats) -> tuple[float | None, float | None]:
    """The mean difference and the chance of one as large where there is none."""
    if not len(gap):
        return None, None
    mean = float(gap.mean())
    if len(gap) < FEWEST:
        return mean, None
    spread = float(gap.std(ddof=1))
    if spread < DUST:
        # A t test does not exist: all questions agree, which chance does once in 2^(Q − 1).
        return mean, 1.0 if abs(mean) < DUST else min(1.0, 2 * 0.5 ** len(gap))
    t = abs(mean) / (spread / np.sqrt(len(gap)))
    return mean, float(2 * stdtr(len(gap) - 1, -t))


def _interval(values: Floats, *, low: float = 0.0) -> Interval | None:
    if len(values) < FEWEST:
        return None
    mean = float(values.mean())
    variance = cluster_variance(values - mean, len(values))
    within = Interval(low, max(1.0, float(values.max())))
    return mean_interval(
        mean, None if variance is None else float(np.sqrt(variance)), len(values), within=within
    )


def _paired(domain: str, gap: Floats) -> PairedDifference:
    defined = gap[~np.isnan(gap)]
    mean, p_value = _test(defined)
    return PairedDifference(
        domain=domain,
        difference=mean,
        interval=_interval(defined, low=-max(1.0, float(np.abs(defined).max(initial=0.0)))),
        p_value=p_value,
        questions=len(defined),
        ahead=int((defined > 0).sum()),
        behind=int((defined < 0).sum()),
    )
