"""Properties of a battle file on which tools differ, with values for the texts of `rules.toml`."""

import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from leaderboard.battles import BattleTable
from leaderboard.peers.battles import WrittenBattles
from leaderboard.peers.tools import ArenaRank, Evalica, Rules
from leaderboard.ratings import Cluster, IntervalKind, RatingTable, rate
from leaderboard.ratings.counts import count_pairs
from leaderboard.ratings.models.existence import find_groups
from leaderboard.ratings.models.newton import information
from leaderboard.ratings.vocabulary import POINTS

Floats = NDArray[np.float64]
NORMAL = 1.959964
FEW = 0.98
"""Ratio of intervals with and without arena-rank's ridge, below which a system has few battles."""
CLOSE = 3
"""Number of exceptions in a record up to which many resamples contain none of them."""
LISTED, LEAST = 5, 0.05


def rules() -> dict[str, Any]:
    """Read the rules of the tools, and their versions."""
    return tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))


def half_widths(board: RatingTable, table: BattleTable, ridge: float = 0.0) -> Floats:
    """(S,) half of normal intervals, with a ridge on the Hessian's diagonal; NaN without a rating."""
    if board.covariance is None or board.systems != table.systems:
        return np.full(len(table.systems), np.nan)
    pairs = count_pairs(table)
    gap = (board.points[pairs.low] - board.points[pairs.high]) / POINTS
    hessian = information(pairs, np.nan_to_num(pairs.totals * expit(gap) * expit(-gap)))
    shrink = np.linalg.pinv(hessian + ridge * np.eye(len(hessian)), hermitian=True) @ hessian
    variance = np.diag(shrink @ np.nan_to_num(board.covariance) @ shrink.T)
    return np.asarray(np.where(np.isnan(board.points), np.nan, NORMAL * np.sqrt(variance)))


@np.errstate(all="ignore")
def facts(battles: WrittenBattles) -> Rules:
    """Return the rules that apply to the file, with the values of their texts."""
    table, size, names = battles.table, len(battles.table), np.array(battles.table.systems)
    pairs, board = count_pairs(table), rate(table, interval=IntervalKind.SANDWICH, cluster=Cluster.NONE)
    apart = find_groups(pairs, names=table.systems).ladder
    loose, unread = (
        np.isnan(board.points) & (apart == 0),
        ArenaRank().in_its_words(battles).tied & ~battles.tied,
    )
    ties = Counter(battles.words[battles.tied].tolist())
    score = np.zeros(0) if table.score is None else table.score[~np.isnan(table.score)]
    weight = np.ones(1) if table.weight is None else table.weight
    first, second = (np.bincount(side, minlength=len(names)) for side in (table.a, table.b))
    one_side = ((first == 0) | (second == 0)) & (first + second > 1)
    who = np.zeros(size, dtype=int)
    if battles.people is not None:
        who = np.unique(battles.people, return_inverse=True)[1]
    rows = np.stack([table.question, table.a, table.b, table.winner, who])
    repeats = size - np.unique(rows, axis=1).shape[1]
    widths = {
        "single": half_widths(board, table),
        "clustered": _clustered(table, table.question),
        "people": _clustered(table, who),
        "ridge": half_widths(board, table, ArenaRank.ridge * size),
    }
    few = widths["ridge"] < FEW * widths["single"]
    low, high, tie = pairs.outcomes
    missed = np.minimum(pairs.sum_ends(high + tie, low + tie), pairs.sum_ends(low + tie, high + tie))
    close = int(np.argmin(np.where(missed > 0, missed, np.inf)))
    share = (1 - min(missed[close] / size, 1)) ** size

    def unit(one: str, other: str, of: NDArray[Any]) -> dict[str, object]:
        each = np.bincount(of)
        at = int(np.argmax(np.nan_to_num(np.abs(np.log(widths[one] / widths[other])))))
        said = {kind: f"±{w[at]:.1f}" if w[at] > LEAST else "no interval" for kind, w in widths.items()}
        return {"system": names[at], "count": np.count_nonzero(each), "most": each.max(), **said}

    words = ", ".join(f"{word} {number:,}" for word, number in ties.most_common(LISTED))
    dropped = size - len(Evalica().in_its_words(battles).table)
    candidates: dict[str, tuple[object, dict[str, object]]] = {
        "undefeated": (loose.any(), {"systems": listed(names[loose])}),
        "apart": (apart.any(), {"count": apart.max() + 1, "systems": listed(names[apart > 0])}),
        "words": (unread.any(), {"count": unread.sum(), "words": listed(set(battles.words[unread]))}),
        "ties": (ties.keys() - {"tie"}, {"words": words, "count": dropped}),
        "scores": (score.size, {"count": score.size}),
        "weights": (table.weight is not None, {"low": weight.min(), "high": weight.max()}),
        "sides": (one_side.any(), {"systems": listed(names[one_side])}),
        "duplicates": (repeats and battles.questions_named, {"count": repeats}),
        "unnamed": (not battles.questions_named, {}),
        "questions": (len(table.questions) < size, unit("clustered", "single", table.question)),
        "voters": (battles.people is not None, unit("people", "clustered", who)),
        "few": (few.any(), {"systems": listed(names[few])} | unit("ridge", "single", who)),
        "close": (0 < missed[close] <= CLOSE, {"system": names[close], "missed": missed[close]}),
    }
    common = {"battles": size, "share": share, "of": pairs.battles[close]}
    return {rule: common | values for rule, (has, values) in candidates.items() if has}


def listed(names: Iterable[str]) -> str:
    """List the first names, and count the rest."""
    ordered = sorted(names)
    rest = len(ordered) - LISTED
    return ", ".join(ordered[:LISTED]) + (f" and {rest:,} more" if rest > 0 else "")


def _clustered(table: BattleTable, unit: NDArray[Any]) -> Floats:
    units = replace(table, questions=tuple(map(str, range(int(unit.max()) + 1))), question=unit)
    return half_widths(rate(units, interval=IntervalKind.SANDWICH), units)
