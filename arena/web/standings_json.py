"""The one reader of a board's JSON (made by `leaderboard.standings`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.web.views import BoardView, Bounded, Line
from data.records import Board

COMPREHENSIVENESS = "comprehensiveness"
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
            domain: tuple(_line(line, reference) for line in lines)
            for domain, lines in found["lines"].items()
        },
        facts=(
            *((label, value) for label, value in found["facts"].items() if label in AT_A_GLANCE),
            *_outcomes(found),
        ),
        details=tuple((label, value) for label, value in found["facts"].items() if label not in AT_A_GLANCE),
        method=_method(found),
    )


def _line(found: Json, reference: str) -> Line:
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
        no_answer=found["no_answer_share"],
        words=found["median_words"],
        answers=found["answers"],
        flags=tuple(rating.get("flags", ())),
        is_reference=found["system"] == reference,
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
