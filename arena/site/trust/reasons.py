"""Why a figure of how far a judge can be trusted does not exist, in words for whoever sees a first board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class TrustFigure(StrEnum):
    """What the strip above a board says of its judge."""

    AGREEMENT = "agreement with people"
    VOTES = "people's votes"
    FLIPS = "position flips"
    FAILURES = "without a verdict"


class Judging(StrEnum):
    """How a board's verdicts came about.

    `EMBEDDED`: computed here, without an LLM. `ASKED`: by LLMs that were asked here. `IMPORTED`: elsewhere;
    here are only counts of them.
    """

    EMBEDDED = "embedded"
    ASKED = "asked"
    IMPORTED = "imported"


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """Why a figure does not exist: in a word or two, and in a clause."""

    short: str
    why: str


_NOT_KNOWN = "not known"
_ELSEWHERE = "counts of verdicts were published elsewhere"
_NOT_MEASURED = "not measured"
_NO_VOTES = "there are no votes on these battles"
_REASONS: Mapping[TrustFigure, Mapping[Judging, Unmeasured]] = MappingProxyType(
    {
        TrustFigure.AGREEMENT: {
            Judging.EMBEDDED: Unmeasured(
                "not calibrated", "no labels of people on these answers were held against it"
            ),
            Judging.ASKED: Unmeasured("not calibrated", "no labels of people were held against it"),
            Judging.IMPORTED: Unmeasured(_NOT_KNOWN, f"{_ELSEWHERE}, without labels of people"),
        },
        TrustFigure.VOTES: {
            Judging.EMBEDDED: Unmeasured("not checked by people", _NO_VOTES),
            Judging.ASKED: Unmeasured("not checked by people", _NO_VOTES),
            Judging.IMPORTED: Unmeasured("not checked by people", "there are no battles here to vote on"),
        },
        TrustFigure.FLIPS: {
            Judging.EMBEDDED: Unmeasured(
                _NOT_MEASURED, "it read one order only, and weighs each answer by itself"
            ),
            Judging.ASKED: Unmeasured(_NOT_MEASURED, "it was asked in one order only"),
            Judging.IMPORTED: Unmeasured(_NOT_KNOWN, f"{_ELSEWHERE}, without those of each order"),
        },
        TrustFigure.FAILURES: {
            Judging.EMBEDDED: Unmeasured("no battles", "nothing was judged"),
            Judging.ASKED: Unmeasured("no battles", "nothing was judged"),
            Judging.IMPORTED: Unmeasured(_NOT_KNOWN, f"{_ELSEWHERE}, without replies that held none"),
        },
    }
)


def why_unmeasured(figure: TrustFigure, judging: Judging) -> Unmeasured:
    """Why a board has no such figure."""
    return _REASONS[figure][judging]


def unmeasured(figure: TrustFigure, judging: Judging, meaning: str) -> tuple[str, str, str]:
    """The figure's label, that it does not exist, and why, before what it would mean."""
    reason = why_unmeasured(figure, judging)
    return figure, reason.short, f"{reason.why[0].upper()}{reason.why[1:]}. {meaning}"


_MEASURED: Mapping[str, str] = MappingProxyType(
    {
        TrustFigure.AGREEMENT: "It decides as people do on {}.",
        TrustFigure.FLIPS: "Judged in both orders, {} changed their verdict.",
        TrustFigure.FAILURES: "Of all battles, {} ended without a verdict.",
        "not answered": "Of all battles, {} were not judged, since a system gave no answer.",
    }
)


def as_sentences(label: str, value: str, meaning: str) -> str:
    """A figure of the strip as the answer to its question, or that there is none and why.

    What was measured begins with a digit; of what was not, the meaning begins with the reason.
    """
    if value[:1].isdigit():
        return _MEASURED[label].format(value)
    answer = f"{value[:1].upper()}{value[1:]}".removesuffix(".")
    reasons = next((found.values() for figure, found in _REASONS.items() if figure == label), ())
    if label == TrustFigure.FLIPS or value in {reason.short for reason in reasons}:
        return f"{answer}. {meaning.partition('. ')[0].removesuffix('.')}."
    return f"{answer}."
