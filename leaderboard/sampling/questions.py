"""Samples of questions, spread over domains; the seed and the questions' ids alone decide."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from data.models import Question


def evenly(questions: Sequence[tuple[int, Question]], count: int, seed: int) -> list[tuple[int, Question]]:
    """Sample `count` questions as evenly over the domains as their sizes allow."""
    shuffled = _by_domain(questions, seed)
    counts: Counter[str] = Counter()
    remaining = min(count, len(questions))
    while remaining:
        for domain in sorted(shuffled):
            if remaining and counts[domain] < len(shuffled[domain]):
                counts[domain] += 1
                remaining -= 1
    return _in_order(questions, shuffled, counts)


def proportionally(
    questions: Sequence[tuple[int, Question]], count: int, seed: int
) -> list[tuple[int, Question]]:
    """Sample `count` questions in proportion to the domains' sizes (largest remainders)."""
    shuffled = _by_domain(questions, seed)
    count = min(count, len(questions))
    quotas = {domain: count * len(entries) / len(questions) for domain, entries in shuffled.items()}
    counts = Counter({domain: int(quota) for domain, quota in quotas.items()})
    by_remainder = sorted(quotas, key=lambda domain: (counts[domain] - quotas[domain], domain))
    for domain in by_remainder[: count - counts.total()]:
        counts[domain] += 1
    return _in_order(questions, shuffled, counts)


def _by_domain(
    questions: Sequence[tuple[int, Question]], seed: int
) -> Mapping[str, list[tuple[int, Question]]]:
    def order(entry: tuple[int, Question]) -> str:
        return hashlib.sha256(f"{seed}\x1f{entry[1].id}".encode()).hexdigest()

    by_domain: dict[str, list[tuple[int, Question]]] = defaultdict(list)
    for entry in questions:
        by_domain[entry[1].domain].append(entry)
    return {domain: sorted(entries, key=order) for domain, entries in by_domain.items()}


def _in_order(
    questions: Sequence[tuple[int, Question]],
    shuffled: Mapping[str, list[tuple[int, Question]]],
    counts: Mapping[str, int],
) -> list[tuple[int, Question]]:
    chosen = {number for domain in shuffled for number, _ in shuffled[domain][: counts[domain]]}
    return [entry for entry in questions if entry[0] in chosen]
