"""Labels of people on battles."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from data.models.questions import Question
from data.models.words import RoundState


class LabelValue(StrEnum):
    """What a person says of a pair."""

    A = "a"
    B = "b"
    TIE = "tie"
    BOTH_BAD = "bothbad"
    SKIP = "skip"

    @property
    def flipped(self) -> LabelValue:
        """The same label of the pair in the other order."""
        return {LabelValue.A: LabelValue.B, LabelValue.B: LabelValue.A}.get(self, self)

    @property
    def winner(self) -> str:
        """Winner as battle files name it; empty for a skip."""
        words = {"a": "model_a", "b": "model_b", "tie": "tie", "bothbad": "tie (bothbad)"}
        return words.get(self.value, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRound:
    """A round with who may label its battles: invited accounts, or every visitor."""

    id: int
    name: str
    set_name: str
    state: RoundState
    open: bool
    everybody: bool
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BattlePair:
    """Both answers of a battle, empty where withdrawn, with all names that would tell whose they are."""

    battle: int
    question: Question
    system_a: str
    system_b: str
    answer_a: str
    answer_b: str
    names: tuple[str, ...]
    has_reference: bool
