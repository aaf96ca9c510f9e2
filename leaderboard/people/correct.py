"""Prediction-powered ratings and rates: votes on some battles, a judge's verdicts on all.

Let y be a battle's vote share, w the inverse probability of its label (0 without one), and r the judge's
share less the judge's mean for the pair. Votes alone solve Σ w (y − σ(θ)) e = 0, e = e_a − e_b. The sum
Σ (w − 1) r e has mean 0 for any judge, so λ times this sum is subtracted, with the λ of minimal variance.
Rates do the same with means. Errors are summed by question.

Sources: Angelopoulos et al. (2024), "PPI++"; Robins, Rotnitzky & Zhao (1994); docs/method/people.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtrit

from data.errors import NotFoundError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.people.votes import Floats, Ints, Labelled, Vote, label, of_people
from leaderboard.ratings import Anchor, IntervalKind, rate
from leaderboard.ratings.ranks import place_systems
from leaderboard.ratings.result import RatingTable
from leaderboard.ratings.uncertainty.intervals import PairedErrors
from leaderboard.ratings.vocabulary import MEAN, POINTS, Flag
from leaderboard.stats import LEVEL, wilson
from leaderboard.vocabulary import OVERALL

MIN_LEFT = 0.02
"""Minimum share of a residual that remains after a question's leverage on the fit."""
NO_SPREAD = 1e-9
TINY = float(np.finfo(float).tiny)
WORTHWHILE = 1.05
"""Minimum variance ratio for which the judge is useful: one label in twenty."""
MEASURES = {"mean_score": "score_", "win_rate": "", "win_tie_rate": "win_tie_"}
"""Averaged quantities, and the prefixes of their bounds."""
Row = dict[str, Any]


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class _Powered:
    """Errors by question.

    Attributes:
        weight: λ, the weight of the judge.
        parts: (Q, K) each question's part in the error of the corrected estimates.
        votes_only: (Q, K) its part in the error of votes alone.
        units: (K,) effective number of labelled questions.
    """

    weight: float
    parts: Floats
    votes_only: Floats
    units: Floats

    @property
    def reach(self) -> Floats:
        """(K,) half-widths of intervals in standard errors, by Student's t."""
        return np.asarray(stdtrit(np.maximum(self.units - 1, 1.0), (1 + LEVEL) / 2))


def _powered(votes: Floats, judge: Floats, leverage: Floats, spread: Floats) -> _Powered:
    """Tune λ over all columns.

    Each question's part uses the λ of the other questions and is corrected for the question's leverage (Bell
    & McCaffrey, 2002). Degrees of freedom are those of the effective number of questions (Carter, Schnepel &
    Steigerwald, 2017).

    Arguments are (Q, K): each question's part in the error of votes alone and in the judge's on labelled
    battles, its information, and its variance if all battles were alike.
    """
    joint, square = (votes * judge).sum(axis=1), (judge**2).sum(axis=1)
    weight, weights = 0.0, np.zeros(len(votes))
    if square.sum() > 0:
        rest = np.maximum(square.sum() - square, NO_SPREAD * square.sum())
        weight = float(max(joint.sum() / square.sum(), 0.0))
        weights = np.maximum((joint.sum() - joint) / rest, 0.0)
    factor = 1 / np.sqrt(np.maximum(1 - leverage / np.maximum(leverage.sum(axis=0), TINY), MIN_LEFT))
    units = spread.sum(axis=0) ** 2 / np.maximum((spread**2).sum(axis=0), TINY)
    parts = (votes - weights[:, None] * judge) * factor
    return _Powered(weight=weight, parts=parts, votes_only=votes * factor, units=units)


