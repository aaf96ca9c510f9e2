"""Rate systems from battles."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from data.errors import InputError, NotFoundError, UnrankableError
from data.models.words import member
from leaderboard.battles import BattleTable
from leaderboard.ratings.assemble import assemble, clean_records
from leaderboard.ratings.counts import Ints, PairCounts, count_pairs, one_thread
from leaderboard.ratings.estimate import estimate, restrict
from leaderboard.ratings.models.existence import Groups, find_groups
from leaderboard.ratings.result import RatingTable, Settings
from leaderboard.ratings.vocabulary import Anchor, Bounds, Cluster, IntervalKind, Method

MAX_RESAMPLED = 250
"""Maximum number of systems whose intervals are resampled by default."""
NOT_RESAMPLED = (
    "intervals are sandwich intervals, since resampling {systems:,} systems takes minutes "
    "(`arena battles rate --interval bootstrap` does it)"
)


def rate(
    table: BattleTable,
    *,
    method: Method | str = Method.BRADLEY_TERRY,
    interval: IntervalKind | str | None = None,
    bootstrap: int = 1000,
    cluster: Cluster | str = Cluster.QUESTION,
    anchor: Anchor | str | None = None,
    seed: int = 0,
    bounds: Bounds | str = Bounds.PERCENTILE,
) -> RatingTable:
    """Rate systems on the Elo scale: 400 points are tenfold odds.

    Neither the order of the rows, nor the order of the two systems, nor the number of threads changes a byte.

    Args:
        table: The battles.
        method: Bradley-Terry (ties half), Davidson, Rao-Kupper, or online Elo for comparison.
        interval: Bootstrap draws or a sandwich covariance. None: draws for up to `MAX_RESAMPLED` systems,
            else a sandwich, because resampling takes minutes; `notes` of the table say so.
        bootstrap: Number of resamples.
        cluster: Independent units: questions, voters or battles.
        anchor: System with a fixed rating (1000 for a name); without one, the main group's ratings average
            1000.
        seed: Seed of the resamples.
        bounds: Percentile or BCa ends of bootstrap intervals.

    Raises:
        InputError: A setting has an unknown value, or there are too few resamples.
        UnrankableError: The battles or the anchor allow no rating.

    Source: Bradley & Terry (1952); Chiang et al. (2024), section 4; docs/method.md.
    """
    method = member(Method, method, "method")
    if method is Method.STYLE:
        message = "The method style needs properties of the answers, which a table of battles lacks."
        raise InputError(message, advice="Use rate_under_control, or another method.")
    chosen = None if interval is None else member(IntervalKind, interval, "interval")
    kind = chosen or interval_for(len(table.systems), method)
    if kind is IntervalKind.BOOTSTRAP and bootstrap <= 1:
        message = f"{bootstrap} resamples are too few for an interval."
        raise InputError(message, advice="Use at least 2 resamples, preferably 1000.")
    settings = Settings(
        method=method,
        interval=kind,
        bootstrap=bootstrap if kind is IntervalKind.BOOTSTRAP else None,
        cluster=member(Cluster, cluster, "cluster"),
        bounds=member(Bounds, bounds, "bounds"),
        anchor=Anchor(system=anchor) if isinstance(anchor, str) else anchor,
        seed=seed,
    )
    with one_thread():
        ratings = _rate(in_order(usable(table)), settings)
    if chosen is None and kind is IntervalKind.SANDWICH:
        return replace(ratings, notes=(NOT_RESAMPLED.format(systems=len(table.systems)),))
    return ratings


def interval_for(systems: int, method: Method) -> IntervalKind:
    """Choose the default kind of interval: resampling many systems takes minutes."""
    many = systems > MAX_RESAMPLED and method is not Method.ELO
    return IntervalKind.SANDWICH if many else IntervalKind.BOOTSTRAP


def usable(table: BattleTable) -> BattleTable:
    """Return the table without systems and questions that have no battle of positive weight."""
    if table.weight is not None and not (np.isfinite(table.weight).all() and (table.weight >= 0).all()):
        message = "The weight of at least one battle is missing, infinite or negative."
        raise UnrankableError(message, advice="Give each battle a weight of 0 or more.")
    systems, questions = table.names_used
    if not systems.any():
        raise UnrankableError(
            "No battle has a positive weight, so systems cannot be rated.", advice="Judge battles first."
        )
    if systems.all() and questions.all() and (table.weight is None or table.weight.all()):
        return table
    return restrict(table, np.flatnonzero(systems))


def in_order(table: BattleTable) -> BattleTable:
    """Sort the table if the last digits of its sums depend on the order."""
    return table if table.score is None and table.weight is None else table.select(table.canonical())


def _rate(table: BattleTable, settings: Settings) -> RatingTable:
    anchor = anchor_codes(table, settings.anchor)
    if settings.method is Method.ELO:
        from leaderboard.ratings.models.elo import rate_online  # noqa: PLC0415 - rarely used

        return rate_online(table, settings, anchor)
    pairs = count_pairs(table)
    groups = groups_of(table, pairs, settings)
    estimates = [
        estimate(part, pairs, members, settings, anchor if anchor is not None and label == 0 else None)
        for label, members, part in _split(table, groups)
    ]
    return assemble(table, pairs, groups, estimates, settings)


def groups_of(table: BattleTable, pairs: PairCounts, settings: Settings) -> Groups:
    """Find the groups within which ratings exist; the anchor's group is the main one."""
    anchor = anchor_codes(table, settings.anchor)
    groups = find_groups(pairs, None if anchor is None else int(anchor[0]), table.systems)
    if anchor is not None and settings.anchor is not None:
        for code, fixed in zip(anchor.tolist(), settings.anchor.all, strict=True):
            _require_main_group(groups, pairs, code, fixed.system)
    return groups


def _require_main_group(groups: Groups, pairs: PairCounts, anchor: int, name: str) -> None:
    own, largest = int(groups.sizes[groups.label[anchor]]), int(groups.sizes.max())
    if own > 1 and own == largest and groups.label[anchor] == 0:
        return
    won, lost = clean_records(pairs)
    if lost[anchor]:
        reason = "it lost every battle, so every rating would be infinitely far above it"
    elif won[anchor]:
        reason = "it won every battle, so every rating would be infinitely far below it"
    elif own == 1:
        reason = "its wins and losses never lead back to a rated system"
    else:
        reason = f"its scale has {own} systems, and a separate scale has {largest}"
    raise UnrankableError(
        f"{name} cannot be the anchor: {reason}.",
        advice="Anchor a system of the largest group, or judge more of its battles.",
    )


def _split(table: BattleTable, groups: Groups) -> Iterator[tuple[int, Ints, BattleTable]]:
    """Yield label, systems and battles of each group of two or more systems."""
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


def anchor_codes(table: BattleTable, anchor: Anchor | None) -> Ints | None:
    """Return the codes of the anchors."""
    if anchor is None:
        return None
    for fixed in anchor.all:
        if fixed.system not in table.systems:
            message = f"The anchor {fixed.system} has no battle."
            raise NotFoundError(message, advice="Choose a system of the battle file.")
    return np.array([table.systems.index(fixed.system) for fixed in anchor.all])
