"""Models of a single battle: probabilities of its outcome by rating gap and propensity to tie."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leaderboard.ratings.counts import HIGH, LOW, TIE
from leaderboard.ratings.vocabulary import Method

Floats = NDArray[np.float64]

# Derivatives outside the domain of a tie parameter are taken at its edge; the step is then halved.
MIN_TIE = 1e-9


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Terms:
    """Log-likelihood of pairs, its first derivatives and minus its second ones; arrays are (P,) or (P, B)."""

    value: Floats
    gap: Floats
    gap_gap: Floats
    tie: Floats | None = None
    gap_tie: Floats | None = None
    tie_tie: Floats | None = None


class PairModel(Protocol):
    """Model of one battle, concave in the gap (log-odds, low minus high) and its tie parameter."""

    @property
    def ties(self) -> bool:
        """True if the model has a tie parameter."""

    def condense(self, outcomes: Floats) -> tuple[Floats, ...]:
        """Reduce (3, P, …) outcome counts to the sufficient statistics of the likelihood."""

    def terms(self, gap: Floats, tie: Floats | float, data: tuple[Floats, ...]) -> Terms:
        """Return log-likelihood and derivatives at a gap and a tie parameter."""

    def slope(
        self, gap: Floats, tie: Floats | float, data: tuple[Floats, ...]
    ) -> tuple[Floats, Floats | None]:
        """Return only the first derivatives."""

    def outcome_scores(self, gap: Floats, tie: float) -> tuple[Floats, Floats | None]:
        """(3, P) derivatives of one battle's log-likelihood for each outcome."""

    def start(self, tied: float) -> float:
        """Return the initial tie parameter for a share of ties strictly between 0 and 1."""

    def ratio(self, tie: float) -> float:
        """Return the tie parameter on the scale of its source."""


def sigmoid(x: Floats) -> Floats:
    """1 / (1 + e^−x) without overflow, at full precision in both tails."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1.0, small) / (1.0 + small))


class BradleyTerry:
    """P(low wins) = σ(gap); a tie is half a win each way.

    Source: Bradley & Terry (1952); ties as in Chiang et al. (2024), section 4.
    """

    ties = False

    def condense(self, outcomes: Floats) -> tuple[Floats, ...]:
        """Return wins of the low end, and battles."""
        return outcomes[LOW] + outcomes[TIE] / 2, outcomes[LOW] + outcomes[HIGH] + outcomes[TIE]

    def terms(self, gap: Floats, tie: Floats | float, data: tuple[Floats, ...]) -> Terms:  # noqa: ARG002 - no tie parameter
        """See `PairModel.terms`."""
        won, total = data
        share = sigmoid(gap)
        value = won * gap - total * np.logaddexp(0, gap)
        return Terms(value=value, gap=won - total * share, gap_gap=total * share * (1 - share))

    def slope(self, gap: Floats, tie: Floats | float, data: tuple[Floats, ...]) -> tuple[Floats, None]:  # noqa: ARG002 - no tie parameter
        """See `PairModel.slope`."""
        won, total = data
        share = np.exp(np.minimum(-gap, 700))
        share += 1
        np.divide(total, share, out=share)
        return np.subtract(won, share, out=share), None

    def outcome_scores(self, gap: Floats, tie: float) -> tuple[Floats, None]:  # noqa: ARG002 - no tie parameter
        """See `PairModel.outcome_scores`."""
        share = sigmoid(gap)
        return np.stack([1 - share, -share, 1 / 2 - share]), None

    def start(self, tied: float) -> float:  # noqa: ARG002 - no tie parameter
        """Return a value without meaning: the model has no tie parameter."""
        return 0.0

    def ratio(self, tie: float) -> float:
        """Return a value without meaning: the model has no tie parameter."""
        return tie


class Davidson:
    """P(low) : P(high) : P(tie) = e^{gap/2} : e^{−gap/2} : ν; the tie parameter is log ν.

    Source: Davidson (1970), equations 2.3–2.5.
    """

    ties = True

    def condense(self, outcomes: Floats) -> tuple[Floats, ...]:
        """Return half the wins of low over high, ties, and battles."""
        total = outcomes[LOW] + outcomes[HIGH] + outcomes[TIE]
        return (outcomes[LOW] - outcomes[HIGH]) / 2, outcomes[TIE], total

    def terms(self, gap: Floats, tie: Floats | float, data: tuple[Floats, ...]) -> Terms:
        """See `PairModel.terms`."""
        lead, tied, total = data
        low, high, even, log_sum = self._chances(gap, tie)
        return Terms(
            value=lead * gap + tied * tie - total * log_sum,
            gap=lead - total * (low - high) / 2,
            gap_gap=total * (low + high - (low - high) ** 2) / 4,
            tie=tied - total * even,
            gap_tie=-total * even * (low - high) / 2,
            tie_tie=total * even * (1 - even),
        )

    def slope(self, gap: Floats, tie: Floats | float, data: tuple[Floats, ...]) -> tuple[Floats, Floats]:
        """See `PairModel.slope`."""
        lead, tied, total = data
        low, high, even, _ = self._chances(gap, tie)
        return lead - total * (low - high) / 2, tied - total * even

    def outcome_scores(self, gap: Floats, tie: float) -> tuple[Floats, Floats]:
        """See `PairModel.outcome_scores`."""
        low, high, even, _ = self._chances(gap, tie)
        lead = (low - high) / 2
        return np.stack([1 / 2 - lead, -1 / 2 - lead, -lead]), np.stack([-even, -even, 1 - even])

    def start(self, tied: float) -> float:
        """Return log ν for equal systems."""
        return float(np.log(2 * tied / (1 - tied)))

    def ratio(self, tie: float) -> float:
        """Return Davidson's ν."""
        return float(np.exp(tie))

    @staticmethod
    def _chances(gap: Floats, tie: Floats | float) -> tuple[Floats, Floats, Floats, Floats]:
        peak = np.maximum(np.abs(gap) / 2, tie)
        low, high, even = np.exp(gap / 2 - peak), np.exp(-gap / 2 - peak), np.exp(tie - peak)
        total = low + high + even
        return low / total, high / total, even / total, peak + np.log(total)


