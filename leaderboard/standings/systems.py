"""Self-reported facts on systems, from cards and answers, unchecked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

SYSTEMS = "systems"
"""The key of a board's JSON; boards of systems of which nothing is said have none."""
SELF_REPORTED = "Reported by the teams themselves, and checked by nobody."
TEXTS = ("organisation", "model", "licence", "link", "open_weights", "parameters", "released")


class Figure(StrEnum):
    """Cost of an answer as its system reports it."""

    TOKENS = "tokens"
    USD = "usd"
    MILLISECONDS = "milliseconds"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over the answers that report a figure, and how many these are."""

    mean: float
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFacts:
    """Self-reported facts on one system.

    Attributes:
        texts: Of `TEXTS`, those that it says.
        parameter_count: How many parameters `parameters` are; None where it does not say.
        figures: Means over its answers, of those that some report.
        answers: How many answers it has in all.
    """

    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    parameter_count: float | None = None
    figures: Mapping[Figure, Mean] = field(default_factory=lambda: MappingProxyType({}))
    answers: int = 0

    @property
    def is_empty(self) -> bool:
        """True if nothing is reported."""
        return not self.texts and not self.figures

    def text(self, name: str) -> str:
        """One of `TEXTS`; empty where it does not say."""
        return self.texts.get(name, "")

    def as_json(self) -> dict[str, Any]:
        """As a board's snapshot has it."""
        return {
            **self.texts,
            "parameter_count": self.parameter_count,
            "answers": self.answers,
            "figures": {
                figure.value: {"mean": mean.mean, "answers": mean.answers}
                for figure, mean in self.figures.items()
            },
        }

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> SystemFacts:
        """Read the output of `as_json` back."""
        return cls(
            texts={name: fields[name] for name in TEXTS if fields.get(name)},
            parameter_count=fields.get("parameter_count"),
            figures={
                Figure(name): Mean(mean["mean"], mean["answers"])
                for name, mean in (fields.get("figures") or {}).items()
            },
            answers=fields.get("answers", 0),
        )

    def cells(self) -> dict[str, object]:
        """Return the same as cells of flat tables, `NAME_answers` being of how many answers a mean is."""
        cells: dict[str, object] = {name: self.text(name) or None for name in TEXTS}
        cells["parameter_count"] = self.parameter_count
        for figure in Figure:
            mean = self.figures.get(figure)
            cells[figure.value] = None if mean is None else mean.mean
            cells[f"{figure.value}_answers"] = None if mean is None else mean.answers
        return cells


NOT_REPORTED = SystemFacts()


def facts_by_system(standings: Mapping[str, Any]) -> Mapping[str, SystemFacts]:
    """Collect the reported facts of a board's systems, without those that report nothing."""
    return {name: SystemFacts.of(fields) for name, fields in (standings.get(SYSTEMS) or {}).items()}
