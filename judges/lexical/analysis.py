"""What one answer covers, contradicts and pads, measured against a yardstick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judges.lexical.settings import LexicalSettings
from judges.text.contradictions import Contradiction
from judges.text.statements import Statement, read_statements
from judges.text.yardstick import FloatArray, YardstickText

UNSUPPORTED_BELOW = 0.5
REPEATED_FROM = 0.85
ANYWHERE = 0.75


@dataclass(frozen=True, slots=True)
class AnswerAnalysis:
    """An answer held against a yardstick.

    Attributes:
        score: Coverage less what contradictions and padding cost; the higher, the better.
        coverage: The weighted share of the yardstick that the answer covers, 0–1.
        shares: How much of each statement of the yardstick is covered, 0–1.
        contradictions: What the answer says otherwise than the yardstick.
        padding: The share of the answer that is unsupported or said before, 0–1.
    """

    score: float
    coverage: float
    shares: FloatArray
    contradictions: tuple[Contradiction, ...]
    padding: float


def analyse(text: str, yardstick: YardstickText, settings: LexicalSettings) -> AnswerAnalysis:
    """Hold one answer against a yardstick that has at least one statement."""
    sentences = read_statements(text)
    if not sentences:
        return AnswerAnalysis(0.0, 0.0, np.zeros(len(yardstick.statements)), (), 1.0)
    contradictions = tuple(
        found for sentence in dict.fromkeys(sentences) for found in yardstick.finder.find(sentence)
    )
    wrong_ones = {found.statement for found in contradictions if found.strength >= settings.untrue_from}
    true_ones = tuple(sentence for sentence in sentences if sentence not in wrong_ones)
    shares = (
        ANYWHERE * yardstick.coverage(true_ones) + (1 - ANYWHERE) * yardstick.windows(true_ones)
        if true_ones
        else np.zeros(len(yardstick.statements))
    )
    coverage = _coverage(_said(shares, settings), yardstick, settings.balance)
    padding = _padding(sentences, yardstick)
    wrong = min(sum(found.strength for found in contradictions), settings.most_contradictions)
    score = coverage - settings.contradiction * wrong - settings.padding * padding
    return AnswerAnalysis(score, coverage, shares, contradictions, padding)


def _said(shares: FloatArray, settings: LexicalSettings) -> FloatArray:
    """Turn shares of words into shares of what is said: little below chance, nearly all from `full` on."""
    gist: FloatArray = np.clip((shares - settings.chance) / (settings.full - settings.chance), 0.0, 1.0)
    return (1 - settings.wording) * gist + settings.wording * shares


def _coverage(shares: FloatArray, yardstick: YardstickText, balance: float) -> float:
    """Average the shares over statements and, by square roots, over passages."""
    masses = yardstick.masses * yardstick.relevance
    plain = float(shares @ masses / masses.sum())
    sources = yardstick.sources
    count = int(sources.max()) + 1
    of_source = np.bincount(sources, shares * yardstick.masses, count) / np.bincount(
        sources, yardstick.masses, count
    )
    relevance = np.bincount(sources, yardstick.relevance, count) / np.bincount(sources, minlength=count)
    even = float(np.sqrt(of_source) @ relevance / relevance.sum()) if count > 1 else plain
    return (1 - balance) * plain + balance * even


def _padding(sentences: Sequence[Statement], yardstick: YardstickText) -> float:
    """The share of the answer's weight in sentences that the yardstick does not carry or that repeat."""
    masses = [yardstick.weights.total(sentence.terms) for sentence in sentences]
    wasted = 0.0
    earlier: frozenset[str] = frozenset()
    for sentence, mass in zip(sentences, masses, strict=True):
        support = yardstick.support(sentence)
        repeated = len(sentence.terms & earlier) / len(sentence.terms) >= REPEATED_FROM
        wasted += mass * (1.0 if repeated else max(0.0, 1 - support / UNSUPPORTED_BELOW))
        earlier |= sentence.terms
    return wasted / sum(masses)
