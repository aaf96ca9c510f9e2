"""Whether a new version of a system is worse than an old one by more than somebody allows.

Per question the difference is what the new version takes (1 for a win or a tie against the reference, 0 for a
loss) less what the old one takes. The bounds are a confidence sequence: they hold at every look together, so
that asking further questions until the answer is clear raises no false alarm (`trust.sequences`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from leaderboard.paired import PairedShare, share_of
from leaderboard.trust.sequences import mean_bounds
from leaderboard.vocabulary import OVERALL

Floats = NDArray[np.float64]

ERROR = 0.05
"""The chance that an interval is ever wrong, at any look; half of it a side."""
FIRST_WAVE = 50
"""Questions of the first look; each later look has twice as many in all."""


class GateVerdict(StrEnum):
    """What a gate says of a new version."""

    PASS = "pass"  # noqa: S105 - no secret
    WORSE = "worse"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateShare:
    """The difference of two versions in a domain, or `overall`; in percentage points of win + tie.

    Attributes:
        domain: The domain, or `overall`.
        difference: Mean over questions of new less old; None where none was decided for both.
        lower: Lower end of the interval that holds at every look.
        upper: Its upper end.
        questions: How many questions it is of.
        ahead: On how many of those the new version takes more.
        behind: On how many it takes less.
    """

    domain: str
    difference: float | None
    lower: float
    upper: float
    questions: int
    ahead: int
    behind: int


def gate_shares(differences: Floats, domains: Sequence[str]) -> tuple[GateShare, ...]:
    """The differences overall and by domain, with intervals that hold at every look.

    Args:
        differences: (Q,) new less old, −1 to 1, in an order that has nothing to do with verdicts; NaN where
            one of the two has no verdict.
        domains: (Q,) the questions' domains.

    Returns:
        `overall` first, then the domains by name. The intervals of domains hold each by itself.
    """
    names = sorted(set(domains))
    of_domain = np.array(domains, dtype=object)
    columns = [differences, *(np.where(of_domain == name, differences, np.nan) for name in names)]
    values = np.stack(columns, axis=1) if len(differences) else np.empty((0, 1))
    lower, upper = mean_bounds(values, error=ERROR / 2)
    shares = [share_of(name, columns[at]) for at, name in enumerate([OVERALL, *names])]
    return tuple(_in_points(share, float(lower[at]), float(upper[at])) for at, share in enumerate(shares))


def decide(overall: GateShare, *, max_loss: float) -> GateVerdict:
    """Whether a loss of more than `max_loss` percentage points is ruled out, shown, or neither."""
    if overall.lower > -max_loss:
        return GateVerdict.PASS
    return GateVerdict.WORSE if overall.upper < -max_loss else GateVerdict.UNDECIDED


def _in_points(share: PairedShare, lower: float, upper: float) -> GateShare:
    return GateShare(
        domain=share.domain,
        difference=None if share.difference is None else 100 * share.difference,
        lower=100 * lower,
        upper=100 * upper,
        questions=share.questions,
        ahead=share.ahead,
        behind=share.behind,
    )
