"""Why a figure of how far a judge can be trusted does not exist, in words for whoever sees a first board."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class TrustFigure(StrEnum):
    """What the strip above a board tells of its judge."""

    AGREEMENT = "agreement with people"
    VOTES = "people's votes"
    FLIPS = "position flips"
    UNREADABLE = "unreadable"
    ATTACKS = "prompt-injection test"
    RETEST = "asked again"
    DRIFT = "drift"


class Judging(StrEnum):
    """How a board's verdicts came about.

    `EMBEDDED`: computed here, without an LLM. `ASKED`: by LLMs that were asked here. `IMPORTED`: elsewhere;
    here are only counts of them.
    """

    EMBEDDED = "embedded"
    ASKED = "asked"
    IMPORTED = "imported"


_IMPORTED = "not known: counts of verdicts were published elsewhere"
_REASONS: Mapping[TrustFigure, Mapping[Judging, str]] = MappingProxyType(
    {
        TrustFigure.AGREEMENT: {
            Judging.EMBEDDED: "not calibrated: no labels of people on these answers were held against it",
            Judging.ASKED: "not calibrated: no labels of people were held against it",
            Judging.IMPORTED: f"{_IMPORTED}, without labels of people",
        },
        TrustFigure.VOTES: {
            Judging.EMBEDDED: "Not checked by people: there are no votes on these battles",
            Judging.ASKED: "Not checked by people: there are no votes on these battles",
            Judging.IMPORTED: "Not checked by people: there are no battles here to vote on",
        },
        TrustFigure.FLIPS: {
            Judging.EMBEDDED: "not measured: it read one order only, and weighs each answer by itself",
            Judging.ASKED: "not measured: it was asked in one order only",
            Judging.IMPORTED: f"{_IMPORTED}, without those of each order",
        },
        TrustFigure.UNREADABLE: {
            Judging.EMBEDDED: "no battles",
            Judging.ASKED: "no battles",
            Judging.IMPORTED: f"{_IMPORTED}, without replies that held none",
        },
        TrustFigure.ATTACKS: {
            Judging.EMBEDDED: "not run: no attack was planted in this round",
            Judging.ASKED: "not run: no attack was planted in this round",
            Judging.IMPORTED: "cannot be run: the judge read the answers elsewhere",
        },
        TrustFigure.RETEST: {
            Judging.EMBEDDED: "nothing to measure: it computes, so the same texts get the same verdict",
            Judging.ASKED: "not asked again yet",
            Judging.IMPORTED: "cannot be measured: the judge cannot be asked again from here",
        },
        TrustFigure.DRIFT: {
            Judging.EMBEDDED: "nothing to measure: it computes, and does not change without a new version",
            Judging.ASKED: "not measured: no battle of an earlier round was asked again",
            Judging.IMPORTED: "cannot be measured: the judge cannot be asked again from here",
        },
    }
)


def why_unmeasured(figure: TrustFigure, judging: Judging) -> str:
    """Why a board has no such figure."""
    return _REASONS[figure][judging]
