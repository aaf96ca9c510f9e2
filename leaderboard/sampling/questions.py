"""Samples of questions, spread over domains; the seed and the questions' ids alone decide."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from data.records import Question


def evenly(questions: Sequence[tuple[int, Question]], count: int, seed: int) -> list[tuple[int, Question]]:
    """Sample `count` questions as evenly over the domains as their sizes allow."""
    shuffled = _by_domain(questions, seed)
    taken: Counter[str] = Counter()
    left = min(count, len(questions))
    while left:
        for domain in sorted(shuffled):
            if left and taken[domain] < len(shuffled[domain]):
                taken[domain] += 1
                left -= 1
    return _in_order(questions, shuffled, taken)


def proportionally(
    questions: Sequence[tuple[int, Question]], count: int, seed: int
) -> list[tuple[int, Question]]:
    """Sample `count` questions in proportion to the domains' sizes (largest remainders)."""
    shuffled = _by_domain(questions, seed)
    count = min(count, len(questions))
    quotas = {domain: count * len(found) / len(questions) for domain, found in shuffled.items()}
    taken = Counter({domain: int(quota) for domain, quota in quotas.items()})
    by_remainder = sorted(quotas, key=lambda domain: (taken[domain] - quotas[domain], domain))
    for domain in by_remainder[: count - taken.total()]:
        taken[domain] += 1
    return _in_order(questions, shuffled, taken)


def _by_domain(
    questions: Sequence[tuple[int, Question]], seed: int
) -> Mapping[str, list[tuple[int, Question]]]:
    def order(entry: tuple[int, Question]) -> str:
        return hashlib.sha256(f"{seed}\x1f{entry[1].id}".encode()).hexdigest()

    found: dict[str, list[tuple[int, Question]]] = defaultdict(list)
    for entry in questions:
        found[entry[1].domain].append(entry)
    return {domain: sorted(entries, key=order) for domain, entries in found.items()}


def _in_order(
    questions: Sequence[tuple[int, Question]],
    shuffled: Mapping[str, list[tuple[int, Question]]],
    taken: Mapping[str, int],
) -> list[tuple[int, Question]]:
    chosen = {number for domain in shuffled for number, _ in shuffled[domain][: taken[domain]]}
    return [entry for entry in questions if entry[0] in chosen]
