"""Paired differences of two systems' win shares, by question and domain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import NotFoundError
from leaderboard.battles import BattleTable
from leaderboard.stats import DIFFERENCES, Interval, cluster_variance, mean_interval
from leaderboard.vocabulary import OVERALL

Floats = NDArray[np.float64]
ROUNDING = 1e-9
"""Maximum sum of differences that is a tie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedShare:
    """Difference of two systems' win shares, on the same questions.

    Attributes:
        difference: Mean over questions, −1 to 1; None if no question compares the two.
        interval: 95 % t interval over questions (the sign test's if all agree); None for fewer than two.
    """

    domain: str
    difference: float | None
    interval: Interval | None
    questions: int
    ahead: int
    behind: int

    @property
    def significant(self) -> bool:
        """True if the interval excludes 0."""
        return self.interval is not None and not self.interval.lower <= 0 <= self.interval.upper


def paired_shares(table: BattleTable, first: str, second: str) -> tuple[PairedShare, ...]:
    """Return the paired differences of two systems, overall and in every domain."""
    differences, domains = _by_question(table, first, second)
    shares = [share_of(OVERALL, differences)]
    for code, domain in enumerate(table.domains):
        shares.append(share_of(domain, differences[domains == code]))
    return tuple(shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """Minimum number of questions without which the leader of two systems no longer leads.

    Attributes:
        leader: The system with the larger win share over all questions; the first on a tie.
        needed: Number of questions, those with the largest lead first; None if neither leads.
    """

    leader: str
    other: str
    needed: int | None
    questions: int


def deciding(table: BattleTable, first: str, second: str) -> Deciding:
    """Count the questions that decide between two systems, by their paired differences."""
    differences, _ = _by_question(table, first, second)
    defined = differences[~np.isnan(differences)]
    total = float(defined.sum())
    leader, other = (second, first) if total < -ROUNDING else (first, second)
    if abs(total) <= ROUNDING:
        return Deciding(leader=leader, other=other, needed=None, questions=len(defined))
    ahead = np.sort(np.sign(total) * defined)[::-1]
    left = abs(total) - np.cumsum(ahead)
    needed = int(np.argmax(left <= ROUNDING)) + 1
    return Deciding(leader=leader, other=other, needed=needed, questions=len(defined))


def most_divisive(
    table: BattleTable, systems: Sequence[str], count: int
) -> tuple[tuple[str, Mapping[str, float]], ...]:
    """Return the questions on which systems differ most, with each system's mean win share.

    Shares are over all of a system's battles on the question. Equal spreads are in id order.
    """
    shares = np.stack([_shares(table, _code(table, system)) for system in systems])
    comparable = np.flatnonzero((~np.isnan(shares)).sum(axis=0) > 1)
    spread = np.nanmax(shares[:, comparable], axis=0) - np.nanmin(shares[:, comparable], axis=0)
    order = comparable[np.argsort(-spread, kind="stable")][:count]
    return tuple(
        (
            table.questions[code],
            {
                name: float(value)
                for name, value in zip(systems, shares[:, code], strict=True)
                if not np.isnan(value)
            },
        )
        for code in order
    )


def share_of(domain: str, differences: Floats) -> PairedShare:
    """Average the differences of questions, ignoring NaN."""
    defined = differences[~np.isnan(differences)]
    if not len(defined):
        return PairedShare(domain=domain, difference=None, interval=None, questions=0, ahead=0, behind=0)
    mean = float(defined.mean())
    variance = cluster_variance(defined - mean, len(defined))
    error = None if variance is None else float(np.sqrt(variance))
    return PairedShare(
        domain=domain,
        difference=mean,
        interval=mean_interval(mean, error, len(defined), within=DIFFERENCES),
        questions=len(defined),
        ahead=int((defined > 0).sum()),
        behind=int((defined < 0).sum()),
    )


def _by_question(table: BattleTable, first: str, second: str) -> tuple[Floats, NDArray[np.int32]]:
    """(Q,) difference on each question against common opponents, and (Q,) domains.

    A direct battle counts as one more opponent, with the difference of its two shares.
    """
    first_code, second_code = _code(table, first), _code(table, second)
    left, right = _cells(table, first_code), _cells(table, second_code)
    size, questions = len(table.systems), len(table.questions)
    keys, at_left, at_right = np.intersect1d(left[0], right[0], return_indices=True)
    direct = left[0] % size == second_code
    question = np.concatenate([keys // size, left[0][direct] // size]).astype(np.int64)
    gap = np.concatenate([left[1][at_left] - right[1][at_right], 2 * left[1][direct] - 1])
    counts = np.bincount(question, minlength=questions).astype(float)
    sums = np.bincount(question, gap, minlength=questions)
    means = np.divide(sums, counts, out=np.full(questions, np.nan), where=counts > 0)
    domains = np.zeros(questions, dtype=np.int32)
    domains[table.question] = table.domain
    return means, domains


def _cells(table: BattleTable, system: int) -> tuple[NDArray[np.int64], Floats]:
    mine = (table.a == system) | (table.b == system)
    is_a = table.a[mine] == system
    opponent = np.where(is_a, table.b[mine], table.a[mine]).astype(np.int64)
    share = np.where(is_a, table.share[mine], 1 - table.share[mine])
    keys = table.question[mine].astype(np.int64) * len(table.systems) + opponent
    unique, place = np.unique(keys, return_inverse=True)
    return unique, np.bincount(place, share, minlength=len(unique)) / np.bincount(
        place, minlength=len(unique)
    )


def _shares(table: BattleTable, system: int) -> Floats:
    keys, shares = _cells(table, system)
    question = keys // len(table.systems)
    counts = np.bincount(question, minlength=len(table.questions)).astype(float)
    sums = np.bincount(question, shares, minlength=len(table.questions))
    means: Floats = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    return means


def _code(table: BattleTable, system: str) -> int:
    if system not in table.systems:
        raise NotFoundError(f"No battle involves the system {system}.", advice="Use a name on the board.")
    return table.systems.index(system)
