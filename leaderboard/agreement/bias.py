"""What a judge favours beyond what people prefer: longer answers, answers of its own family."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from data.records import Preference
from data.records.plain import to_json
from leaderboard.agreement.pairs import CalibrationPair

NORMAL_95 = 1.96
SideOf = Callable[[CalibrationPair], Preference | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Excess:
    """How far a judge favours one kind of answer beyond people.

    Attributes:
        pairs: Pairs with a verdict in which exactly one side is of the kind.
        judge: Mean share of the win (1, ½, 0) that the judge gives to that side; None without pairs.
        people: The share that people give.
        effect: The difference; above 0 the judge favours the kind more than people do.
        lower: Lower end of its 95 % interval, of the paired differences; None for fewer than two pairs.
        upper: Its upper end.
    """

    pairs: int
    judge: float | None = None
    people: float | None = None
    effect: float | None = None
    lower: float | None = None
    upper: float | None = None

    def as_json(self) -> dict[str, float | int | None]:
        """The fields as a JSON object."""
        return to_json(self)


def excess(pairs: Sequence[CalibrationPair], favoured: SideOf) -> Excess:
    """Hold a judge's favour for one kind of answer against people's.

    Args:
        pairs: Labelled pairs with the judge's verdicts.
        favoured: The side of a pair that is of the kind; None or a tie where not exactly one is.
    """
    shares = []
    for pair in pairs:
        side = favoured(pair)
        if pair.preference is None or side is None or side is Preference.TIE:
            continue
        shares.append((_share(pair.preference, side), _share(pair.people, side)))
    if not shares:
        return Excess(pairs=0)
    differences = [judge - people for judge, people in shares]
    effect = fmean(differences)
    several = len(shares) > 1
    spread = NORMAL_95 * stdev(differences) / math.sqrt(len(shares)) if several else 0.0
    return Excess(
        pairs=len(shares),
        judge=fmean(judge for judge, _ in shares),
        people=fmean(people for _, people in shares),
        effect=effect,
        lower=effect - spread if several else None,
        upper=effect + spread if several else None,
    )


def _share(preference: Preference, side: Preference) -> float:
    if preference is Preference.TIE:
        return 0.5
    return 1.0 if preference is side else 0.0
