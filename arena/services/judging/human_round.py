"""What people would say of the systems of a label file, and how far its judge is from that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from data.errors import InputError, UnrankableError
from data.records import HumanLabel, Preference
from leaderboard.agreement.bias import HeldBattle, SystemBias, system_biases
from leaderboard.agreement.pairs import CalibrationPair
from leaderboard.battles import BattleTable
from leaderboard.formats.places import Place
from leaderboard.people import CorrectedTable, Votes, correct

SHARES = {Preference.A: 1.0, Preference.TIE: 0.5, Preference.B: 0.0}
WINNERS = {Preference.A: "model_a", Preference.TIE: "tie", Preference.B: "model_b"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanRound:
    """What the labels say of a judge's ratings.

    Attributes:
        bias: By system and domain; empty where the file names no systems.
        table: What a full human round on questions like these would say, beside what the judge says of the
            same pairs; None where that cannot be told.
        unknown: Why it cannot; empty where it can.
    """

    bias: tuple[SystemBias, ...]
    table: CorrectedTable | None
    unknown: str

    def as_json(self) -> dict[str, Any]:
        """The fields `system_bias`, `human_round` and `human_round_unknown` of a calibration."""
        return {
            "system_bias": [one.as_json() for one in self.bias],
            "human_round": None if self.table is None else self.table.as_json(),
            "human_round_unknown": self.unknown,
        }


def human_round(pairs: Sequence[HumanLabel], held: Sequence[CalibrationPair]) -> HumanRound:
    """Hold a judge against people system by system; every label is a vote.

    `pairs` name the systems of those in `held`. Pairs without a verdict or without two names are left out:
    what the judge cannot decide is counted elsewhere.
    """
    kept = [
        (pair, one, one.preference)
        for pair, one in zip(pairs, held, strict=True)
        if one.preference is not None and pair.system_a and pair.system_b and pair.system_a != pair.system_b
    ]
    if not kept:
        return HumanRound(bias=(), table=None, unknown="The labels name no systems that the judge decided.")
    battles = [
        HeldBattle(
            question=one.question,
            domain=one.domain,
            system_a=pair.system_a,
            system_b=pair.system_b,
            judge=SHARES[preference],
            people=fmean(map(_share, one.labels)),
        )
        for pair, one, preference in kept
    ]
    try:
        table, unknown = _corrected(kept), ""
    except (InputError, UnrankableError) as error:
        table, unknown = None, str(error)
    return HumanRound(bias=system_biases(battles), table=table, unknown=unknown)


def _corrected(kept: Sequence[tuple[HumanLabel, CalibrationPair, Preference]]) -> CorrectedTable:
    plan = BattleTable.from_columns(
        question_id=[one.question for _, one, _ in kept],
        domain=[one.domain or "all" for _, one, _ in kept],
        model_a=[pair.system_a for pair, _, _ in kept],
        model_b=[pair.system_b for pair, _, _ in kept],
        winner=[WINNERS[said] for _, _, said in kept],
    )
    rows = [(pair, one.question, label) for pair, one, _ in kept for label in one.labels]
    votes = Votes.from_columns(
        [question for _, question, _ in rows],
        [pair.system_a for pair, _, _ in rows],
        [pair.system_b for pair, _, _ in rows],
        None,
        [_share(label) for _, _, label in rows],
        place=Place(file="labels", first_row=1),
    )
    return correct(plan, votes)


def _share(label: float) -> float:
    """Share of the win for side a of a label, which is positive where b is better."""
    return 0.5 if label == 0 else 0.0 if label > 0 else 1.0
