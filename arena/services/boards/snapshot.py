"""Reader of a board's JSON."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any

from arena.formats import Bounded
from arena.models.boards import OVERALL, BoardView, Line, Rates
from arena.services.boards.certainty import checks_of
from arena.services.boards.judge_health import health_strip, judging_of, read_between, read_style
from data.models import Board, MissingRule
from leaderboard.standings.columns import board_lines, declined_share
from leaderboard.standings.grid import FEW_QUESTIONS, grid_of
from leaderboard.standings.head_to_head import read_head_to_head
from leaderboard.standings.sections import PEOPLE, facts_by_system, partial_sentence, people_sentence

STORED_LABELS = {"yardsticks": "ground truth"}
AT_A_GLANCE = ("judge", "model", "question set", "pairs", "finished")
METHODS = {
    "bradley-terry": "Bradley-Terry",
    "davidson": "Davidson",
    "rao-kupper": "Rao-Kupper",
    "elo": "online Elo",
}
Json = Mapping[str, Any]


def read_board(board: Board) -> BoardView:
    """Read a published board."""
    standings: Json = board.standings
    reference = standings.get("reference") or ""
    judging = judging_of(standings, board.round_name)
    lines = {
        domain: (
            by_own_battles(read, shape=standings.get("shape", 1))
            if board.round_name is not None and domain != OVERALL
            else read
        )
        for domain, part in board_lines(standings).items()
        for read in (tuple(_line(line, reference) for line in part),)
    }
    return BoardView(
        name=board.name,
        title=board.title,
        note=standings.get("note") or "",
        notice=board.notice,
        marks=board.marks,
        round_name=board.round_name,
        content_hash=board.content_hash,
        published=board.published_at.date().isoformat(),
        reference=reference,
        reference_by=standings.get("reference_by") or "",
        domains={domain["id"]: domain["label"] for domain in standings["domains"]},
        domain_notes={domain["id"]: domain.get("note", "") for domain in standings["domains"]},
        lines=lines,
        facts=(
            *((label, value) for label, value in standings["facts"].items() if label in AT_A_GLANCE),
            *_outcomes(standings),
        ),
        details=tuple(
            (STORED_LABELS.get(label, label), value)
            for label, value in standings["facts"].items()
            if label not in AT_A_GLANCE
        ),
        method=_method(standings),
        meetings=read_head_to_head(standings["head_to_head"]),
        gaps=_gaps(standings.get("differences") or {}),
        style=read_style(standings),
        between=read_between(standings),
        health=health_strip(standings, judging),
        skips=standings.get("missing") == MissingRule.SKIP,
        partial=partial_sentence(standings),
        people=_corrected(standings),
        self_reported=facts_by_system(standings),
        judge=standings["facts"].get("judge", ""),
        judged_on=standings["facts"].get("finished", ""),
        questions=None if board.round_name is None else _questions(standings),
        battles=standings["outcomes"]["judged"],
        grid=grid_of(standings),
        checks=checks_of(standings, judging, [line for line in lines[OVERALL] if not line.is_reference]),
    )


def _questions(standings: Json) -> int:
    rows = (line["rate"] or line.get("rate_against_all") or {} for line in standings["lines"][OVERALL])
    return max((row.get("questions") or 0 for row in rows), default=0)


def _corrected(standings: Mapping[str, Any]) -> str:
    section = standings.get(PEOPLE)
    return f"{people_sentence(standings)}. {section['advice']}" if section else ""


def _gaps(differences: Json) -> dict[tuple[str, str], Bounded]:
    names = differences.get("systems", ())
    return {
        (names[first], names[second]): Bounded(value=points, lower=lower, upper=upper)
        for first, second, points, lower, upper, _ in differences.get("pairs", ())
    }


def _line(fields: Json, reference: str) -> Line:
    rating: Json = fields["rating"] or {}
    is_reference = fields["system"] == reference
    against_all = _rates(fields["rate_against_all"] or {})
    rates = _rates(fields["rate"] or {})
    return Line(
        system=fields["system"],
        rank_lower=rating.get("rank_lower"),
        rank_upper=rating.get("rank_upper"),
        letters=rating.get("letters"),
        rating=_bounded(rating, "rating", "lower", "upper"),
        rates=rates,
        against_all=against_all if is_reference else None,
        battles=rating.get("battles") or (against_all if is_reference else rates).battles,
        # Old boards count places within each group.
        ladder=rating.get("ladder", rating.get("component", 0)),
        own_evidence=rating.get("own_evidence"),
        no_answer=declined_share(fields),
        words=fields["median_words"],
        answers=fields["answers"],
        flags=tuple(rating.get("flags", ())),
        is_reference=is_reference,
        unranked=fields.get("unranked", ""),
        badges=tuple(fields.get("badges", ())),
        facts=fields,
        scores={
            name: mean
            for name, score in fields["scores"].items()
            if (mean := _bounded(score, "mean", "lower", "upper")) is not None
        },
    )


def _rates(fields: Json) -> Rates:
    return Rates(
        win=_bounded(fields, "win_rate", "lower", "upper"),
        win_tie=_bounded(fields, "win_tie_rate", "win_tie_lower", "win_tie_upper"),
        battles=fields.get("battles") or 0,
        questions=fields.get("questions") or 0,
    )


def _bounded(fields: Json, value: str, lower: str, upper: str) -> Bounded | None:
    if fields.get(value) is None:
        return None
    return Bounded(value=fields[value], lower=fields.get(lower), upper=fields.get(upper))


def _outcomes(standings: Json) -> tuple[tuple[str, str], ...]:
    """Return the counts of planned battles by outcome: judged, and other non-zero ones."""
    counts = {name: count for name, count in standings["outcomes"].items() if count or name == "judged"}
    return tuple((f"battles {name}", f"{count:,}") for name, count in counts.items())


def _method(standings: Json) -> str:
    settings: Json | None = standings["rating_settings"]
    if settings is None:
        return f"There are no ratings: {standings['unrankable']}"
    anchor = settings.get("anchor")
    scale = "mean 1000"
    if anchor:
        # Several anchors fix only their mean.
        anchors = anchor if isinstance(anchor, list) else [anchor]
        fixed = " and ".join(f"{row['system']} at {row['rating']:.0f}" for row in anchors)
        scale = f"{fixed} on average" if len(anchors) > 1 else fixed.replace(" at ", " fixed at ")
    method = METHODS.get(settings["method"], settings["method"])
    draws = settings.get("bootstrap")
    unit = "questions" if settings.get("cluster") == "question" else "battles"
    interval = (
        f"{draws:,} resamples of {unit}, seed {settings['seed']}" if draws else str(settings["interval"])
    )
    opponent = standings["rate_settings"].get("reference")
    rates = (
        f"against {'the ' * (opponent == 'reference')}{opponent}" if opponent else "against every opponent"
    )
    ratings = f"Ratings: {method}, {scale}, 400 points for tenfold odds."
    notes = "".join(f" {note[:1].upper()}{note[1:]}." for note in settings.get("notes") or ())
    return f"Rates are {rates}. {ratings} 95 % intervals: {interval}.{notes}"


OWN_PLACES = 3
"""First snapshot version whose domain ranks use only the domain's own battles."""


def by_own_battles(lines: tuple[Line, ...], *, shape: int) -> tuple[Line, ...]:
    """Return the lines of a domain by place, then by win + tie rate.

    Ratings of domains with fewer than `FEW_QUESTIONS` questions are removed, since they are shrunk towards
    the overall ratings. Old snapshots have no ranks by the domain's own battles.
    """
    few = max((line.own_rates.questions for line in lines), default=0) < FEW_QUESTIONS
    if shape < OWN_PLACES and any(line.own_evidence is not None for line in lines):
        lines = tuple(replace(line, rank_lower=None, rank_upper=None, letters=None) for line in lines)
    if few:
        lines = tuple(replace(line, rating=None, own_evidence=None, flags=()) for line in lines)
    systems = iter(sorted((line for line in lines if not line.is_reference), key=_order))
    return tuple(line if line.is_reference else next(systems) for line in lines)


def _order(line: Line) -> tuple[bool, float, float]:
    rate = line.win_tie
    return bool(line.unranked), line.rank_lower or inf, 1.0 if rate is None else -rate.value