def correct(plan: BattleTable, votes: Sequence[Vote], *, anchor: Anchor | None = None) -> Row:
    """Rate systems as people would, from a judge's verdicts on every battle and votes on some."""
    anchor = None if anchor is None else anchor.single()
    labelled = label(plan, votes)
    judge, people = (
        rate(table, interval=IntervalKind.SANDWICH, anchor=anchor)
        for table in (labelled.table, of_people(labelled))
    )
    points = _points(labelled, people)
    errors, shift = _errors(labelled, points)
    points -= errors.weight * shift
    fixed = None
    if anchor is not None:
        fixed = labelled.table.systems.index(anchor.system)
        if np.isnan(points[fixed]):
            message = f"The votes do not determine a rating of the anchor {anchor.system}."
            raise NotFoundError(message, advice="Collect votes on its battles, or choose another anchor.")
    points += MEAN - np.nanmean(points) if anchor is None else anchor.rating - points[fixed]
    covariance, by_votes = (
        (parts - parts[:, fixed, None] if fixed is not None else parts)
        for parts in (errors.parts, errors.votes_only)
    )
    covariance, by_votes = covariance.T @ covariance, by_votes.T @ by_votes
    rows = _rows(labelled, points, covariance, errors, (judge, people))
    return {
        "ratings": rows,
        **_evidence(labelled, votes, np.trace(by_votes), np.trace(covariance), rows),
        "judge_weight": errors.weight,
        "method": "bradley-terry",
        "interval": "sandwich",
        "bootstrap": None,
        "cluster": "question",
        "anchor": None if anchor is None else {"system": anchor.system, "rating": anchor.rating},
    }


def _points(labelled: Labelled, people: RatingTable) -> Floats:
    """(S,) ratings by votes only, NaN for systems outside the main group."""
    rated = {row.system: row.rating for row in people.ratings if row.rating is not None and not row.component}
    if len(rated) <= 1:
        message = "The votes do not compare any two systems: each has won, or lost, all its battles."
        raise UnrankableError(message, advice="Collect votes on more battles of every system.")
    if len(np.unique(labelled.table.question[labelled.rows])) <= 1:
        message = "All votes are on one question, so they do not generalise to others."
        raise UnrankableError(message, advice="Collect votes on more questions.")
    return np.array([rated.get(name, np.nan) for name in labelled.table.systems])


def _errors(labelled: Labelled, points: Floats) -> tuple[_Powered, Floats]:
    table, rows = labelled.table, labelled.rows
    rated = ~np.isnan(points[table.a] + points[table.b])
    among = rated[rows]
    chosen, weight = rows[among], labelled.weight[among]
    a, b = table.a[chosen], table.b[chosen]
    share = expit((points[a] - points[b]) / POINTS)
    information = weight * share * (1 - share)
    matrix = np.zeros((len(points), len(points)))
    for row, column, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
        np.add.at(matrix, (row, column), sign * information)
    # Rows of systems without a rating are zero, also in the inverse.
    inverse = POINTS * np.linalg.pinv(matrix)
    _, pair = np.unique(table.a.astype(np.int64) * len(points) + table.b, return_inverse=True)
    means = np.bincount(pair, labelled.judge[:, 0]) / np.bincount(pair)
    extra = np.full(len(table), -1.0)
    extra[rows] += labelled.weight
    residual = np.where(rated, extra * (labelled.judge[:, 0] - means[pair]), 0.0)
    votes = _by_question(table, weight * (labelled.people[among, 0] - share), chosen, -1) @ inverse
    judge = _by_question(table, residual, np.arange(len(table)), -1) @ inverse
    leverage, spread = (_by_question(table, values, chosen, 1) for values in (information, weight**2))
    return _powered(votes, judge, leverage, spread), judge.sum(axis=0)


def _by_question(table: BattleTable, values: Floats, rows: Ints, sign: int) -> Floats:
    """(Q, S) sums by question of values for each battle's first system, and `sign` times for its second."""
    shape = (len(table.questions), len(table.systems))
    place = table.question[rows].astype(np.int64) * shape[1]
    first, second = (
        np.bincount(place + end[rows], values, shape[0] * shape[1]).reshape(shape)
        for end in (table.a, table.b)
    )
    return np.asarray(first + sign * second, dtype=np.float64)


