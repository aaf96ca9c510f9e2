"""Agreement on pairs of answers: a judge against annotators, or against another judge."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from data.errors import RecordError
from data.models import Preference
from leaderboard.agreement import coefficients
from leaderboard.agreement.coefficients import (
    Codes,
    Estimate,
    Resampling,
    bounds_of,
    clustered,
    estimate,
    krippendorff_alpha,
    weight_batches,
)
from leaderboard.stats import percentile_interval

RANKED_CELLS = 500_000
"""Maximum number of draws × pairs that are ranked at once; several arrays have this size."""
Floats = NDArray[np.float64]
_Statistic = Callable[[Floats], Floats]

_CLASS: Mapping[Preference, int] = MappingProxyType({Preference.A: 0, Preference.TIE: 1, Preference.B: 2})
_MARGIN: Mapping[Preference, float] = MappingProxyType(
    {Preference.A: -1.0, Preference.TIE: 0.0, Preference.B: 1.0}
)
ROUNDING = 1e-9
LABEL_LIMIT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationPair:
    """Pair of answers with people's labels and the judge's verdict.

    Attributes:
        question: Unit of resampling.
        labels: One per person, −2…2, positive if b is better.
        preference: Judge's verdict; None if it was unreadable, refused or failed.
        margin: Judge's signed margin, −1…1, positive if b is better; None if unknown.
    """

    id: str
    domain: str
    question: str
    labels: tuple[float, ...]
    preference: Preference | None
    margin: float | None = None

    def __post_init__(self) -> None:
        if not self.labels or not all(abs(label) <= LABEL_LIMIT for label in self.labels):
            message = f"The pair {self.id} has the labels {self.labels}."
            raise RecordError(message, advice="Each pair needs at least one label, between -2 and 2.")

    @property
    def people(self) -> Preference:
        """Majority of the labels."""
        return majority(self.labels)

    @property
    def mean_label(self) -> float:
        """Mean of the labels, −2…2, positive if b is better."""
        return sum(self.labels) / len(self.labels)


def majority(labels: Sequence[float]) -> Preference:
    """Return the side that more than half of the labels prefer, else a tie.

    Source: Han et al. (2024), section 4.1 and appendix A.6.
    """
    for side, chosen in ((Preference.A, -1), (Preference.B, 1)):
        if 2 * sum(label * chosen > ROUNDING for label in labels) > len(labels):
            return side
    return Preference.TIE


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of a judge with people, or with another judge.

    Attributes:
        pairs: All pairs, including pairs without a verdict.
        unreadable: Pairs without a verdict, which are excluded below.
        decided: Pairs with a verdict on which most people prefer one side.
        decisive_accuracy: Share of the decided pairs on which the judge agrees; a tie is a miss.
        alpha: Krippendorff's nominal alpha of the judge and all annotators.
        annotator_alpha: Alpha of the annotators only: the standard for a judge.
        pearson: Correlation of the judge's margin with the mean label.
        mean_label: Mean label over all pairs; None without pairs.
    """

    pairs: int
    unreadable: int
    decided: int
    mean_label: float | None
    decisive_accuracy: Estimate
    accuracy: Estimate
    kappa: Estimate
    alpha: Estimate
    annotator_alpha: Estimate
    pearson: Estimate
    spearman: Estimate
    tie_rate: Estimate

    def estimates(self) -> dict[str, Estimate]:
        """Return the estimates by name, in print order."""
        return {name: getattr(self, name) for name in _ESTIMATES}

    def as_json(self) -> dict[str, object]:
        """Return the fields of `arena judges calibrate` (docs/json.md)."""
        estimates = self.estimates()
        return {
            "pairs": self.pairs,
            **{name: estimates[name].value for name in _ESTIMATES},
            "unreadable": self.unreadable,
            "decided": self.decided,
            "mean_label": self.mean_label,
            "intervals": {name: bounds_of(estimates[name]) for name in _ESTIMATES},
        }


