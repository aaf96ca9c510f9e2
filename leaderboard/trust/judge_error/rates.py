"""Win rates whose intervals count the judge's own error: what another round would say.

Source: docs/method/judge-error.md, "The full interval".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from data.intervals import LEVEL, Interval
from leaderboard.battles import BattleTable, Winner
from leaderboard.rates import Rate, RateTable, win_rates
from leaderboard.ratings.counts import Ints
from leaderboard.trust.judge_error.components import Components, Counts
from leaderboard.trust.judge_error.design import Design
from leaderboard.trust.judge_error.readings import Cells, Readings, battle_means, rows_of
from leaderboard.trust.judge_error.reporting import (
    JudgeErrorFigures,
    Parts,
    notes_on,
    nothing_repeated,
    parts_of,
)
from leaderboard.trust.judge_error.variances import components
from leaderboard.vocabulary import OVERALL, ErrorKind

SHARE, WINS, WINS_AND_TIES = 0, 1, 2
"""Columns of the readings' values."""
MEASURES = {"mean_score": SHARE, "win_rate": WINS, "win_tie_rate": WINS_AND_TIES}


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorRates(JudgeErrorFigures):
    """Rates with intervals of some kind.

    Attributes:
        table: The rates; the three intervals are of the kind.
        parts: By system and domain: of `mean_score`, `win_rate` and `win_tie_rate`, in shares.
    """

    table: RateTable
    parts: Mapping[tuple[str, str], Mapping[str, Parts]]

    def as_json(self) -> dict[str, object]:
        """The object that `arena battles rate --winrates --error judge|all --json` prints."""
        rows = [
            {
                **row.as_json(),
                "components": {
                    name: part.as_json() for name, part in self.parts[row.system, row.domain].items()
                },
            }
            for row in self.table.rows
        ]
        interval = {"interval": "student's t on variance components"}
        return {
            **self.table.as_json(),
            "rows": rows,
            **interval,
            **self.error_json(),
        }