def _rows(
    labelled: Labelled,
    points: Floats,
    covariance: Floats,
    errors: _Powered,
    tables: tuple[RatingTable, RatingTable],
) -> list[Row]:
    judge, people = ({row.system: row for row in table.ratings} for table in tables)
    names, count = labelled.table.systems, len(points)
    flags = {name: people[name].flags if name in people else () for name in names}
    withheld = np.array([Flag.NO_INTERVAL in flags[name] for name in names])
    se = np.where(withheld | np.isnan(points), np.nan, np.sqrt(np.diag(covariance)))
    ends = (points - errors.reach * se, points + errors.reach * se)
    paired = PairedErrors.of(points, covariance, np.minimum(errors.units[:, None], errors.units))
    places = place_systems(points, se, ends, np.zeros(count, dtype=np.int64), paired)
    votes = np.bincount(labelled.table.a[labelled.rows], minlength=count)
    votes += np.bincount(labelled.table.b[labelled.rows], minlength=count)
    return [
        {
            "system": names[code],
            **_estimate("", "rating", points[code], ends[0][code], ends[1][code]),
            "se": _number(se[code]),
            "rank": int(places.rank[code]),
            "rank_lower": int(places.lower[code]),
            "rank_upper": int(places.upper[code]),
            **{
                f"{by}_{field}": getattr(rated.get(names[code]), field, None)
                for by, rated in (("judge", judge), ("people", people))
                for field in ("rating", "lower", "upper")
            },
            "labelled_battles": int(votes[code]),
            "flags": [flag.value for flag in flags[names[code]]],
        }
        for code in places.order.tolist()
    ]


def correct_rates(
    plan: BattleTable, votes: Sequence[Vote], *, reference: str | None = None, by_domain: bool = True
) -> Row:
    """Estimate win and win+tie rates as people would give them, against one opponent or all."""
    labelled = label(plan, votes)
    systems = labelled.table.systems
    if reference is not None and reference not in systems:
        message = f"No battle involves the reference {reference}."
        raise NotFoundError(message, advice=f"The systems are {', '.join(systems[:20])}.")
    rates = list(_rates(labelled, reference, by_domain=by_domain and labelled.table.domains != ("",)))
    overall = [(row, variances) for row, variances in rates if row["domain"] == OVERALL]
    best = {row["system"]: -(row["mean_score"] or 0.0) for row, _ in overall}
    by_votes, corrected = np.sum([variances for _, variances in overall], axis=0)
    rows = sorted((row for row, _ in rates), key=lambda row: (best[row["system"]], row["system"]))
    return {"rows": rows, "reference": reference, **_evidence(labelled, votes, by_votes, corrected, rows)}


def _rates(
    labelled: Labelled, reference: str | None, *, by_domain: bool
) -> Iterator[tuple[Row, tuple[float, float]]]:
    table = labelled.table
    opponent = -1 if reference is None else table.systems.index(reference)
    counted = (table.a == opponent) | (table.b == opponent) | (reference is None)
    for system, name in enumerate(table.systems):
        own = counted & ((table.a == system) | (table.b == system))
        for domain in (-1, *range(len(table.domains) if by_domain else 0)):
            battles = np.flatnonzero(own & ((table.domain == domain) | (domain < 0)))
            if system == opponent or not len(battles):
                continue
            voted = np.isin(labelled.rows, battles)
            row: Row = {
                "system": name,
                "domain": OVERALL if domain < 0 else table.domains[domain],
                "battles": len(battles),
                "labelled_battles": int(voted.sum()),
            }
            variances = (0.0, 0.0)
            for column, measure in enumerate(MEASURES):
                judge = _seen_from(labelled.judge[battles], table.a[battles] == system)[:, column]
                people = _seen_from(labelled.people[voted], table.a[labelled.rows[voted]] == system)
                at = np.searchsorted(battles, labelled.rows[voted])
                means, both = _mean(
                    table.question[battles], judge, at, people[:, column], labelled.weight[voted]
                )
                variances = both if measure == "mean_score" else variances
                for by, mean in zip(("", "judge_", "people_"), means, strict=True):
                    row |= _estimate(by, measure, *mean)
            yield row, variances


def _seen_from(measures: Floats, is_first: NDArray[np.bool_]) -> Floats:
    """(n, 3) measures with the system as the first side."""
    return np.asarray(np.where(is_first[:, None], measures, 1 - measures[:, [0, 2, 1]]))


Numbers = tuple[float, float, float]


