"""Compare the ratings of one file by several tools, with a reason for every difference."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from data.errors import UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.peers.battles import WrittenBattles
from leaderboard.peers.facts import facts, half_widths, rules
from leaderboard.peers.tools import PEERS, Peer, Rules
from leaderboard.ratings import Cluster, IntervalKind, RatingTable, rate

SAME_POINTS, SAME_WIDTH = 0.5, 0.1
"""Tolerance for ratings in points, and for intervals as a share of their width."""
ENDS = ("rating", "lower", "upper")
HERE = "here"
UNEXPLAINED: Rules = {"unexplained": {}}
Bools = NDArray[np.bool_]
Step = tuple[pd.DataFrame, Rules, Rules]
"""Intermediate board between this project's and a tool's, and the rules that move ratings and intervals."""


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Comparison:
    """Boards of a file by tool, `here` first: a system's `rating`, `lower`, `upper`, `rank`, `reasons`.

    `reasons` are numbers from 1; versions are None for tools that are not installed.
    """

    boards: Mapping[str, pd.DataFrame]
    versions: Mapping[str, str | None]
    reasons: Sequence[str]

    def as_json(self) -> dict[str, Any]:
        """Return the object that `arena battles compare-tools --json` prints."""
        plain = {name: board.astype(object).where(board.notna(), None) for name, board in self.boards.items()}
        boards = {name: board.to_dict("index") for name, board in plain.items()}
        return {"boards": boards, "versions": self.versions, "reasons": self.reasons}


def compare_tools(battles: WrittenBattles, *, seed: int = 0, peers: Sequence[Peer] = PEERS) -> Comparison:
    """Rate battles here and with each installed tool.

    Scores become points, 400 for odds of ten to one; then each board is shifted to the same mean over the
    systems rated here.
    """
    table = rate(battles.table, seed=seed)
    here = _frame(table).assign(rank=[rating.rank for rating in table.ratings])
    main = [rating.system for rating in table.ratings if rating.component == 0]
    boards, reasons = {HERE: here}, dict[str, int]()
    for peer in (peer for peer in peers if peer.version is not None):
        steps = []
        for board, *moving in _steps(peer, battles, seed):
            shift = (here["rating"] - board["rating"])[main].mean()
            placed = board.reindex(index=here.index, columns=list(ENDS)).astype(float)
            steps.append((placed + np.nan_to_num(shift), *moving))
        own = steps[-1][0]
        own["rank"] = own["rating"].round(6).rank(ascending=False, method="min").astype("Int64")
        boards[peer.name] = own.assign(reasons=_reasons(peer, here, steps, reasons))
    versions = {peer.name: peer.version for peer in peers}
    return Comparison(boards=boards, versions=versions, reasons=list(reasons))


def _frame(table: RatingTable) -> pd.DataFrame:
    cells = {rating.system: [getattr(rating, name) for name in ENDS] for rating in table.ratings}
    return pd.DataFrame.from_dict(cells, orient="index", columns=list(ENDS), dtype=float)


def _steps(peer: Peer, battles: WrittenBattles, seed: int) -> Iterator[Step]:
    """Apply the rules of a tool one by one to this project's fit; the last board is the tool's own."""

    def rated(rule: Rules, table: BattleTable, cluster: Cluster = Cluster.NONE, ridge: float = 0.0) -> Step:
        ratings = rate(table, interval=peer.interval, cluster=cluster, seed=seed)
        board = _frame(ratings)
        if peer.interval is IntervalKind.SANDWICH:
            half = pd.Series(half_widths(ratings, table, ridge), index=list(table.systems))
            board = board.assign(lower=board["rating"] - half, upper=board["rating"] + half)
        return board, rule, rule

    known, read = facts(battles), battles
    try:
        if peer.interval is IntervalKind.SANDWICH:
            yield rated({"interval": {}}, battles.table, Cluster.QUESTION)
        yield rated({"questions": known.get("questions", {})}, battles.table)
        for rule, read in peer.readings(battles):
            yield rated(rule, read.table)
        known = facts(read)
        if peer.ridge and "few" in known:
            yield rated({"few": known["few"]}, read.table, ridge=peer.ridge * len(read.table))
    except UnrankableError:
        known = {}
    own: Rules
    try:
        with warnings.catch_warnings(action="ignore"):
            board, own = peer.rate(battles, seed)
    except Exception as error:  # noqa: BLE001 - a tool may raise anything, which is then its result
        board = pd.DataFrame({"rating": []}, dtype=float)
        own = {"failed": {"error": f"{type(error).__name__}: {error}"}}
    missing = {rule: known[rule] for rule in ("undefeated", "apart") if rule in known}
    failed = {} if missing else {rule: values for rule, values in own.items() if rule == "failed"}
    widening = missing | {rule: values for rule, values in own.items() if rule != "failed"} | failed
    yield board, missing or failed or UNEXPLAINED, widening or UNEXPLAINED


@np.errstate(all="ignore")
def _differ(*boards: pd.DataFrame, part: float = 1.0) -> tuple[Bools, Bools]:
    """(S,) whether ratings and intervals differ by more than `part` of the tolerance."""
    pairs = [(board["rating"].to_numpy(), (board["upper"] - board["lower"]).to_numpy()) for board in boards]
    (rating, width), (rating_2, width_2) = pairs
    gap, ratio = np.abs(rating - rating_2), np.abs(np.log(width / width_2))
    lost, unbound = (np.isnan(a) != np.isnan(b) for a, b in zip(*pairs, strict=True))
    return (gap > part * SAME_POINTS) | lost, (ratio > part * SAME_WIDTH) | unbound


def _reasons(
    peer: Peer, here: pd.DataFrame, steps: Sequence[Step], numbers: dict[str, int]
) -> list[tuple[int, ...]]:
    """Return the reasons for each system's differences, by number: the rules whose step changes it."""
    texts, boards = rules()["rules"], [here, *(board for board, *_ in steps)]
    changes = [_differ(*pair, part=0.5) for pair in pairwise(boards[:-1])]
    changes.append(_differ(*boards[-2:]))
    rating, width = _differ(here, boards[-1])
    moved = here["rank"].to_numpy() != boards[-1]["rank"].to_numpy()
    bounded = boards[-1]["lower"].notna().to_numpy()
    reasons: list[tuple[int, ...]] = []
    for system in range(len(here)):
        active: dict[str, Mapping[str, object]] = {}
        for (rates, widths), (board, moving, widening) in zip(changes, steps, strict=True):
            last = board is boards[-1]
            anywhere = rates.any() or (last and moving is not UNEXPLAINED)
            if (rating[system] and rates[system]) or (moved[system] and anywhere):
                active |= moving
            if width[system] and widths[system] and (bounded[system] or last):
                active |= widening
        differs = rating[system] or width[system] or moved[system]
        lines = [
            f"{peer.name} {peer.version}: {texts[rule][peer.name].format_map(values)}"
            for rule, values in (active or (steps[-1][1] if differs else {})).items()
        ]
        reasons.append(tuple(sorted(numbers.setdefault(line, len(numbers) + 1) for line in lines)))
    return reasons
