"""Ratings from several judges at once: of systems, of the judges themselves, and of panels that they form.

The model and its gauge are in `models/judge_aware.py`; docs/method/judge-error.md has the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from data.errors import InputError, NotFoundError, UnrankableError
from data.records.plain import to_json
from leaderboard.battles import BattleTable, JudgeColumn, Winner
from leaderboard.ratings.assemble import assemble
from leaderboard.ratings.counts import Floats, Ints, count_pairs
from leaderboard.ratings.estimate import restrict, with_reach
from leaderboard.ratings.models.judge_aware import Rows, climb, count_cells, joint_covariance
from leaderboard.ratings.models.newton import SPARSE_ABOVE
from leaderboard.ratings.rate import anchor_codes, groups_of, rate, usable
from leaderboard.ratings.result import RatingTable, Settings
from leaderboard.ratings.threads import one_thread
from leaderboard.ratings.uncertainty.carrying import carrying_units
from leaderboard.ratings.uncertainty.paired_errors import freedom_of, t_quantile
from leaderboard.ratings.vocabulary import Cluster, IntervalKind, Method

LEAST_JUDGES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTrust:
    """What the verdicts say of one judge.

    Attributes:
        name: The judge.
        discrimination: γ: how many times as sharply it tells systems apart as the verdicts do on average;
            None where it judged nothing among the rated systems.
        se: Its standard error.
        lower: Lower end of the 95 % interval.
        upper: Upper end.
        weight: Its share of a panel's votes, proportional to a γ above 0; the weights add up to 1.
        battles: Verdicts of it that the fit depends on.
    """

    name: str
    discrimination: float | None
    se: float | None
    lower: float | None
    upper: float | None
    weight: float
    battles: int

    def as_json(self) -> dict[str, object]:
        """An entry of `judges` in `arena battles rate --json`."""
        return to_json(self)


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class PanelRatings:
    """What a panel of the judges makes of the battles that at least two of them decided.

    Attributes:
        battles: How many those are.
        single: Battles that one judge alone decided, left out.
        plain: Ratings where every judge has one vote; None where they do not exist.
        weighted: Ratings where votes weigh as `JudgeTrust.weight` says; None likewise.
        differing: Battles that the two settle differently.
    """

    battles: int
    single: int
    plain: RatingTable | None
    weighted: RatingTable | None
    differing: int

    def as_json(self) -> dict[str, object]:
        """`panel` of `arena battles rate --method judge-aware --json`."""
        tables = {"plain": self.plain, "weighted": self.weighted}
        ratings = {
            kind: None if table is None else [rating.as_json() for rating in table.ratings]
            for kind, table in tables.items()
        }
        return {
            "battles": self.battles,
            "single": self.single,
            "differing": self.differing,
            **ratings,
        }


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class JudgeAwareRatings:
    """Ratings that know their judges.

    Attributes:
        ratings: The ratings, as an average verdict tells systems apart.
        judges: The judges, sharpest first.
        panel: What they come to as a panel.
        unnamed: Battles left out, since they name no judge.
    """

    ratings: RatingTable
    judges: tuple[JudgeTrust, ...]
    panel: PanelRatings
    unnamed: int = 0

    def as_json(self) -> dict[str, object]:
        """What `arena battles rate --method judge-aware --json` prints."""
        judges = [judge.as_json() for judge in self.judges]
        return {**self.ratings.as_json(), "judges": judges, "panel": self.panel.as_json()}


def rate_with_judges(
    battles: BattleTable, judges: JudgeColumn, settings: Settings | None = None
) -> JudgeAwareRatings:
    """Rate systems and judges together; the intervals are sandwiches over all parameters at once.

    Args:
        battles: Verdicts, one a row.
        judges: Who gave each.
        settings: Anchor and cluster are used; intervals are by sandwich whatever is asked for.

    Raises:
        InputError: Fewer than two judges, or too many systems.
        UnrankableError: Ratings or discriminations have no finite estimate.
        NotFoundError: The anchor took part in no battle.
    """
    chosen = Settings() if settings is None else settings
    used = replace(
        chosen, method=Method.JUDGE_AWARE, interval=IntervalKind.SANDWICH, bootstrap=None, prior=None
    )
    counted = judges.code >= 0 if battles.weight is None else (judges.code >= 0) & (battles.weight > 0)
    table = usable(battles.select(counted))
    code = judges.code[counted]
    if len(np.unique(code)) < LEAST_JUDGES:
        message = f"The battles name {len(np.unique(code))} judge, so judges cannot be compared."
        raise InputError(message, advice="Give the rows of several judges, named in a column `judge`.")
    pairs = count_pairs(table)
    anchor = anchor_codes(table, used.anchor)
    groups = groups_of(table, pairs, used)
    members = np.flatnonzero(groups.label == 0)
    if not LEAST_JUDGES <= len(members) <= SPARSE_ABOVE:
        message = f"Judges are rated with 2 to {SPARSE_ABOVE} comparable systems; here are {len(members)}."
        raise UnrankableError(message, advice="Judge more battles, or rate fewer systems at a time.")
    inner, _ = pairs.among(members)
    rows = Rows.of(table, code.astype(np.int64), members)
    with one_thread():
        cells = count_cells(rows, inner, len(judges.names))
        point = climb(cells, inner)
        covariance = joint_covariance(rows, cells, point, used)
    reach = float(
        t_quantile(freedom_of(rows.questions if used.cluster is Cluster.QUESTION else len(rows.table)))
    )
    place = None if anchor is None else np.searchsorted(members, anchor)
    local = restrict(table, members)
    carrying = carrying_units(local, inner, used.cluster, place)
    estimate = with_reach(point, covariance, members, place, used, carrying)
    trusts = _judges(judges.names, rows, point[len(members) :], covariance[len(members) :], reach)
    return JudgeAwareRatings(
        ratings=assemble(table, pairs, groups, [estimate], used),
        judges=tuple(sorted(trusts, key=lambda trust: (-(trust.discrimination or 0.0), trust.name))),
        panel=_rate_panels(battles, judges, np.array([trust.weight for trust in trusts]), chosen),
        unnamed=int((judges.code < 0).sum()),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Ballots:
    """One vote of each judge on each battle; several of one judge (orders, repeats) count as their mean.

    Attributes:
        table: One row a battle, the lower system code first; winners are not settled.
        battle: (V,) row of the battle of each vote.
        judge: (V,) code of its judge.
        share: (V,) share of the win that it gives the first-named system.
        judges: (rows,) how many judges voted on each battle.
    """

    table: BattleTable
    battle: Ints
    judge: Ints
    share: Floats
    judges: Ints

    @classmethod
    def of(cls, battles: BattleTable, judges: JudgeColumn) -> Ballots:
        """Gather the votes of rows that name a judge."""
        size, count = len(battles.systems), len(judges.names)
        named = np.flatnonzero(judges.code >= 0)
        low, high = np.minimum(battles.a, battles.b)[named], np.maximum(battles.a, battles.b)[named]
        share = np.where(battles.a < battles.b, battles.share, 1 - battles.share)[named]
        key = (battles.question[named].astype(np.int64) * size + low) * size + high
        _, first, of_row = np.unique(key, return_index=True, return_inverse=True)
        cell, of_cell = np.unique(of_row * count + judges.code[named], return_inverse=True)
        battle, judge = np.divmod(cell, count)
        table = replace(battles.select(named[first]), a=low[first], b=high[first], score=None)
        mean = np.bincount(of_cell, share) / np.bincount(of_cell)
        return cls(
            table=table,
            battle=battle,
            judge=judge,
            share=mean,
            judges=np.bincount(battle, minlength=len(table)),
        )

    def settled(self, weights: Floats) -> BattleTable:
        """The battles that at least two judges decided, each as most of the weight has it; the like is a tie.

        Args:
            weights: (K,) votes of each judge, 0 or more.
        """
        sides = (self.share > 1 / 2, self.share < 1 / 2, self.share == 1 / 2)
        votes = np.stack(
            [np.bincount(self.battle, weights[self.judge] * side, len(self.table)) for side in sides]
        )
        best = np.isclose(votes, votes.max(axis=0), rtol=1e-9, atol=0.0)
        winner = np.where(best.sum(axis=0) > 1, int(Winner.TIE), votes.argmax(axis=0)).astype(np.int8)
        return replace(self.table, winner=winner).select(self.judges >= LEAST_JUDGES)


def _rate_panels(
    battles: BattleTable, judges: JudgeColumn, weights: Floats, settings: Settings
) -> PanelRatings:
    ballots = Ballots.of(battles, judges)
    tables = [ballots.settled(votes) for votes in (np.ones(len(weights)), weights)]
    plain, weighted = (_rated(table, settings) for table in tables)
    return PanelRatings(
        battles=len(tables[0]),
        single=int((ballots.judges < LEAST_JUDGES).sum()),
        plain=plain,
        weighted=weighted,
        differing=int((tables[0].winner != tables[1].winner).sum()),
    )


def _rated(table: BattleTable, settings: Settings) -> RatingTable | None:
    try:
        return rate(
            table,
            interval=IntervalKind.SANDWICH,
            cluster=settings.cluster,
            anchor=settings.anchor,
            seed=settings.seed,
        )
    except (UnrankableError, NotFoundError):
        # The battles of the panel may not connect what all verdicts do.
        return None


def _judges(
    names: tuple[str, ...], rows: Rows, sharp: Floats, covariance: Floats, reach: float
) -> tuple[JudgeTrust, ...]:
    size = len(sharp)
    errors = np.sqrt(np.maximum(np.diag(covariance[:, -size:]), 0.0))
    battles = np.bincount(rows.judge, minlength=size)
    votes = np.where(battles > 0, np.maximum(sharp, 0.0), 0.0)
    votes /= votes.sum()
    trusts = []
    for code, name in enumerate(names):
        value, se = float(sharp[code]), float(errors[code])
        measured = (value, se, value - reach * se, value + reach * se) if battles[code] else (None,) * 4
        trusts.append(
            JudgeTrust(
                name=name,
                discrimination=measured[0],
                se=measured[1],
                lower=measured[2],
                upper=measured[3],
                weight=float(votes[code]),
                battles=int(battles[code]),
            )
        )
    return tuple(trusts)
