"""Cascades: setting their threshold on labelled or double-judged pairs, and how they fare in rounds."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from arena.services.judging.calibration import contest_of
from arena.services.judging.judges import JudgeService
from arena.services.judging.labelled_pairs import labelled_pairs
from data.errors import FileFormatError, InputError
from data.records import BattleEvidence, Outcome, Preference, Round, Verdict
from data.records.rounds import require_amount
from data.store import Store
from judges.cascades import (
    CascadeConfidence,
    Guarantee,
    cascade_problems,
    cascade_toml,
    confidence_problem,
    usual_confidence,
)
from judges.catalogue import SUFFIX, require_new_spec, taken
from judges.llm.costs import MemoryLedger
from judges.pairwise.cascade import confidence_of
from judges.spec import JudgeSpec
from leaderboard.agreement.pairs import majority
from leaderboard.sampling.cascade import Cascade, set_cascade

PEOPLE = "people"
UNSURE = "it has neither replies in grades or logprobs, nor both orders, several votes or members"
SAID = frozenset({Outcome.JUDGED, Outcome.UNREADABLE, Outcome.REFUSED})
"""How a battle ends that its judge was asked about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeRequest:
    """What a cascade is to be.

    Attributes:
        cheap: Name or path of the judge that is asked first.
        expensive: The same of the other.
        level: Agreement to be reached among what the cheap judge decides, 0–1.
        certainty: How sure that is to be, 0–1.
        confidence: What says how sure the cheap judge is; None for the first kind that it has.
        rounds: A round of the cheap judge and one of the expensive one on the same battles; None where
            people's labels are taken.
        labels: A file of people's labels; None where rounds are taken.
        concurrency: Most pairs of the file in flight.
        budget_usd: The most that the cheap judge may spend on the file.
    """

    cheap: str
    expensive: str
    level: float
    certainty: float
    confidence: CascadeConfidence | None = None
    rounds: tuple[str, str] | None = None
    labels: Path | None = None
    concurrency: int = 16
    budget_usd: float | None = None

    def __post_init__(self) -> None:
        if (self.rounds is None) == (self.labels is None):
            message = "A threshold is set on rounds or on labels."
            raise InputError(message, advice="Give --from-rounds or --labels, one of them.")
        if not (0 < self.level < 1 and 0 < self.certainty < 1):
            message = f"Agreement of {self.level} with a confidence of {self.certainty} cannot be promised."
            raise InputError(message, advice="Give two parts between 0 and 1, such as 0.9 and 0.95.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
    """What a threshold is set on: verdicts of the cheap judge, and what they are to agree with.

    `others`, `told` and `questions` are of the same length as `verdicts`; `told` says where somebody else was
    asked, `others` what was said, None where nothing was. `unasked` pairs the cheap judge was not asked
    about, for lack of budget or since its endpoint failed.
    """

    verdicts: Sequence[Verdict]
    others: Sequence[Preference | None]
    told: Sequence[bool]
    questions: Sequence[str]
    against: str
    source: str
    unasked: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeSetting:
    """A threshold that was set.

    Attributes:
        request: What was asked for.
        confidence: What says how sure the cheap judge is.
        cascade: The threshold and its guarantee.
        guarantee: The guarantee as the spec records it; None where no threshold reaches the level.
        battles: Battles or pairs of the cheap judge.
        unasked: Others that it was not asked about: the budget was used up, or its endpoint failed.
    """

    request: CascadeRequest
    confidence: CascadeConfidence
    cascade: Cascade
    guarantee: Guarantee | None
    battles: int
    unasked: int

    def as_json(self) -> dict[str, Any]:
        """The object that `arena judges cascade --json` prints."""
        found = self.cascade
        return {
            "cheap": self.request.cheap,
            "expensive": self.request.expensive,
            "confidence": self.confidence.value,
            "threshold": found.threshold,
            "level": found.level,
            "certainty": found.confidence,
            "agreement": found.agreement,
            "lower": found.lower,
            "escalated": found.escalated,
            "battles": self.battles,
            "unasked": self.unasked,
            "abstained": found.abstained,
            "labelled": found.labelled,
            "kept": found.kept,
            "unreadable": found.unreadable,
            "against": None if self.guarantee is None else self.guarantee.against,
        }


class CascadeService:
    """Use cases around cascades."""

    def __init__(self, store: Store, judges: JudgeService) -> None:
        self._store = store
        self._judges = judges

    def set_threshold(self, request: CascadeRequest) -> CascadeSetting:
        """Find the least confidence from which on the cheap judge agrees as often as asked.

        Raises:
            NotFoundError: There is no such judge or round.
            InputError: The judge has no such confidence, or the rounds are of other judges or other battles.
            InvalidFileError: The file of labels has problems; all of them are listed.
        """
        cheap, expensive = self._judges.spec(request.cheap), self._judges.spec(request.expensive)
        kind = _usable(cheap, expensive, request.confidence or usual_confidence(cheap))
        if request.rounds is not None:
            pairs = self._of_rounds(*request.rounds, cheap, expensive)
        else:
            pairs = self._of_labels(request, cheap)
        found = _set(pairs, cheap, kind, request)
        return CascadeSetting(
            request=request,
            confidence=kind,
            cascade=found,
            guarantee=_guarantee(found, pairs),
            battles=len(pairs.verdicts),
            unasked=pairs.unasked,
        )

    def write(self, setting: CascadeSetting, path: Path) -> JudgeSpec:
        """Write a cascade with its threshold and guarantee into a file, and read it back.

        Raises:
            InputError: No threshold reaches the level, so there is no cascade to write.
            ConflictError: There is such a file.
            FileFormatError: It cannot be written.
            SpecError: The judges do not make a cascade.
        """
        if setting.guarantee is None:
            message = f"There is no cascade to write. {setting.cascade}"
            raise InputError(message, advice="Ask for less, or set it on more pairs.")
        require_new_spec(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                names = setting.request.cheap, setting.request.expensive
                members = [_seen_from(name, path.parent) for name in names]
                threshold = setting.cascade.threshold or 0.0
                file.write(cascade_toml(members, setting.confidence, threshold, setting.guarantee))
        except FileExistsError as error:
            raise taken(path) from error
        except OSError as error:
            message = f"{path} cannot be written: {error.strerror}."
            raise FileFormatError(message, advice="Name a folder that you can write to.") from error
        return self._judges.spec(str(path))

    def _of_rounds(self, first: str, second: str, cheap: JudgeSpec, expensive: JudgeSpec) -> _Pairs:
        by_cheap, by_expensive = self._store.rounds.get(first), self._store.rounds.get(second)
        _require_judge(by_cheap, cheap)
        _require_judge(by_expensive, expensive)
        told = {
            battle.key: battle.preference
            for battle in self._store.verdicts.battles(second)
            if battle.outcome in SAID
        }
        verdicts, questions, keys = [], [], []
        for evidence in self._store.verdicts.evidence(first):
            if evidence.battle.outcome in SAID:
                verdicts.append(_verdict(evidence, evidence.battle.outcome))
                questions.append(evidence.battle.question_id)
                keys.append(evidence.battle.key)
        if not any(key in told for key in keys):
            message = f"{first} and {second} decided no battle both."
            raise InputError(message, advice="Name rounds on the same set, version and systems.")
        return _Pairs(
            verdicts=verdicts,
            others=[told.get(key) for key in keys],
            told=[key in told for key in keys],
            questions=questions,
            against=expensive.name,
            source=f"rounds {first} and {second}",
        )

    def _of_labels(self, request: CascadeRequest, cheap: JudgeSpec) -> _Pairs:
        if request.labels is None:
            raise InputError("There are no labels.", advice="Give --labels.")
        pairs = labelled_pairs(request.labels)
        budget = request.budget_usd
        deciding = self._judges.decide_all(
            cheap,
            [contest_of(pair.first) for pair in pairs],
            concurrency=request.concurrency,
            ledger=None if budget is None else MemoryLedger(require_amount(budget)),
        )
        decided = zip(pairs, asyncio.run(deciding), strict=True)
        asked = [(pair, verdict) for pair, verdict in decided if verdict.outcome in SAID]
        if not asked:
            told = f"{cheap.name} was asked about none of the {len(pairs)} pairs of {request.labels.name}."
            raise InputError(told, advice="Check its endpoint, or raise --budget-usd.")
        return _Pairs(
            verdicts=[verdict for _, verdict in asked],
            others=[majority(pair.labels) for pair, _ in asked],
            told=[True] * len(asked),
            questions=[pair.first.question for pair, _ in asked],
            against=PEOPLE,
            source=request.labels.name,
            unasked=len(pairs) - len(asked),
        )


def _usable(cheap: JudgeSpec, expensive: JudgeSpec, kind: CascadeConfidence | None) -> CascadeConfidence:
    problem = UNSURE if kind is None else confidence_problem(cheap, kind)
    if kind is None or problem:
        message = f"Nothing says how sure the judge {cheap.name} is: {problem}."
        raise InputError(message, advice="Choose another judge, or another --confidence.")
    if faults := "; ".join(cascade_problems((cheap, expensive), kind, threshold=1.0)):
        message = f"{cheap.name} and {expensive.name} make no cascade: {faults}."
        raise InputError(message, advice="Name two judges of different names, neither of them a cascade.")
    return kind


def _require_judge(round_: Round, spec: JudgeSpec) -> None:
    if round_.judge["hash"] != spec.hash:
        message = (
            f"The round {round_.name} was judged by {round_.judge_name}, which is not {spec.name} as it is."
        )
        advice = "Confidences are one judge's own: name the round's judge, in the order that it was asked."
        raise InputError(message, advice=advice)


def _verdict(evidence: BattleEvidence, outcome: Outcome) -> Verdict:
    battle = evidence.battle
    return Verdict(
        outcome=outcome,
        preference=battle.preference,
        flipped=battle.flipped,
        judgments=evidence.judgments,
    )


def _set(pairs: _Pairs, cheap: JudgeSpec, kind: CascadeConfidence, request: CascadeRequest) -> Cascade:
    sure = [confidence_of(cheap, kind, verdict) for verdict in pairs.verdicts]
    population = np.array([np.nan if value is None else value for value in sure], dtype=np.float64)
    agrees = np.array(
        [
            np.nan if verdict.preference is None or other is None else float(verdict.preference is other)
            for verdict, other in zip(pairs.verdicts, pairs.others, strict=True)
        ]
    )
    told = np.array(pairs.told, dtype=bool)
    return set_cascade(
        population,
        population[told],
        agrees[told],
        level=request.level,
        questions=[name for name, known in zip(pairs.questions, pairs.told, strict=True) if known],
        certainty=request.certainty,
    )


def _guarantee(found: Cascade, pairs: _Pairs) -> Guarantee | None:
    if found.threshold is None or found.agreement is None or found.lower is None:
        return None
    return Guarantee(
        against=pairs.against,
        level=found.level,
        certainty=found.confidence,
        pairs=found.labelled,
        kept=found.kept,
        agreement=round(found.agreement, 6),
        lower=round(found.lower, 6),
        escalated=round(found.escalated, 6),
        source=pairs.source,
    )


def _seen_from(name: str, folder: Path) -> str:
    """A judge by its name, or its file as seen from the folder of the cascade."""
    return Path(os.path.relpath(name, folder)).as_posix() if name.endswith(SUFFIX) else name
