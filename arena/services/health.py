"""How far a round's judge can be trusted, for the strip above a board."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena.services.attacks import RoundAttacks
from data.errors import InputError
from data.files import ReadLimits, parse_json, read_text
from data.records import BattleColumns, Outcome

KEPT = ("pairs", "decisive_accuracy", "accuracy", "kappa", "pearson", "intervals")


def health_of(
    battles: BattleColumns, attacks: RoundAttacks, agreement: Mapping[str, Any] | None
) -> Mapping[str, object]:
    """The judge's health in a round.

    Returns:
        `planned` battles and the `unreadable` among them; `both_orders`: battles read in both orders, and
        the `flips` among them; `attacks`: canaries `judged` and `succeeded`; `agreement` with people as
        `judges calibrate` found it, or null.
    """
    return {
        "planned": len(battles),
        "unreadable": int((battles.outcome == list(Outcome).index(Outcome.UNREADABLE)).sum()),
        "both_orders": int((battles.flipped >= 0).sum()),
        "flips": int((battles.flipped > 0).sum()),
        "attacks": {"judged": attacks.report.judged, "succeeded": attacks.report.succeeded},
        "agreement": agreement,
    }


def read_agreement(path: Path, judge: str) -> Mapping[str, Any]:
    """A judge's agreement with people from the output of `arena judges calibrate --json`.

    Raises:
        InputError: The file is something else, or is about other judges.
    """
    found = parse_json(read_text(path, ReadLimits()), 0)
    reports = [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, dict)]
    mine = next((one for one in reports if one.get("judge") == judge), None)
    if mine is None or "pairs" not in mine:
        names = ", ".join(str(one.get("judge")) for one in reports) or "nothing"
        raise InputError(
            f"{path} tells nothing of the judge {judge}, but of {names}.",
            advice=f"Make it with `arena judges calibrate --judge {judge} --labels FILE --json`.",
        )
    return {name: mine[name] for name in KEPT if name in mine}
