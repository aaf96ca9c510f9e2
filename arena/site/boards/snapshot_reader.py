"""The one reader of a board's JSON (made by `leaderboard.standings.model`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.site.boards.people_figures import read_people
from arena.site.boards.view_model import OVERALL, BoardView, Controlled, Gap, Line, Placed, Rates
from arena.site.ui.formats import Bounded, percent
from data.records import Board
from leaderboard.standings.corrected import PEOPLE, people_sentence
from leaderboard.standings.head_to_head import read_head_to_head
from leaderboard.standings.judged_shares import partial_sentence

AGREEMENT = "agreement"
ANSWER = "answer-crux"
BEST_ANSWER = "oracle answer"


def agreement_notes(standings: Mapping[str, Any]) -> tuple[str, ...]:
    """The sentences; none where the board was published without them."""
    found = standings.get(AGREEMENT)
    if not isinstance(found, Mapping):
        return ()
    return tuple(filter(None, (_bounds(found["bounds"]), _order(found["systems"]))))


def _bounds(bounds: Mapping[str, Any]) -> str:
    answer = bounds.get(BEST_ANSWER, {}).get(ANSWER, {})
    if answer.get("mean") is None:
        return ""
    return (
        "What is within reach with this rater: the fewest sufficient passages answer all of these "
        f"sub-questions, the reference {percent(answer['mean'])} ({answer['questions']:,} questions)."
    )


def _order(systems: Mapping[str, Any]) -> str:
    several = len(systems["systems"])
    tau = systems["correlations"].get("kendall", {})
    if tau.get("value") is None:
        reason = systems["undefined"] or "Their means do not differ."
        return f"Whether better contexts go with better answers over systems is not known. {reason}"
    interval = "" if tau["lower"] is None else f" ({tau['lower']:.2f} to {tau['upper']:.2f})"
    return (
        f"Over {several} systems and {systems['questions']:,} questions, context and answer scores rank "
        f"systems alike with Kendall's τ {tau['value']:.2f}{interval}."
    )


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
            "prompt-injection test",
            found["attacks"]["succeeded"],
            found["attacks"]["judged"],
            "Share of planted attacks (canaries) in answers that the judge fell for; lower is better.",
            "not run",
        ),
    )


def _with_people(figures: tuple[Figure, ...], standings: Mapping[str, Any]) -> tuple[Figure, ...]:
    """The strip with what people say of the board, beside their agreement with its judge."""
    if not figures and PEOPLE not in standings:
        return ()
    meaning = "Whether votes of people on some battles say what people would say of all of them."
    return (*figures[:1], ("people's votes", people_sentence(standings), meaning), *figures[1:])


def _agreement(found: Mapping[str, Any] | None) -> Figure:
    label = "agreement with people"
    meaning = "Share of pairs that people decided on which the judge decides alike, a tie being a miss."
    if found is None or found.get("decisive_accuracy") is None:
        return label, "not calibrated", meaning
    kappa = "" if found.get("kappa") is None else f", κ {found['kappa']:.2f}"
    return label, f"{100 * found['decisive_accuracy']:.0f} % of {found['pairs']:,} pairs{kappa}", meaning


def _share(label: str, part: int, whole: int, meaning: str, without: str) -> Figure:
    return label, f"{100 * part / whole:.1f} % of {whole:,}" if whole else without, meaning


COMPREHENSIVENESS = "comprehensiveness"
LENGTH_CONTROLLED = "length-controlled"
BETWEEN_SYSTEMS = "between-systems"
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
        reference_by=found.get("reference_by") or "",
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
        tests=read_head_to_head(found["head_to_head"]),
        gaps=_gaps(found.get("differences") or {}),
        controlled=_beside(found, LENGTH_CONTROLLED),
        between=_beside(found, BETWEEN_SYSTEMS),
        yardsticks=found["facts"].get("yardsticks", ""),
        health=_with_people(health_strip(found.get("health") or {}), found),
        agreement=agreement_notes(found),
        partial=partial_sentence(found),
        people=read_people(found),
        judged_places={line["system"]: _line(line, reference, None).rank for line in found["lines"][OVERALL]},
    )


def _gaps(found: Json) -> dict[tuple[str, str], Gap]:
    names = found.get("systems", ())
    return {
        (names[one], names[other]): Gap(points=Bounded(value=points, lower=lower, upper=upper), chance=chance)
        for one, other, points, lower, upper, chance in found.get("pairs", ())
    }


def _beside(found: Json, kind: str) -> Controlled:
    mine = next((one for one in found.get("beside") or () if one["kind"] == kind), None)
    if mine is None:
        return Controlled(ratings={}, note="")
    ratings = {
        one["system"]: Placed(
            rating=value,
            rank_lower=one["rank_lower"],
            rank_upper=one["rank_upper"],
            letters=one.get("letters"),
            component=one.get("component", 0),
        )
        for one in mine["ratings"]
        if (value := _bounded(one, "rating", "lower", "upper")) is not None
    }
    return Controlled(ratings=ratings, note=mine["note"])


def _line(found: Json, reference: str, attempts: int | None) -> Line:
    rating: Json = found["rating"] or {}
    is_reference = found["system"] == reference
    # Boards published before `rate_against_all` have the reference's own rates where those of systems stand.
    against_all = _rates((found.get("rate_against_all") or found["rate"] or {}) if is_reference else {})
    rates = _rates({} if is_reference else found["rate"] or {})
    return Line(
        system=found["system"],
        rank_lower=rating.get("rank_lower"),
        rank_upper=rating.get("rank_upper"),
        letters=rating.get("letters"),
        rating=_bounded(rating, "rating", "lower", "upper"),
        rates=rates,
        against_all=against_all if is_reference else None,
        battles=rating.get("battles") or (against_all if is_reference else rates).battles,
        component=rating.get("component", 0),
        comprehensiveness=_metric(found["scores"]),
        factuality=asked_factuality(found["scores"]),
        no_answer=found["no_answer_share"],
        words=found["median_words"],
        answers=found["answers"],
        flags=tuple(rating.get("flags", ())),
        is_reference=is_reference,
        badges=tuple(found.get("badges", ())),
        attempts=attempts,
        scores={
            name: mean
            for name, score in found["scores"].items()
            if (mean := _bounded(score, "mean", "lower", "upper")) is not None
        },
    )


def _rates(found: Json) -> Rates:
    return Rates(
        win=_bounded(found, "win_rate", "lower", "upper"),
        win_tie=_bounded(found, "win_tie_rate", "win_tie_lower", "win_tie_upper"),
        battles=found.get("battles") or 0,
        questions=found.get("questions") or 0,
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