def rates_of_readings(
    readings: Readings, kind: ErrorKind, *, reference: str | None = None, by_domain: bool = True
) -> ErrorRates:
    """Rates by the mean of the battles' readings, with the judge's error in the intervals.

    With `all` an interval is never narrower than that of the questions alone, which also knows what cannot be
    seen where all battles ended alike.

    Args:
        readings: Several of each battle, or of a part of the battles.
        kind: What the intervals count: the judge, or all.
        reference: Only battles against this opponent count; None for all battles.
        by_domain: Add a row for each domain.

    Raises:
        NotFoundError: No battle names the reference.
        InputError: No battle was read again.
    """
    plain = win_rates(_split(readings), reference=reference, by_domain=by_domain)
    code = None if reference is None else readings.systems.index(reference)
    parts: dict[tuple[str, str], dict[str, Parts]] = {}
    rows: dict[tuple[str, str], Rate] = {(row.system, row.domain): row for row in plain.rows}
    counts: Counts | None = None
    domains = (
        ((OVERALL,), readings.domains) if any(row.domain != OVERALL for row in plain.rows) else ((OVERALL,),)
    )
    for names in domains:
        sides = _Sides.of(readings, code, names)
        for measure, column in MEASURES.items():
            sources = sides.components(column)
            counts = counts or sources.counts
            if counts.wordings == 1 and not counts.repeated:
                raise nothing_repeated()
            spread = sources.of_targets(kind)
            for target, (part, half) in enumerate(
                zip(parts_of(sources, spread, 1.0), spread.reach(LEVEL).tolist(), strict=True)
            ):
                key = (readings.systems[target // len(names)], names[target % len(names)])
                if key in rows:
                    parts.setdefault(key, {})[measure] = part
                    rows[key] = _with_interval(rows[key], measure, half, kind)
    if counts is None:
        raise nothing_repeated()
    unlinked = sorted(
        {
            system
            for (system, _), measures in parts.items()
            if measures["mean_score"].degrees_of_freedom is None
        }
    )
    return ErrorRates(
        table=replace(plain, rows=tuple(rows[row.system, row.domain] for row in plain.rows)),
        kind=kind,
        parts=parts,
        notes=notes_on(counts, readings.wordings, unlinked),
        counts=counts,
    )


def _split(readings: Readings) -> BattleTable:
    """A row for each way in which the readings of a battle ended, counting its share of them."""
    cells = readings.cells(own=True)
    means, _ = battle_means(cells, len(readings.question))
    ended = np.column_stack(
        [
            means[:, WINS],
            1 - means[:, WINS_AND_TIES],
            means[:, WINS_AND_TIES] - means[:, WINS],
        ]
    )
    ended[np.setdiff1d(np.arange(len(means)), cells.battle)] = 0
    battle, winner = np.nonzero(ended > LEAST_SHARE)
    return BattleTable(
        systems=readings.systems,
        questions=readings.questions,
        domains=readings.domains,
        a=readings.a[battle].astype(np.int32),
        b=readings.b[battle].astype(np.int32),
        winner=np.array([Winner.A, Winner.B, Winner.TIE], dtype=np.int8)[winner],
        question=readings.question[battle].astype(np.int32),
        domain=readings.domain[battle].astype(np.int32),
        score=means[battle, SHARE],
        weight=ended[battle, winner],
    )


LEAST_SHARE = 1e-12
"""Below it a share of a battle's readings is rounding."""


@dataclass(frozen=True, eq=False, kw_only=True)
class _Sides:
    """Battles as each side that counts sees them, for a mean of each system and domain."""

    readings: Readings
    battle: Ints
    turned: Ints
    target: Ints
    targets: int

    @classmethod
    def of(cls, readings: Readings, reference: int | None, domains: Sequence[str]) -> _Sides:
        """Sides of every battle, or of those against the reference."""
        everyone = np.arange(len(readings.question))
        from_a = everyone if reference is None else np.flatnonzero(readings.b == reference)
        from_b = everyone if reference is None else np.flatnonzero(readings.a == reference)
        battle = np.concatenate([from_a, from_b])
        system = np.concatenate([readings.a[from_a], readings.b[from_b]])
        domain = readings.domain[battle] if tuple(domains) == readings.domains else np.zeros_like(battle)
        return cls(
            readings=readings,
            battle=battle,
            turned=np.repeat([0, 1], [len(from_a), len(from_b)]),
            target=system * len(domains) + domain,
            targets=len(readings.systems) * len(domains),
        )

    def components(self, column: int) -> Components:
        """The parts of the errors of the targets' means."""
        own = self._cells(self.readings.cells(own=True), column)
        size = len(self.battle)
        means, weight = battle_means(own, size)
        rows = np.flatnonzero(weight > 0)
        target, value = self.target[rows], means[rows, 0]
        question = self.readings.question[self.battle[rows]]
        cluster = np.unique(question * np.int64(self.targets) + target, return_inverse=True)[1]
        count = np.bincount(target, minlength=self.targets).astype(np.float64)
        centre = np.bincount(target, value, self.targets) / np.maximum(count, 1)
        off = np.bincount(cluster, value - centre[target])
        of_cluster = np.zeros(len(off), dtype=np.int64)
        of_cluster[cluster] = target
        units = np.bincount(of_cluster, minlength=self.targets).astype(np.float64)
        variance = np.bincount(of_cluster, off**2, self.targets) / np.maximum(count, 1) ** 2
        variance *= units / np.maximum(units - 1, 1)
        design = Design(
            directions=csr_array(
                (np.ones(len(rows)), (np.arange(len(rows)), target)), shape=(len(rows), self.targets)
            ),
            slope=np.ones(len(rows)),
            cluster=cluster.astype(np.int64),
            stratum=target,
            is_contrast=False,
        )
        cells = rows_of(self._cells(self.readings.cells(), column), rows), rows_of(own, rows)
        return components(design, *cells, sampling=np.diag(variance), questions=units)

    def _cells(self, cells: Cells, column: int) -> Cells:
        """The cells of the sides; seen from the other side a win is what is neither a win nor a tie."""
        opposite = {SHARE: SHARE, WINS: WINS_AND_TIES, WINS_AND_TIES: WINS}[column]
        order = np.argsort(cells.battle, kind="stable")
        first = np.searchsorted(cells.battle[order], self.battle, side="left")
        last = np.searchsorted(cells.battle[order], self.battle, side="right")
        side = np.repeat(np.arange(len(self.battle)), last - first)
        place = np.arange(len(side)) - np.repeat(np.cumsum(last - first) - (last - first), last - first)
        used = order[np.repeat(first, last - first) + place]
        turned = self.turned[side].astype(bool)
        mean = np.where(turned, 1 - cells.mean[used, opposite], cells.mean[used, column])
        variance = np.where(turned, cells.variance[used, opposite], cells.variance[used, column])
        return Cells(
            battle=side,
            wording=cells.wording[used],
            count=cells.count[used],
            mean=mean[:, None],
            variance=variance[:, None],
        )


def _with_interval(row: Rate, measure: str, half: float, kind: ErrorKind) -> Rate:
    if measure == "win_rate":
        return replace(row, win_interval=_around(row.win_rate, half, row.win_interval, kind))
    if measure == "win_tie_rate":
        return replace(row, win_tie_interval=_around(row.win_tie_rate, half, row.win_tie_interval, kind))
    return replace(row, score_interval=_around(row.mean_score, half, row.score_interval, kind))


def _around(value: float, half: float, of_questions: Interval | None, kind: ErrorKind) -> Interval | None:
    if not np.isfinite(half):
        return None
    lower, upper = max(0.0, value - half), min(1.0, value + half)
    if kind is ErrorKind.ALL and of_questions is not None:
        lower, upper = min(lower, of_questions.lower), max(upper, of_questions.upper)
    return Interval(lower, upper)