def _mean(
    question: Ints, judge: Floats, rows: Ints, people: Floats, weight: Floats
) -> tuple[tuple[Numbers, Numbers, Numbers], tuple[float, float]]:
    """Return the means of corrected shares, judge and votes alone, and variances with and without the judge.

    `question` and `judge` are of all battles; `rows`, `people` and `weight` (inverse probabilities) of the
    labelled battles.
    """
    _, question = np.unique(question, return_inverse=True)
    count, judge_mean = int(question.max()) + 1, float(judge.mean())
    verdicts = np.bincount(question, judge - judge_mean)[:, None] / len(judge)
    by_judge = _bounded(judge_mean, verdicts, float(stdtrit(max(count - 1, 1), (1 + LEVEL) / 2)), count)
    units = len(np.unique(question[rows]))
    if units <= 1:
        only = (float(np.average(people, weights=weight)) if len(rows) else np.nan, np.nan, np.nan)
        return (only, by_judge, only), (0.0, 0.0)
    total, judged = weight.sum(), judge[rows]
    people_mean, labelled_mean = float(weight @ people / total), float(weight @ judged / total)
    sums = (weight * (people - people_mean), weight * (judged - labelled_mean), weight, weight**2)
    votes, part, leverage, spread = (
        np.bincount(question[rows], values, count)[:, None] / total for values in sums
    )
    errors = _powered(votes, part - verdicts, leverage, spread)
    reach = float(errors.reach[0])
    corrected = _bounded(
        people_mean - errors.weight * (labelled_mean - judge_mean), errors.parts, reach, units
    )
    by_people = _bounded(people_mean, errors.votes_only, reach, units)
    variances = (float((errors.votes_only**2).sum()), float((errors.parts**2).sum()))
    return (corrected, by_judge, by_people), variances


def _bounded(value: float, parts: Floats, reach: float, questions: int) -> Numbers:
    """Return a share with its interval: Wilson's if all questions agree, none for a single question."""
    value = min(max(value, 0.0), 1.0)
    if questions <= 1:
        return value, np.nan, np.nan
    half = reach * float(np.sqrt((parts**2).sum()))
    exact = wilson(value, questions) if half < NO_SPREAD else None
    return (
        (value, exact.lower, exact.upper)
        if exact
        else (value, max(value - half, 0.0), min(value + half, 1.0))
    )


def _estimate(by: str, name: str, value: float, lower: float, upper: float) -> Row:
    ends = MEASURES.get(name, "")
    fields = {f"{by}{name}": value, f"{by}{ends}lower": lower, f"{by}{ends}upper": upper}
    return {field: _number(number) for field, number in fields.items()}


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _evidence(
    labelled: Labelled, votes: Sequence[Vote], by_votes: float, corrected: float, rows: Sequence[Row]
) -> Mapping[str, Any]:
    """Return the counts behind a correction; `gain` is the variance of votes alone over the corrected one."""
    gain = float(by_votes / corrected) if corrected > 0 else None
    advice = "The judge adds no information: intervals from the votes alone are as narrow."
    questions = len(np.unique(labelled.table.question[labelled.rows]))
    if gain is None and any(row["lower"] is not None for row in rows):
        advice = f"All votes agree: intervals are Wilson's, over {questions:,} questions, without the judge."
    elif gain is None:
        advice = "There are too few votes for intervals, or all agree; label more battles of every system."
    elif gain >= WORTHWHILE:
        advice = f"The judge helps: votes alone would need {gain:.2f} times as many labels."
    return {
        "battles": len(labelled.table),
        "labelled_battles": len(labelled.rows),
        "labelled_questions": questions,
        "votes": len(votes),
        "annotators": len({vote.annotator for vote in votes if vote.annotator}) or None,
        "correlation": _correlation(labelled),
        "gain": gain,
        "advice": advice,
    }


def _correlation(labelled: Labelled) -> float | None:
    """Return the correlation of the judge's and people's shares within pairs of systems, if both vary."""
    table, rows, weight = labelled.table, labelled.rows, labelled.weight
    _, pair = np.unique(
        table.a[rows].astype(np.int64) * len(table.systems) + table.b[rows], return_inverse=True
    )
    judge, people = (
        values - (np.bincount(pair, weight * values) / np.bincount(pair, weight))[pair]
        for values in (labelled.judge[rows, 0], labelled.people[:, 0])
    )
    product = float((weight * judge**2).sum() * (weight * people**2).sum())
    return float((weight * judge * people).sum() / np.sqrt(product)) if product > NO_SPREAD**2 else None
