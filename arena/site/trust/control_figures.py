"""A board's ratings under each control, and what biases its judge, read from its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from arena.site.ui.formats import Bounded, points
from leaderboard.vocabulary import CENTRED, COVARIATES, Control

LENGTH_CONTROLLED = "length-controlled"
LABELS: Mapping[Control, str] = MappingProxyType({control: control.words for control in Control})
"""What readers see for a control."""
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A rating with the best and the worst place that the battles leave open, letters and component."""

    rating: Bounded
    rank_lower: int
    rank_upper: int
    letters: str | None
    component: int
    ladder: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """What a covariate is worth in points; `scale` says of what, `inflation` how blurred it is."""

    name: str
    points: Bounded
    scale: str
    inflation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled:
    """Ratings beside a board's own, best first: under a control, or of battles between systems alone.

    `note` says what length is worth, what they are of, or why there are none. `left_out` says why covariates
    have no coefficient, and `collinearity` whether those that have one can be told apart.
    """

    ratings: Mapping[str, Placed]
    note: str
    coefficients: tuple[Coefficient, ...] = ()
    left_out: tuple[str, ...] = ()
    collinearity: str = ""


NO_RATINGS = Controlled(ratings=MappingProxyType({}), note="")


def read_beside(standings: Json, kind: str) -> Controlled:
    """The ratings of a kind that stand beside a board's own."""
    sections = standings.get("beside") or ()
    section = next((section for section in sections if section["kind"] == kind), None)
    return NO_RATINGS if section is None else _read(section)


def read_controls(standings: Json) -> Mapping[Control, Controlled]:
    """The ratings under each control, or why there are none; older boards know control for length alone."""
    length = read_beside(standings, LENGTH_CONTROLLED)
    fits = (standings.get(COVARIATES) or {}).get("fits", ())
    if standings.get("shape", 1) == 1:
        if length.ratings:
            length = replace(length, note=f"{length.note} {CENTRED}")
        fits = [
            {**fit, "left_out": [*fit["left_out"], {"reason": CENTRED}]} if "left_out" in fit else fit
            for fit in fits
        ]
    controls = {
        (control := Control(fit["control"])): _read(fit | {"note": _note(fit, control)}) for fit in fits
    }
    known = controls.get(Control.LENGTH, NO_RATINGS)
    return {Control.LENGTH: replace(known, ratings=length.ratings, note=length.note)} | {
        control: fit for control, fit in controls.items() if control is not Control.LENGTH
    }


def _note(fit: Json, control: Control) -> str:
    """What each covariate is worth, or why there is no fit, in a sentence."""
    if "coefficients" not in fit:
        return str(fit["note"])
    worth = ", ".join(
        "{} {} ({} to {})".format(
            row["name"].replace("_", " "), *map(points, (row["value"], row["lower"], row["upper"]))
        )
        for row in fit["coefficients"]
    )
    return f"What {LABELS[control]} is worth, in points: {worth}."


def _read(section: Json) -> Controlled:
    return Controlled(
        ratings={row["system"]: placed for row in section.get("ratings", ()) if (placed := _placed(row))},
        note=section["note"],
        coefficients=tuple(
            Coefficient(
                name=row["name"].replace("_", " "),
                points=Bounded(value=row["value"], lower=row["lower"], upper=row["upper"]),
                scale=row["scale"],
                inflation=row["vif"],
            )
            for row in section.get("coefficients", ())
        ),
        left_out=tuple(row["reason"] for row in section.get("left_out", ())),
        collinearity=(section.get("collinearity") or {}).get("sentence", ""),
    )


def _placed(row: Json) -> Placed | None:
    if row["rating"] is None:
        return None
    return Placed(
        rating=Bounded(value=row["rating"], lower=row.get("lower"), upper=row.get("upper")),
        rank_lower=row["rank_lower"],
        rank_upper=row["rank_upper"],
        letters=row.get("letters"),
        component=row.get("component", 0),
        ladder=row.get("ladder", row.get("component", 0)),
    )
