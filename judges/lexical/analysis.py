"""What one answer's score is made of, sentence by sentence of the ground truth and of the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from data.records import GroundTruth
from judges.lexical.ground_truth import LexicalGroundTruth
from judges.lexical.overlap import Overlap, gist_of, overlaps, said_of_passages, support
from judges.lexical.reading import TextReading
from judges.lexical.settings import LexicalSettings
from judges.text.contradictions import Contradiction
from judges.text.languages import language
from judges.text.statements import read_statement


class Adjustment(StrEnum):
    """What changes a score beside sentences said and not borne out."""

    PASSAGES = "said of the passages"
    LENGTH = "length"
    ORDER = "word order"
    COPIES = "copied text"
    YES_NO = "yes or no"
    CONTRADICTIONS = "contradictions"
    NAMES = "names out of place"


@dataclass(frozen=True)
class AnswerAnalysis:
    """An answer held against a ground truth; its score is the sum of its parts.

    Attributes:
        coverage: The share of the ground truth that the answer says, 0–1.
        padding: The share of the answer that the ground truth does not have, 0–1.
        shares: How far each sentence of the ground truth is said, 0–1.
        credits: What each sentence of the ground truth gives.
        costs: What each sentence of the answer takes, as numbers not above 0.
        sentences: The sentences of the answer.
        adjustments: What else gives or takes.
        names: The names that stand in the place of others.
        contradictions: What it says otherwise than the question's texts.
    """

    coverage: float
    padding: float
    shares: tuple[float, ...]
    credits: tuple[float, ...]
    costs: tuple[float, ...]
    sentences: tuple[str, ...]
    adjustments: tuple[tuple[Adjustment, float], ...]
    names: tuple[str, ...]
    contradictions: tuple[Contradiction, ...]

    @cached_property
    def score(self) -> float:
        """The sum of the parts; the higher, the better."""
        return math.fsum(
            (
                *self.credits,
                *self.costs,
                *(amount for _, amount in self.adjustments),
            )
        )


def analyse(
    answer: TextReading, ground_truth: LexicalGroundTruth, settings: LexicalSettings
) -> AnswerAnalysis:
    """Hold one answer against a ground truth."""
    count = len(ground_truth.points)
    if not answer.sentences:
        nothing = (0.0,) * count
        return AnswerAnalysis(0.0, 1.0, nothing, nothing, (), (), (), (), ())
    measure = overlaps if ground_truth.kind is GroundTruth.REFERENCE else support
    sought = ground_truth.index.shares(answer, settings.kin)
    found = measure(answer, ground_truth, sought, settings)
    names = ground_truth.evidence.misplaced(answer)
    contradictions = _contradictions(answer, ground_truth)
    return AnswerAnalysis(
        coverage=_mean([(each.weight, each.recall) for each in found]),
        padding=1 - _mean([(each.weight, each.precision) for each in found]),
        shares=tuple(map(gist_of(settings), sought)),
        credits=_credits(found),
        costs=_costs(found),
        sentences=tuple(sentence.text for sentence in answer.sentences),
        adjustments=tuple(_adjustments(answer, found, ground_truth, names, contradictions, settings)),
        names=names,
        contradictions=contradictions,
    )


def _contradictions(answer: TextReading, ground_truth: LexicalGroundTruth) -> tuple[Contradiction, ...]:
    """What an answer says otherwise than the question's texts; what it repeats counts once."""
    finder = ground_truth.contradictions
    if finder is None:
        return ()
    sentences = dict.fromkeys(sentence.text for sentence in answer.sentences)
    return tuple(each for text in sentences for each in finder.conflicts(read_statement(text)))


def _mean(weighed: list[tuple[float, float]]) -> float:
    whole = math.fsum(weight for weight, _ in weighed)
    return math.fsum(weight * value for weight, value in weighed) / whole if whole else 0.0


def _credits(found: tuple[Overlap, ...]) -> tuple[float, ...]:
    """What sentences of the ground truth give: the best value of each measure, by share of its recall."""
    rows = [[each.best * gain / each.recall if each.recall else 0.0 for gain in each.gains] for each in found]
    return tuple(math.fsum(column) for column in zip(*rows, strict=True))


def _costs(found: tuple[Overlap, ...]) -> tuple[float, ...]:
    """What sentences of the answer take: what each measure falls short of its best, by their share of it."""
    rows = []
    for each in found:
        short, whole = each.best - each.brief, math.fsum(each.losses)
        rows.append([-short * loss / whole if whole else 0.0 for loss in each.losses])
    return tuple(math.fsum(column) for column in zip(*rows, strict=True))


def _adjustments(
    answer: TextReading,
    found: tuple[Overlap, ...],
    ground_truth: LexicalGroundTruth,
    names: tuple[str, ...],
    contradictions: tuple[Contradiction, ...],
    settings: LexicalSettings,
) -> list[tuple[Adjustment, float]]:
    evidence = ground_truth.evidence
    said = 0.0
    if ground_truth.kind is GroundTruth.REFERENCE and ground_truth.passages:
        said = settings.passages * said_of_passages(answer, ground_truth, settings)
    value = math.fsum((said, *(each.value for each in found)))
    ordered = value * evidence.order(answer, settings)
    worth = _worth_of_copies(answer, ground_truth, settings)
    misplaced = min(float(len(names)), settings.most_names)
    wrong = min(math.fsum(each.strength for each in contradictions), settings.most_contradictions)
    amounts = [
        (Adjustment.PASSAGES, said),
        (Adjustment.LENGTH, value - math.fsum((said, *(each.brief for each in found)))),
        (Adjustment.ORDER, ordered - value),
        (Adjustment.COPIES, ordered * worth - ordered),
        (Adjustment.YES_NO, settings.yes_no * _agreement(answer, ground_truth)),
        (Adjustment.CONTRADICTIONS, -settings.contradiction * wrong),
        (Adjustment.NAMES, -settings.name * misplaced),
    ]
    return [(kind, amount) for kind, amount in amounts if amount]


def _worth_of_copies(
    answer: TextReading, ground_truth: LexicalGroundTruth, settings: LexicalSettings
) -> float:
    """What an answer counts, 0–1, for all that it copies beyond what any answer needs."""
    against_reference = ground_truth.kind is GroundTruth.REFERENCE
    needed = (
        max(settings.length_free, settings.copied_lengths * len(ground_truth.texts[0].terms))
        if against_reference
        else ground_truth.evidence.allowance(settings)
    )
    copied = ground_truth.evidence.copied(answer)
    return max(0.0, 1 - settings.copies * max(0.0, copied - needed) / len(answer.terms))


def _agreement(answer: TextReading, ground_truth: LexicalGroundTruth) -> int:
    """1 where answer and reference begin with the same of Yes and No, -1 with the other, 0 otherwise."""
    if ground_truth.kind is not GroundTruth.REFERENCE:
        return 0
    known = language(ground_truth.language).yes_and_no
    theirs = ground_truth.texts[0].beginning
    if answer.beginning not in known or theirs not in known:
        return 0
    return 1 if answer.beginning == theirs else -1