class RaoKupper:
    """P(low) = σ(gap − ε), P(high) = σ(−gap − ε), else a tie; the tie parameter is ε = log θ > 0.

    Source: Rao & Kupper (1967), equation 2.
    """

    ties = True

    def condense(self, outcomes: Floats) -> tuple[Floats, ...]:
        """Return battles that low did not lose, that high did not lose, and ties."""
        return outcomes[LOW] + outcomes[TIE], outcomes[HIGH] + outcomes[TIE], outcomes[TIE]

    def terms(self, gap: Floats, tie: Floats | float, data: tuple[Floats, ...]) -> Terms:
        """See `PairModel.terms`; −∞ if the tie parameter is not positive."""
        up, down, tied = data
        safe = np.maximum(tie, MIN_TIE)
        low, high = sigmoid(gap - tie), sigmoid(-gap - tie)
        rest = -np.expm1(-2 * safe)
        value = -up * np.logaddexp(0, tie - gap) - down * np.logaddexp(0, tie + gap)
        value = np.where(np.asarray(tie) > 0, value + tied * (2 * safe + np.log(rest)), -np.inf)
        at_low, at_high = up * low * (1 - low), down * high * (1 - high)
        return Terms(
            value=value,
            gap=up * (1 - low) - down * (1 - high),
            gap_gap=at_low + at_high,
            tie=2 * tied / rest - up * (1 - low) - down * (1 - high),
            gap_tie=at_high - at_low,
            tie_tie=at_low + at_high + 4 * tied * (1 - rest) / rest**2,
        )

    def slope(self, gap: Floats, tie: Floats | float, data: tuple[Floats, ...]) -> tuple[Floats, Floats]:
        """See `PairModel.slope`."""
        up, down, tied = data
        missed_low, missed_high = up * sigmoid(tie - gap), down * sigmoid(tie + gap)
        rest = -np.expm1(-2 * np.maximum(tie, MIN_TIE))
        return missed_low - missed_high, 2 * tied / rest - missed_low - missed_high

    def outcome_scores(self, gap: Floats, tie: float) -> tuple[Floats, Floats]:
        """See `PairModel.outcome_scores`."""
        low, high = sigmoid(tie - gap), sigmoid(tie + gap)
        rest = 2 / -np.expm1(-2 * tie)
        return np.stack([low, -high, low - high]), np.stack([-low, -high, rest - low - high])

    def start(self, tied: float) -> float:
        """Return ε for equal systems."""
        return float(np.log((1 + tied) / (1 - tied)))

    def ratio(self, tie: float) -> float:
        """Return Rao and Kupper's threshold θ."""
        return float(np.exp(tie))


def model_of(method: Method) -> PairModel:
    """Return the pair model of a method; online Elo and style control use Bradley-Terry's."""
    match method:
        case Method.DAVIDSON:
            return Davidson()
        case Method.RAO_KUPPER:
            return RaoKupper()
        case Method.BRADLEY_TERRY | Method.ELO | Method.STYLE:
            return BradleyTerry()
