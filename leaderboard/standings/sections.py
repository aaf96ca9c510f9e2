"""Optional sections of a board's JSON: shares judged, corrections by people, self-reported facts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from data.models.words import to_json
from data.text import counted, percent

MIN_JUDGED = 0.9
"""Judged share, overall or of any system, below which a board is partial."""
MAX_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedShare:
    """Judged and expected battles; `expected` excludes missing answers and battles left out by rules."""

    judged: int
    expected: int

    @property
    def share(self) -> float | None:
        """Judged share, 0–1; None if nothing was expected."""
        return self.judged / self.expected if self.expected else None

    @property
    def enough(self) -> bool:
        """True if enough was judged, or nothing was expected."""
        return self.share is None or self.share >= MIN_JUDGED

    def as_json(self) -> dict[str, int | float | None]:
        """Return the fields as a JSON object."""
        return to_json(self, share=self.share)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedShares:
    """Judged shares of a round and of each of its systems."""

    overall: JudgedShare
    systems: Mapping[str, JudgedShare]

    @property
    def partial(self) -> bool:
        """True if too little was judged, or nothing."""
        return not self.overall.judged or not all(
            share.enough for share in (self.overall, *self.systems.values())
        )

    def as_json(self) -> dict[str, Any]:
        """Return `judged_share` of a board's JSON."""
        systems = {name: share.as_json() for name, share in self.systems.items()}
        return {**self.overall.as_json(), "systems": systems}


def partial_sentence(standings: Mapping[str, Any]) -> str:
    """Return the note of a partial board; empty for a complete one."""
    if not standings.get("partial"):
        return ""
    shares: Mapping[str, Any] = standings["judged_share"]
    share = "" if shares["share"] is None else f" ({at_least_percent(shares['share'])})"
    sentence = f"Partial: {shares['judged']:,} of {shares['expected']:,} battles{share} were judged."
    least = sorted(
        (entry["share"], system)
        for system, entry in shares["systems"].items()
        if entry["share"] is not None and entry["share"] < MIN_JUDGED and system != standings["reference"]
    )
    if not least:
        return sentence
    named = ", ".join(f"{system} ({at_least_percent(value)})" for value, system in least[:MAX_NAMED])
    more = f" and {len(least) - MAX_NAMED} more" if len(least) > MAX_NAMED else ""
    return f"{sentence} Least judged: {named}{more}."


def at_least_percent(share: float) -> str:
    """Return a share in per cent, rounded down, so that a share below 90 % never reads as 90 %."""
    return percent(math.floor(share * 1000) / 1000)


PEOPLE = "people"
"""Key of the JSON section; only boards corrected by votes have it."""
NOT_APPLIED = "Human votes correct only the overall ratings, not these."


def people_ratings(standings: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the corrected rating of each system; empty if no votes correct the board."""
    return {row["system"]: row for row in (standings.get(PEOPLE) or {}).get("ratings", ())}


def people_votes(standings: Mapping[str, Any]) -> str:
    """Count the votes of people on a board."""
    section = standings[PEOPLE]
    annotators, left_out = section["annotators"], section.get("votes_left_out")
    people = "people" if annotators is None else counted(annotators, "person", "people")
    note = f" ({left_out:,} more are on battles without a verdict)" if left_out else ""
    return f"{counted(section['votes'], 'vote')} of {people}{note}"


def people_sentence(standings: Mapping[str, Any]) -> str:
    """Describe the human votes on a board, which do not affect its ranks."""
    if not standings.get(PEOPLE):
        return "Not checked by people"
    return f"{people_votes(standings)} correct the column “People would say”, not ranks and ratings"


SYSTEMS = "systems"
"""Key of the JSON section; only boards with self-reported facts have it."""
SELF_REPORTED = "Reported by the teams and not verified."
TEXTS = ("organisation", "model", "licence", "link", "open_weights", "parameters", "released")


class Figure(StrEnum):
    """Self-reported cost of an answer."""

    TOKENS = "tokens"
    USD = "usd"
    MILLISECONDS = "milliseconds"


@dataclass(frozen=True, slots=True)
class Mean:
    """Mean over the answers that report a figure, and their number."""

    mean: float
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFacts:
    """Self-reported facts on one system.

    Attributes:
        texts: Reported values of `TEXTS`.
        parameter_count: Number in `parameters`; None if unknown.
        figures: Means of reported figures over the answers.
        answers: Number of answers.
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
        """Return a value of `TEXTS`; empty if not reported."""
        return self.texts.get(name, "")

    def as_json(self) -> dict[str, Any]:
        """Return the facts as in a board's JSON."""
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
    def of(cls, fields: Mapping[str, Any]) -> "SystemFacts":
        """Parse the output of `as_json`."""
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
        """Return cells of flat tables; `NAME_answers` is the number of answers behind a mean."""
        cells: dict[str, object] = {name: self.text(name) or None for name in TEXTS}
        cells["parameter_count"] = self.parameter_count
        for figure in Figure:
            mean = self.figures.get(figure)
            cells[figure.value] = None if mean is None else mean.mean
            cells[f"{figure.value}_answers"] = None if mean is None else mean.answers
        return cells


NOT_REPORTED = SystemFacts()


def facts_by_system(standings: Mapping[str, Any]) -> Mapping[str, SystemFacts]:
    """Return the self-reported facts by system."""
    return {name: SystemFacts.of(fields) for name, fields in (standings.get(SYSTEMS) or {}).items()}
