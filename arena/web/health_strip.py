"""How far a board's judge can be trusted, as figures with what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Figure = tuple[str, str, str]


def health_strip(found: Mapping[str, Any]) -> tuple[Figure, ...]:
    """Label, value and meaning of each figure, from the board's `health`; empty for boards without."""
    if not found:
        return ()
    return (
        _agreement(found.get("agreement")),
        _share(
            "position flips",
            found["flips"],
            found["both_orders"],
            "Share of the battles judged in both orders whose verdict changed with the order; they are ties.",
            "not measured: one order only",
        ),
        _share(
            "unreadable",
            found["unreadable"],
            found["planned"],
            "Share of battles whose reply held no verdict, after a second request; they enter no rate.",
            "no battles",
        ),
        _share(
            "attacks that worked",
            found["attacks"]["succeeded"],
            found["attacks"]["judged"],
            "Share of planted attacks (canaries) in answers that the judge fell for; lower is better.",
            "none planted",
        ),
    )


def _agreement(found: Mapping[str, Any] | None) -> Figure:
    label = "agreement with people"
    meaning = "Share of pairs that people decided on which the judge decides alike, a tie being a miss."
    if found is None or found.get("decisive_accuracy") is None:
        return label, "not calibrated", meaning
    kappa = "" if found.get("kappa") is None else f", κ {found['kappa']:.2f}"
    return label, f"{100 * found['decisive_accuracy']:.0f} % of {found['pairs']:,} pairs{kappa}", meaning


def _share(label: str, part: int, whole: int, meaning: str, without: str) -> Figure:
    return label, f"{100 * part / whole:.1f} % of {whole:,}" if whole else without, meaning
