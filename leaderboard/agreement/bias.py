"""What a judge favours beyond what people prefer: some systems, longer answers, answers of its own family."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np
from numpy.typing import NDArray

from data.records import Preference
from data.records.plain import to_json
from leaderboard.agreement.pairs import CalibrationPair
from leaderboard.stats.intervals import DIFFERENCES, cluster_variance, mean_interval
from leaderboard.vocabulary import OVERALL

NORMAL_95 = 1.96
SideOf = Callable[[CalibrationPair], Preference | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBattle:
    """A battle that judge and people decided; shares are of the win for `system_a`, 0–1."""

    question: str
    domain: str
    system_a: str
    system_b: str
    judge: float
    people: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemBias:
    """How a judge treats one system, in one domain or overall.

    Attributes:
        system: Its name.
        domain: A domain's id, or `overall`.
        pairs: Labelled pairs of the system with a verdict.
        questions: On how many questions.
        judge: Mean share of the win that the judge gives it.
        people: The share that people give it on the same pairs.
        bias: The difference; above 0 the judge favours it.
        lower: Lower end of its 95 % interval, by questions; None on a single question.
        upper: Its upper end.
    """

    system: str
    domain: str
    pairs: int
    questions: int
    judge: float
    people: float
    bias: float
    lower: float | None
    upper: float | None

    def as_json(self) -> dict[str, object]:
        """The fields as a JSON object."""
        return dict(to_json(self))


def system_biases(battles: Sequence[HeldBattle]) -> tuple[SystemBias, ...]:
    """The bias of a judge for every system, overall and then by domain; the most favoured first.

    Intervals are Student's over questions, since pairs on one question are not independent.

    Source: Miller (2024), "Adding error bars to evals", section 2.2.
    """
    cells: dict[tuple[str, str], list[tuple[str, float, float]]] = defaultdict(list)
    for one in battles:
        domains = dict.fromkeys((OVERALL, one.domain)) if one.domain else {OVERALL: None}
        for domain in domains:
            cells[one.system_a, domain].append((one.question, one.judge, one.people))
            cells[one.system_b, domain].append((one.question, 1 - one.judge, 1 - one.people))
    found = [_bias(system, domain, rows) for (system, domain), rows in cells.items()]
    overall = {one.system: one.bias for one in found if one.domain == OVERALL}
    return tuple(
        sorted(found, key=lambda one: (-overall[one.system], one.system, one.domain != OVERALL, one.domain))
    )


def _bias(system: str, domain: str, rows: Sequence[tuple[str, float, float]]) -> SystemBias:
    _, question = np.unique([name for name, _, _ in rows], return_inverse=True)
    judge, people = (np.array(column) for column in zip(*((j, p) for _, j, p in rows), strict=True))
    difference: NDArray[np.float64] = judge - people
    bias, questions = float(difference.mean()), int(question.max()) + 1
    residuals = np.bincount(question, difference - bias).astype(np.float64)
    variance = cluster_variance(residuals, len(rows))
    interval = mean_interval(
        bias, None if variance is None else float(np.sqrt(variance)), questions, within=DIFFERENCES
    )
    return SystemBias(
        system=system,
        domain=domain,
        pairs=len(rows),
        questions=questions,
        judge=float(judge.mean()),
        people=float(people.mean()),
        bias=bias,
        lower=None if interval is None else interval.lower,
        upper=None if interval is None else interval.upper,
    )


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
