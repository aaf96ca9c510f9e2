"""Rate systems from battles: the one entry point."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from data.errors import InputError, NotFoundError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings.assemble import assemble
from leaderboard.ratings.counts import Ints, count_pairs
from leaderboard.ratings.estimate import estimate, restrict
from leaderboard.ratings.models.existence import Groups, find_groups
from leaderboard.ratings.result import RatingTable, Settings
from leaderboard.ratings.threads import one_thread
from leaderboard.ratings.vocabulary import Anchor, Bounds, Cluster, IntervalKind, Method, Prior, Weighting


def rate(
    table: BattleTable,
    *,
    method: Method = Method.BRADLEY_TERRY,
    interval: IntervalKind = IntervalKind.BOOTSTRAP,
    bootstrap: int = 1000,
    cluster: Cluster = Cluster.QUESTION,
    anchor: Anchor | None = None,
    seed: int = 0,
    weighting: Weighting = Weighting.GAMMA,
    bounds: Bounds = Bounds.PERCENTILE,
    prior: Prior | None = None,
) -> RatingTable:
    """Rate systems on the 400-points-a-decade scale.

    The point estimate always comes from all battles. Neither the order of the rows nor which system is
    named first changes a byte; the same seed gives the same bytes at any number of threads.

    Args:
        table: The battles.
        method: Bradley-Terry (ties half), Davidson, Rao-Kupper, or online Elo for comparison.
        interval: Bootstrap draws or a sandwich covariance.
        bootstrap: Resamples.
        cluster: Whether questions or single battles are the independent units.
        anchor: The system whose rating is fixed; without one, the main group's ratings average 1000.
        seed: Of the resamples.
        weighting: Gamma weights, under which no observed cell ever vanishes, or multinomial ones.
        bounds: Percentile or BCa ends of bootstrap intervals.
        prior: A normal prior on each rating; what only it makes finite is flagged.

    Raises:
        UnrankableError: No battle at all, weights that are no numbers, or (tie models) only ties.
        NotFoundError: The anchor took part in no battle.
        InputError: Fewer than two resamples.

    Source: Bradley & Terry (1952); Chiang et al. (2024), section 4; docs/method.md.
    """
    if interval is IntervalKind.BOOTSTRAP and bootstrap <= 1:
        message = f"{bootstrap} resamples make no interval."
        raise InputError(message, advice="Ask for at least 2, better 1000.")
    settings = Settings(
        method=method,
        interval=interval,
        bootstrap=bootstrap if interval is IntervalKind.BOOTSTRAP else None,
        cluster=cluster,
        weighting=weighting,
        bounds=bounds,
        anchor=anchor,
        prior=prior,
        seed=seed,
    )
    with one_thread():
        return _rate(usable(table), settings)


def usable(table: BattleTable) -> BattleTable:
    """The table without systems and questions that no battle counts for.

    Raises:
        UnrankableError: No battle is left, or weights are no numbers.
    """
    if table.weight is not None and not (np.isfinite(table.weight).all() and (table.weight >= 0).all()):
        message = "Some battle's weight is missing, infinite or negative."
        raise UnrankableError(message, advice="Give each battle a weight of 0 or more.")
    systems, questions = table.names_used
    if not systems.any():
        raise UnrankableError("There is no battle to rate systems by.", advice="Judge some battles first.")
    if systems.all() and questions.all() and (table.weight is None or table.weight.all()):
        return table
    return restrict(table, np.flatnonzero(systems))


def _rate(table: BattleTable, settings: Settings) -> RatingTable:
    anchor = anchor_code(table, settings.anchor)
    if settings.method is Method.ELO:
        from leaderboard.ratings.models.elo import rate_online  # noqa: PLC0415 - loads only where Elo is asked for

        return rate_online(table, settings, anchor)
    pairs = count_pairs(table)
    groups = find_groups(pairs, anchor)
    if settings.prior is not None:
        everyone = np.arange(pairs.systems)
        estimates = [estimate(table, pairs, everyone, settings, anchor)]
        return assemble(table, pairs, groups, estimates, settings)
    estimates = [
        estimate(part, pairs, members, settings, anchor if anchor is not None and label == 0 else None)
        for label, members, part in _split(table, groups)
    ]
    return assemble(table, pairs, groups, estimates, settings)


def _split(table: BattleTable, groups: Groups) -> Iterator[tuple[int, Ints, BattleTable]]:
    """Each group of two systems or more: its label, its systems and its battles."""
    if len(groups.sizes) == 1:
        yield 0, np.arange(len(table.systems)), table
        return
    systems = np.argsort(groups.label, kind="stable")
    row_label = np.where(groups.label[table.a] == groups.label[table.b], groups.label[table.a], -1)
    rows = np.argsort(row_label, kind="stable")
    labels = np.arange(len(groups.sizes) + 1)
    system_edge = np.searchsorted(groups.label[systems], labels)
    row_edge = np.searchsorted(row_label[rows], labels)
    for label in np.flatnonzero(groups.sizes > 1).tolist():
        part = table.select(rows[row_edge[label] : row_edge[label + 1]])
        yield label, systems[system_edge[label] : system_edge[label + 1]], part


def anchor_code(table: BattleTable, anchor: Anchor | None) -> int | None:
    """The code of the system whose rating is fixed; None without one.

    Raises:
        NotFoundError: It took part in no battle.
    """
    if anchor is None:
        return None
    if anchor.system not in table.systems:
        message = f"The anchor {anchor.system} took part in no battle."
        raise NotFoundError(message, advice="Name a system of the battle file.")
    return table.systems.index(anchor.system)
