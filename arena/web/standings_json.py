"""The one reader of a board's JSON (made by `leaderboard.standings`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from arena.web.agreement_notes import agreement_notes
from arena.web.health_strip import health_strip
from arena.web.views import BoardView, Bounded, Controlled, Gap, Line
from data.records import Board
from leaderboard.meetings import read_meetings

COMPREHENSIVENESS = "comprehensiveness"
LENGTH_CONTROLLED = "length-controlled"
FACTUALITY, PREFERRED = "factuality-", "factuality-fr3 "
AT_A_GLANCE = ("judge", "model", "question set", "pairs", "finished")
METHODS = {
    "bradley-terry": "Bradley-Terry",
    "davidson": "Davidson",
    "rao-kupper": "Rao-Kupper",
    "elo": "online Elo",
}
Json = Mapping[str, Any]


def title_of(board: Board) -> str:
    """What readers see as a board's name."""
    return str(board.standings.get("title") or board.name)


def read_board(board: Board) -> BoardView:
    """Read a published board."""
    found: Json = board.standings
    reference = found.get("reference") or ""
    attempts: Mapping[str, int] = found.get("attempts") or {}
    return BoardView(
        name=board.name,
        title=title_of(board),
        note=found.get("note") or "",
        notice=board.notice,
        round_name=board.round_name,
        content_hash=board.content_hash,
        published=board.published_at.date().isoformat(),
        reference=reference,
        domains={domain["id"]: domain["label"] for domain in found["domains"]},
        lines={
            domain: tuple(_line(line, reference, attempts.get(line["system"])) for line in lines)
            for domain, lines in found["lines"].items()
        },
        facts=(
            *((label, value) for label, value in found["facts"].items() if label in AT_A_GLANCE),
            *_outcomes(found),
        ),
        details=tuple((label, value) for label, value in found["facts"].items() if label not in AT_A_GLANCE),
        method=_method(found),
        meetings=read_meetings(found["head_to_head"]),
        gaps=_gaps(found.get("differences") or {}),
        controlled=_controlled(found.get("beside") or ()),
        health=health_strip(found.get("health") or {}),
        agreement=agreement_notes(found),
    )


def _gaps(found: Json) -> dict[tuple[str, str], Gap]:
    names = found.get("systems", ())
    return {
        (names[one], names[other]): Gap(points=Bounded(value=points, lower=lower, upper=upper), chance=chance)
        for one, other, points, lower, upper, chance in found.get("pairs", ())
    }


def _controlled(found: Iterable[Json]) -> Controlled:
    mine = next((one for one in found if one["kind"] == LENGTH_CONTROLLED), None)
    if mine is None:
        return Controlled(ratings={}, note="")
    ratings = {
        one["system"]: (value, one["rank_lower"], one["rank_upper"], one["tie_group"])
        for one in mine["ratings"]
        if (value := _bounded(one, "rating", "lower", "upper")) is not None
    }
    return Controlled(ratings=ratings, note=mine["note"])


def _line(found: Json, reference: str, attempts: int | None) -> Line:
    rating: Json = found["rating"] or {}
    rate: Json = found["rate"] or {}
    return Line(
        system=found["system"],
        rank_lower=rating.get("rank_lower"),
        rank_upper=rating.get("rank_upper"),
        tie_group=rating.get("tie_group"),
        rating=_bounded(rating, "rating", "lower", "upper"),
        win=_bounded(rate, "win_rate", "lower", "upper"),
        win_tie=_bounded(rate, "win_tie_rate", "win_tie_lower", "win_tie_upper"),
        battles=rating.get("battles") or rate.get("battles") or 0,
        rate_battles=rate.get("battles") or 0,
        questions=rate.get("questions") or 0,
        comprehensiveness=_metric(found["scores"]),
        factuality=asked_factuality(found["scores"]),
        no_answer=found["no_answer_share"],
        words=found["median_words"],
        answers=found["answers"],
        flags=tuple(rating.get("flags", ())),
        is_reference=found["system"] == reference,
        badges=tuple(found.get("badges", ())),
        attempts=attempts,
        scores={
            name: mean
            for name, score in found["scores"].items()
            if (mean := _bounded(score, "mean", "lower", "upper")) is not None
        },
    )


def _metric(scores: Json) -> Bounded | None:
    """The mean of the comprehensiveness that the answers were scored with; the first of several."""
    names = sorted(name for name in scores if name.startswith(COMPREHENSIVENESS))
    return _bounded(scores[names[0]], "mean", "lower", "upper") if names else None


def asked_factuality(scores: Json) -> Bounded | None:
    """The mean factual precision by an LLM, FR3's where there is one; the lexical one would mislead here."""
    names = sorted(name for name in scores if name.startswith(FACTUALITY) and " " in name)
    best = [name for name in names if name.startswith(PREFERRED)] or names
    return _bounded(scores[best[0]], "mean", "lower", "upper") if best else None


def _bounded(found: Json, value: str, lower: str, upper: str) -> Bounded | None:
    if found.get(value) is None:
        return None
    return Bounded(value=found[value], lower=found.get(lower), upper=found.get(upper))


def _outcomes(found: Json) -> tuple[tuple[str, str], ...]:
    """How the planned battles ended: the judged always, other outcomes where there are any."""
    counts = {name: count for name, count in found["outcomes"].items() if count or name == "judged"}
    return tuple((f"battles {name}", f"{count:,}") for name, count in counts.items())


def _method(found: Json) -> str:
    settings: Json | None = found["rating_settings"]
    if settings is None:
        return f"There are no ratings: {found['unrankable']}"
    anchor = settings.get("anchor")
    scale = f"{anchor['system']} fixed at {anchor['rating']:.0f}" if anchor else "mean 1000"
    method = METHODS.get(settings["method"], settings["method"])
    draws = settings.get("bootstrap")
    unit = "questions" if settings.get("cluster") == "question" else "battles"
    interval = (
        f"{draws:,} resamples of {unit}, seed {settings['seed']}" if draws else str(settings["interval"])
    )
    opponent = found["rate_settings"].get("reference")
    rates = f"against {opponent} alone" if opponent else "against every opponent"
    ratings = f"Ratings: {method}, {scale}, 400 points a factor of ten."
    return f"Rates are {rates}. {ratings} 95 % intervals: {interval}."
