"""Win and win+tie rates as people would give them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from data.errors import NotFoundError
from data.intervals import wilson
from data.parallel import parallel_map
from leaderboard.battles import BattleTable
from leaderboard.people import clusters
from leaderboard.people.advice import advice, evidence_of
from leaderboard.people.labelled import Floats, Ints, Labelled, label
from leaderboard.people.result import CorrectedMean, CorrectedRate, CorrectedRateTable, Estimated
from leaderboard.people.votes import Votes
from leaderboard.ratings import IntervalKind
from leaderboard.ratings.threads import one_thread
from leaderboard.ratings.uncertainty.paired_errors import freedom_of, t_quantile
from leaderboard.vocabulary import OVERALL, VoteRule

WIDTH = 0.1
MEASURES = ("mean_score", "win_rate", "win_tie_rate")


SAME = 1e-9
"""Spread of votes that are all alike."""


def correct_rates(
    plan: BattleTable,
    votes: Votes,
    *,
    rule: VoteRule = VoteRule.MEAN,
    reference: str | None = None,
    by_domain: bool = True,
    interval: IntervalKind = IntervalKind.SANDWICH,
    bootstrap: int = 1000,
    seed: int = 0,
    width: float = WIDTH,
) -> CorrectedRateTable:
    """Win rates of systems as people would give them; arguments as of `correct`.

    Args:
        plan: The judge's verdict on every planned battle.
        votes: Votes of people on some of them.
        rule: What several votes on one battle come to.
        reference: Only battles against this opponent count; None for all battles.
        by_domain: Add a row for each domain, beside `overall`.
        interval: Sandwich or bootstrap, by questions either way.
        bootstrap: Resamples.
        seed: Of the resamples.
        width: Of an interval of a mean share; `advice` says how many labels it needs.

    Raises:
        InputError: There are no votes.
        RecordError: A vote cannot be joined to the plan; the message names its line.
        NotFoundError: No battle names the reference.
    """
    labelled = label(plan, votes, rule=rule)
    opponent = _code(labelled, reference)
    resamples = bootstrap if interval is IntervalKind.BOOTSTRAP else None
    domains = [None, *range(len(labelled.domains))] if by_domain and labelled.domains != ("",) else [None]
    places = [
        (system, domain)
        for system in range(len(labelled.systems))
        if system != opponent
        for domain in domains
    ]
    cells = list(parallel_map(_cell, places, (labelled, opponent, (resamples, seed)), total=len(places)))
    rows = [cell.rate for cell in cells if cell is not None]
    best = {row.system: -(row.mean_score.corrected.value or 0.0) for row in rows if row.domain == OVERALL}
    rows.sort(key=lambda row: (best[row.system], row.system))
    overall = [cell for cell in cells if cell is not None and cell.rate.domain == OVERALL]
    evidence = evidence_of(
        labelled,
        rule,
        corrected=sum(cell.variances[0] for cell in overall),
        alone=sum(cell.variances[1] for cell in overall),
    )
    widths = [cell.rate.mean_score.corrected.width for cell in overall]
    return CorrectedRateTable(
        rows=tuple(rows),
        reference=reference,
        evidence=evidence,
        advice=advice(evidence, widths, width, "of share"),
        interval=interval,
        bootstrap=resamples,
        seed=seed,
    )


def _code(labelled: Labelled, reference: str | None) -> int | None:
    if reference is None:
        return None
    if reference not in labelled.systems:
        message = f"No battle names the reference {reference}."
        raise NotFoundError(message, advice=f"The systems are {', '.join(labelled.systems[:20])}.")
    return labelled.systems.index(reference)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """A row, and the variances of its corrected mean share and of that of votes alone."""

    rate: CorrectedRate
    variances: tuple[float, float]


def _cell(
    labelled: Labelled,
    opponent: int | None,
    resampling: tuple[int | None, int],
    system: int,
    domain: int | None,
) -> _Cell | None:
    """The row of a system in a domain; on one thread, wherever it is called."""
    with one_thread():
        return _found_cell(labelled, opponent, resampling, system, domain)


def _found_cell(
    labelled: Labelled,
    opponent: int | None,
    resampling: tuple[int | None, int],
    system: int,
    domain: int | None,
) -> _Cell | None:
    chosen = (labelled.low == system) | (labelled.high == system)
    if opponent is not None:
        chosen &= (labelled.low == opponent) | (labelled.high == opponent)
    if domain is not None:
        chosen &= labelled.domain == domain
    if not chosen.any():
        return None
    voted = chosen[labelled.rows]
    rows = np.cumsum(chosen)[labelled.rows[voted]] - 1
    _, question = np.unique(labelled.question[chosen], return_inverse=True)
    judge = _seen_from(labelled.judge[chosen], labelled.low[chosen] == system)
    people = _seen_from(labelled.people[voted], labelled.low[labelled.rows[voted]] == system)
    means, variances = {}, (0.0, 0.0)
    for column, name in enumerate(MEASURES):
        found = _Mean(
            question=question,
            judge=judge[:, column],
            rows=rows,
            people=people[:, column],
            weight=labelled.weight[voted],
        )
        means[name], both = found.estimated(*resampling)
        variances = both if name == "mean_score" else variances
    rate = CorrectedRate(
        system=labelled.systems[system],
        domain=OVERALL if domain is None else labelled.domains[domain],
        battles=int(chosen.sum()),
        labelled_battles=len(rows),
        **means,
    )
    return _Cell(rate=rate, variances=variances)


def _seen_from(measures: Floats, is_low: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    """(n, 3) measures from the system's side: what the other does not win, it wins or ties."""
    other = 1 - measures[:, [0, 2, 1]]
    return np.asarray(np.where(is_low[:, None], measures, other))


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class _Mean:
    """Battles of one system: the judge's share of each, people's of some, and their inverse chances."""

    question: Ints
    judge: Floats
    rows: Ints
    people: Floats
    weight: Floats

    def estimated(self, resamples: int | None, seed: int) -> tuple[CorrectedMean, tuple[float, float]]:
        """The corrected mean with its interval, and the variances of it and of votes alone."""
        judge = self._by_judge()
        voted = np.unique(self.question[self.rows])
        if len(voted) <= 1:
            only = float(np.average(self.people, weights=self.weight)) if len(self.rows) else None
            nothing = Estimated(value=only, lower=None, upper=None)
            return CorrectedMean(corrected=nothing, judge=judge, people=nothing), (0.0, 0.0)
        total = self.weight.sum()
        alone = float(self.weight @ self.people / total)
        heard = float(self.weight @ self.judge[self.rows] / total)
        every = float(self.judge.mean())
        votes = self._sums(self.weight * (self.people - alone)) / total
        part = self._sums(self.weight * (self.judge[self.rows] - heard)) / total
        part -= np.bincount(self.question, self.judge - every, len(votes)) / len(self.judge)
        weight = clusters.judge_weight(votes[:, None], part[:, None])
        pull = np.minimum(self._sums(self.weight) / total, 1 - clusters.LEAST_LEFT)
        influence = [(votes - weight.without * part) / np.sqrt(1 - pull), votes / np.sqrt(1 - pull)]
        parts = self._sums(self.weight**2)[voted][:, None] / total**2
        degrees = clusters.freedom(parts, np.zeros(1))
        values = (alone - weight.whole * (heard - every), alone)
        draws = self._draws(weight.whole, resamples, seed)
        found = [
            _interval(value, float(error @ error), float(degrees[0]), drawn, len(voted))
            for value, error, drawn in zip(values, influence, draws, strict=True)
        ]
        mean = CorrectedMean(corrected=found[0], judge=judge, people=found[1])
        return mean, (float(influence[0] @ influence[0]), float(influence[1] @ influence[1]))

    def _by_judge(self) -> Estimated:
        mean = float(self.judge.mean())
        sums = np.bincount(self.question, self.judge - mean) / len(self.judge)
        count = len(sums)
        if count <= 1:
            return Estimated(value=mean, lower=None, upper=None)
        half = float(t_quantile(freedom_of(count))) * float(np.sqrt(sums @ sums * count / (count - 1)))
        return Estimated(value=mean, lower=max(0.0, mean - half), upper=min(1.0, mean + half))

    def _sums(self, values: Floats) -> Floats:
        size = int(self.question.max()) + 1
        return np.bincount(self.question[self.rows], values, size).astype(np.float64)

    def _draws(self, weight: float, resamples: int | None, seed: int) -> tuple[Floats | None, Floats | None]:
        """Bayesian bootstrap of questions: (B,) corrected means, and those of votes alone."""
        if resamples is None:
            return None, None
        labels = [self._sums(value) for value in (self.weight, self.weight * self.people)]
        heard = self._sums(self.weight * self.judge[self.rows])
        every = [np.bincount(self.question).astype(np.float64), np.bincount(self.question, self.judge)]
        omega = np.random.default_rng(seed).standard_exponential((resamples, len(heard)))
        total = omega @ labels[0]
        alone = omega @ labels[1] / total
        off = omega @ heard / total - (omega @ every[1]) / (omega @ every[0])
        return alone - weight * off, alone


def _interval(
    value: float, variance: float, degrees: float, draws: Floats | None, questions: int
) -> Estimated:
    spread = float(np.sqrt(variance)) if draws is None else float(draws.std(ddof=1))
    exact = wilson(min(max(value, 0.0), 1.0), questions) if spread < SAME else None
    if exact is not None:
        # Where all who were asked agree, how few they are is all that is known of the rest.
        return Estimated(value=min(max(value, 0.0), 1.0), lower=exact.lower, upper=exact.upper)
    half = float(clusters.reach(np.array([degrees]))[0]) * spread
    lower, upper = value - half, value + half
    # An estimate may leave 0–1 by the luck of the draw; no share does.
    return Estimated(
        value=min(max(value, 0.0), 1.0), lower=min(max(lower, 0.0), 1.0), upper=max(min(upper, 1.0), 0.0)
    )
