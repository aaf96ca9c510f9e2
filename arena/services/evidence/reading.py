"""What to read first of a question: the closest battle, and the best answer beside another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from arena.services.evidence.questions import AnswerView, QuestionView
from data.models import BattleEvidence, BattleRecord, Judgment, Preference

SIGNS = {Preference.A: -1.0, Preference.TIE: 0.0, Preference.B: 1.0}


def lead_of(evidence: BattleEvidence) -> float | None:
    """How far one answer was ahead, 0 (even) to 1: the mean over final readings, which may cancel out.

    A reading without a margin counts as 1 for its side, a tie as 0; None where no reading has a verdict.
    """
    readings = [_signed(judgment) for judgment in final_readings(evidence)]
    return abs(fmean(readings)) if readings else None


def final_readings(evidence: BattleEvidence) -> tuple[Judgment, ...]:
    """The last verdict of each judge in each order: a battle that was tried again was read before."""
    last = {
        (judgment.judge, judgment.presentation): judgment
        for judgment in evidence.judgments
        if judgment.preference is not None
    }
    return tuple(last.values())


def _signed(judgment: Judgment) -> float:
    if judgment.margin is not None:
        return judgment.margin
    return 0.0 if judgment.preference is None else SIGNS[judgment.preference]


def closest_first(battles: Iterable[BattleEvidence]) -> tuple[BattleEvidence, ...]:
    """Battles by how close they were, undecided ones last; equally close ones stay in their order."""

    def order(evidence: BattleEvidence) -> tuple[bool, float]:
        lead = lead_of(evidence)
        return evidence.battle.preference is None, 1.0 if lead is None else lead

    return tuple(sorted(battles, key=order))


def beside(view: QuestionView, battle: BattleRecord | None, wanted: str = "") -> tuple[AnswerView, ...]:
    """The best answer to a question and the one to read beside it: `wanted`, else of the battle's sides.

    The best answer alone where there is no other.
    """
    if not view.answers:
        return ()
    best, *others = view.answers
    sides = () if battle is None else (battle.system_a, battle.system_b)
    chosen = [answer for answer in others if answer.system == wanted]
    chosen += [answer for answer in others if answer.system in sides]
    return (best, *(chosen or others)[:1])


@dataclass(frozen=True, slots=True)
class Record:
    """How an answer fared on a question: battles won, judged battles, and those won less those lost."""

    wins: int
    met: int
    ahead: int


def best_of(battles: Sequence[BattleEvidence]) -> Mapping[str, Record]:
    """Who won most battles more than they lost on a question, the reference included; several share it.

    Answers that are not shown count as well. Empty where nothing was judged.
    """
    results: dict[str, Counter[Preference]] = defaultdict(Counter)
    for preference, one, other in (
        (evidence.battle.preference, evidence.battle.system_a, evidence.battle.system_b)
        for evidence in battles
    ):
        if preference is not None:
            results[one][preference] += 1
            results[other][preference.flipped] += 1
    records = {
        system: Record(found[Preference.A], found.total(), found[Preference.A] - found[Preference.B])
        for system, found in sorted(results.items())
    }
    most = max((record.ahead for record in records.values()), default=0)
    return {system: record for system, record in records.items() if record.ahead == most}
