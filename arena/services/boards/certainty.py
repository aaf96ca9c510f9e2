"""Checks of a board's leader: labels, length, order, verdicts, votes of people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.formats import points
from arena.models.boards import Check, Line
from arena.services.boards.judge_health import FEW, WITHOUT_VERDICT, Judging, TrustFigure
from arena.services.boards.sentences import listed
from data.text import are, percent
from leaderboard.standings.sections import people_ratings
from leaderboard.vocabulary import COVARIATES, Covariate

MAX_FLIPS, MAX_WITHOUT_VERDICT = 0.1, 0.05
"""Shares of flipped and missing verdicts above which the first place is in doubt."""
LENGTH_PART = "length"
MAX_NAMED = 2
Json = Mapping[str, Any]


def checks_of(standings: Json, judging: Judging, systems: Sequence[Line]) -> tuple[Check, ...]:
    """Return the checks of a board's leader; `systems` are best first."""
    first = next((line.system for line in systems if not line.unranked), "")
    if judging is Judging.IMPORTED or not first:
        return ()
    health, rivals = standings.get("health") or {}, len(systems) > 1
    return (
        _labels(health.get("agreement")),
        *(_length(standings, first) if rivals else ()),
        *_flips(health),
        *_without_verdict(standings, health),
        *_people(standings, first),
    )


def _labels(report: Json | None) -> Check:
    share = None if report is None else report.get("decisive_accuracy")
    if report is None or share is None:
        return Check("this judge is not checked against people on these answers", TrustFigure.AGREEMENT.part)
    lower, _ = (report.get("intervals") or {}).get("decisive_accuracy") or (None, None)
    clause = f"this judge agrees with people on {percent(share, decimals=0)} of {report['pairs']:,} pairs"
    holds = None if lower is None or report["pairs"] < FEW else lower > 1 / 2
    return Check(clause, TrustFigure.AGREEMENT.part, holds)


def _length(standings: Json, first: str) -> Iterator[Check]:
    fit: Json = next(iter((standings.get(COVARIATES) or {}).get("fits") or ()), {})
    length = next((row for row in fit.get("coefficients", ()) if row["name"] == Covariate.LENGTH), None)
    group = fit.get("first")
    if length is None:
        return
    if not group:
        yield Check(f"a longer answer gains about {points(length['value'])} points", LENGTH_PART)
    elif group == [first]:
        yield Check("also first when adjusted for length", LENGTH_PART, holds=True)
    else:
        rivals = [name for name in group if name != first]
        named = listed(rivals, MAX_NAMED)
        shared = f"{first} shares first place with {named}"
        place = shared if first in group else f"{named} {are(len(rivals))} first"
        yield Check(f"when adjusted for length, {place}", LENGTH_PART, holds=False)


def _flips(health: Json) -> Iterator[Check]:
    if (orders := health.get("both_orders")) and (flips := health.get("flips")):
        share = flips / orders
        clause = f"the order of the answers changed {percent(share)} of verdicts"
        yield Check(clause, TrustFigure.FLIPS.part, share <= MAX_FLIPS)


def _without_verdict(standings: Json, health: Json) -> Iterator[Check]:
    lost, planned = sum(standings["outcomes"].get(name, 0) for name in WITHOUT_VERDICT), health.get("planned")
    if lost and planned:
        share = lost / planned
        clause = f"{percent(share)} of battles have no verdict"
        yield Check(clause, TrustFigure.FAILURES.part, share <= MAX_WITHOUT_VERDICT)


def _people(standings: Json, first: str) -> Iterator[Check]:
    """Compare with ratings from people's votes; overlapping intervals mean too few votes."""
    rated = {
        name: row
        for name, row in people_ratings(standings).items()
        if name != standings.get("reference") and row.get("lower") is not None
    }
    own = rated.pop(first, None)
    if own is None:
        return
    above = [name for name, row in rated.items() if row["lower"] > own["upper"]]
    if above:
        clause = f"people's votes put {listed(above, MAX_NAMED)} above {first}"
        yield Check(clause, TrustFigure.VOTES.part, holds=False)
    elif all(row["upper"] < own["lower"] for row in rated.values()):
        yield Check("also first by people's votes", TrustFigure.VOTES.part, holds=True)
    else:
        yield Check("people's votes are too few to confirm it", TrustFigure.VOTES.part)