_ESTIMATES = (
    "decisive_accuracy",
    "accuracy",
    "kappa",
    "pearson",
    "spearman",
    "tie_rate",
    "alpha",
    "annotator_alpha",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Agreement of a judge with annotators, overall and by domain."""

    overall: Agreement
    by_domain: Mapping[str, Agreement]

    def as_json(self) -> dict[str, object]:
        """Return the object that `arena judges calibrate --json` prints."""
        domains = {domain: agreement.as_json() for domain, agreement in self.by_domain.items()}
        return {**self.overall.as_json(), "by_domain": domains}


def calibrate(pairs: Sequence[CalibrationPair], resampling: Resampling | None = None) -> Calibration:
    """Compare a judge with annotators.

    Labels of a pair are merged by `majority`; only the correlations use the mean label, with the judge's
    margin or, without one, −1, 0 or 1. Domains are in order of first appearance.
    """
    plan = resampling or Resampling()
    domains: dict[str, list[CalibrationPair]] = {}
    for pair in pairs:
        domains.setdefault(pair.domain, []).append(pair)
    return Calibration(
        overall=_agreement(pairs, plan),
        by_domain=MappingProxyType({name: _agreement(part, plan) for name, part in domains.items()}),
    )


def _agreement(pairs: Sequence[CalibrationPair], resampling: Resampling) -> Agreement:
    read = [pair for pair in pairs if pair.preference is not None]
    judge = np.array([_CLASS[pair.preference] for pair in read if pair.preference is not None], dtype=int)
    label = np.array([pair.mean_label for pair in read])
    people = np.array([_CLASS[pair.people] for pair in read], dtype=np.int64)
    margin = np.array([_margin(pair) for pair in read])
    codes = {name: code for code, name in enumerate(dict.fromkeys(pair.question for pair in read))}
    questions = np.array([codes[pair.question] for pair in read], dtype=np.int64)
    cells = np.zeros((len(read), coefficients.CLASSES**2))
    cells[np.arange(len(read)), judge * coefficients.CLASSES + people] = 1.0

    def of_cells(statistic: _Statistic) -> Estimate:
        return clustered(statistic, cells, questions, resampling) if read else Estimate(None)

    votes = _votes(read, judge)
    return Agreement(
        pairs=len(pairs),
        unreadable=len(pairs) - len(read),
        decided=int((people != coefficients.TIE).sum()),
        mean_label=fmean(pair.mean_label for pair in pairs) if pairs else None,
        decisive_accuracy=of_cells(coefficients.decisive_accuracy),
        accuracy=of_cells(coefficients.accuracy),
        kappa=of_cells(coefficients.kappa),
        alpha=krippendorff_alpha(votes, questions=questions, resampling=resampling),
        annotator_alpha=krippendorff_alpha(votes[:, 1:], questions=questions, resampling=resampling),
        pearson=_pearson(margin, label, questions, resampling),
        spearman=_spearman(margin, label, questions, resampling),
        tie_rate=of_cells(coefficients.tie_rate),
    )


def _sides(labels: Floats) -> Codes:
    return (np.where(np.abs(labels) < ROUNDING, 0, np.sign(labels)) + 1).astype(np.int64)


def _margin(pair: CalibrationPair) -> float:
    if pair.margin is not None:
        return pair.margin
    return _MARGIN[pair.preference or Preference.TIE]


def _votes(pairs: Sequence[CalibrationPair], judge: Codes) -> Floats:
    """(pairs, 1 + annotators) classes, the judge's first, NaN if fewer people labelled a pair."""
    people = max((len(pair.labels) for pair in pairs), default=1)
    votes = np.full((len(pairs), 1 + people), np.nan)
    votes[:, 0] = judge
    for index, pair in enumerate(pairs):
        votes[index, 1 : 1 + len(pair.labels)] = _sides(np.array(pair.labels))
    return votes


def _pearson(x: Floats, y: Floats, questions: Codes, resampling: Resampling) -> Estimate:
    if not len(x):
        return Estimate(None)
    return clustered(coefficients.pearson, coefficients.moments(x, y), questions, resampling)


def _spearman(x: Floats, y: Floats, questions: Codes, resampling: Resampling) -> Estimate:
    if not len(x):
        return Estimate(None)
    value = float(coefficients.spearman(x, y, np.ones(len(x))))
    number = int(questions.max()) + 1
    draws = [
        coefficients.spearman(x, y, part[:, questions])
        for batch in weight_batches(number, resampling)
        for part in np.array_split(batch, 1 + batch.shape[0] * len(questions) // RANKED_CELLS)
    ]
    interval = percentile_interval(np.concatenate(draws)) if number > 1 and draws else None
    return estimate(value, interval)
