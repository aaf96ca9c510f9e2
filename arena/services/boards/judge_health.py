"""Trust figures of a board's judge, or reasons for missing ones, and related tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from arena.formats import points, rank_range
from arena.models.boards import SideTable
from data.text import percent
from leaderboard.standings.sections import PEOPLE, people_votes
from leaderboard.stats import wilson
from leaderboard.vocabulary import COVARIATES, Covariate

FEW = 100
"""Below this number a share is written as a count with its upper bound (95 %)."""
WITHOUT_VERDICT = ("unreadable", "refused", "failed", "skipped")
AGREEMENT_FACT = "agreement with people"
Figure = tuple[str, str, str]
"""Label, value and meaning."""


class TrustFigure(StrEnum):
    """Figures of a board's judge."""

    AGREEMENT = "agreement with people"
    VOTES = "people's votes"
    FLIPS = "position flips"
    FAILURES = "without a verdict"

    @property
    def part(self) -> str:
        """Anchor on the trust page."""
        return self.name.lower()


class Judging(StrEnum):
    """Origin of a board's verdicts: the embedded judge, LLMs, or imported counts."""

    EMBEDDED = "embedded"
    ASKED = "asked"
    IMPORTED = "imported"


MEANINGS: Mapping[str, str] = {
    TrustFigure.AGREEMENT: (
        "Share of the pairs decided by people on which the judge agrees; a tie is a miss."
    ),
    TrustFigure.VOTES: "Ranks and ratings are based on the judge alone. The column “People would say” "
    "applies the votes.",
    TrustFigure.FLIPS: (
        "Share of the battles judged in both orders whose verdict changed with the order; they are ties."
    ),
    TrustFigure.FAILURES: (
        "Share of battles that ended without a verdict: replies that were unreadable after a second "
        "request, refusals, failed or skipped calls. No rate counts them."
    ),
}
_ELSEWHERE = "Counts of verdicts were published elsewhere"
_REASONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    TrustFigure.AGREEMENT: {
        Judging.EMBEDDED: ("not checked", "This judge is not checked against people on these answers"),
        Judging.ASKED: ("not checked", "This judge is not checked against people on these answers"),
        Judging.IMPORTED: ("not known", f"{_ELSEWHERE}, without labels of people"),
    },
    TrustFigure.VOTES: {
        Judging.EMBEDDED: ("not checked by people", "There are no votes on these battles"),
        Judging.ASKED: ("not checked by people", "There are no votes on these battles"),
        Judging.IMPORTED: ("not checked by people", "There are no battles to vote on"),
    },
    TrustFigure.FLIPS: {
        Judging.ASKED: ("not measured", "It judged in one order only"),
        Judging.IMPORTED: ("not known", f"{_ELSEWHERE}, without counts by order"),
    },
    TrustFigure.FAILURES: {
        Judging.EMBEDDED: ("no battles", "Nothing was judged"),
        Judging.ASKED: ("no battles", "Nothing was judged"),
        Judging.IMPORTED: ("not known", f"{_ELSEWHERE}, without counts of failures"),
    },
}
"""Reasons for missing figures, as a short text and a clause."""


def judging_of(standings: Mapping[str, Any], round_name: str | None) -> Judging:
    """Return the origin of a board's verdicts."""
    if round_name is None:
        return Judging.IMPORTED
    return Judging.EMBEDDED if standings["facts"].get("model") == Judging.EMBEDDED else Judging.ASKED


def health_strip(standings: Mapping[str, Any], judging: Judging) -> tuple[Figure, ...]:
    """Return the figures of the judge; none for old boards without `health`."""
    health = standings.get("health") or {}
    if not health and judging is not Judging.IMPORTED:
        return ()
    planned = health.get("planned")
    return (
        _agreement(health.get("agreement"), judging, standings["facts"].get(AGREEMENT_FACT, "")),
        _votes(standings, judging),
        _flips(judging, health.get("flips"), health.get("both_orders")),
        _failures(standings, judging, planned),
        *_missing(standings, planned),
        *(
            ("warning", sentence, "A warning about the judge behind this board.")
            for sentence in health.get("conduct", {}).get("warnings", ())
        ),
    )


def _unmeasured(figure: TrustFigure, judging: Judging) -> Figure:
    short, why = _REASONS[figure][judging]
    return figure, short, f"{why}. {MEANINGS[figure]}"


def _votes(standings: Mapping[str, Any], judging: Judging) -> Figure:
    if PEOPLE not in standings:
        return _unmeasured(TrustFigure.VOTES, judging)
    return TrustFigure.VOTES, f"{people_votes(standings)}, not applied here", MEANINGS[TrustFigure.VOTES]


def _agreement(report: Mapping[str, Any] | None, judging: Judging, elsewhere: str) -> Figure:
    figure = TrustFigure.AGREEMENT
    if report is None or report.get("decisive_accuracy") is None:
        _, short, meaning = _unmeasured(figure, judging)
        if elsewhere:
            return figure, f"{short} on these answers; on other data: see Trust", elsewhere
        return figure, short, meaning
    kappa = "" if report.get("kappa") is None else f", κ {report['kappa']:.2f}".replace("-", "−")
    share = percent(report["decisive_accuracy"], decimals=0)
    return figure, f"{share} of {report['pairs']:,} pairs{kappa}", MEANINGS[figure]


def _flips(judging: Judging, flips: int | None, both_orders: int | None) -> Figure:
    if judging is Judging.EMBEDDED:
        meaning = (
            f"It scores each answer separately, so the order has no effect. {MEANINGS[TrustFigure.FLIPS]}"
        )
        return TrustFigure.FLIPS, "none, by construction", meaning
    return _share(TrustFigure.FLIPS, judging, flips, both_orders)


def _missing(standings: Mapping[str, Any], planned: int | None) -> Iterator[Figure]:
    """Yield the share of unanswered battles, which are not failures of the judge."""
    missing = standings["outcomes"].get("missing", 0)
    if missing and planned:
        yield (
            "not answered",
            f"{percent(missing / planned)} of {planned:,}",
            "Share of battles that were not judged, since a system gave no answer to the question.",
        )


def _failures(standings: Mapping[str, Any], judging: Judging, planned: int | None) -> Figure:
    counts = {name: count for name, count in standings["outcomes"].items() if name in WITHOUT_VERDICT}
    label, value, meaning = _share(TrustFigure.FAILURES, judging, sum(counts.values()), planned)
    kinds = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return label, value, f"{meaning} {kinds}." if planned and kinds else meaning


def _share(figure: TrustFigure, judging: Judging, part: int | None, whole: int | None) -> Figure:
    if not whole:
        return _unmeasured(figure, judging)
    share = (part or 0) / whole
    bounds = wilson(share, whole)
    if whole < FEW and bounds is not None:
        value = f"{part or 0} of {whole} (up to {percent(bounds.upper, decimals=0)})"
    else:
        value = f"{percent(share)} of {whole:,}"
    return figure, value, MEANINGS[figure]


_MEASURED: Mapping[str, str] = {
    TrustFigure.AGREEMENT: "It agrees with people on {}.",
    TrustFigure.FLIPS: "Judged in both orders, {} changed their verdict.",
    TrustFigure.FAILURES: "Of all battles, {} ended without a verdict.",
    "not answered": "Of all battles, {} were not judged, since a system gave no answer.",
}


def as_sentences(label: str, value: str, meaning: str) -> str:
    """Return a figure, or the reason for a missing one, in sentences.

    A measured value begins with a digit; the meaning of a missing one begins with the reason.
    """
    if value[:1].isdigit() and label in _MEASURED:
        return _MEASURED[label].format(value)
    answer = f"{value[:1].upper()}{value[1:]}".removesuffix(".")
    reasons = {short for short, _ in _REASONS.get(label, {}).values()}
    if label == TrustFigure.FLIPS or value in reasons:
        return f"{answer}. {meaning.partition('. ')[0].removesuffix('.')}."
    return f"{answer}."


BETWEEN_SYSTEMS = "between-systems"
Json = Mapping[str, Any]


def read_style(standings: Json) -> SideTable:
    """Read the effects of length, form and position on the judge; the note is about length.

    Old boards with several fits show the one with the most terms.
    """
    fits: Sequence[Json] = (standings.get(COVARIATES) or {}).get("fits") or ({},)
    fit = max(fits, key=lambda fit: len(fit.get("coefficients", ())))
    terms = {row["name"]: row for row in fit.get("coefficients", ())}
    length = terms.get(Covariate.LENGTH)
    if length is not None:
        note = (
            f"A longer answer gains about {points(length['value'])} points ({_ends(length)}), for a typical "
            "difference in length (the root mean square over all battles)."
        )
    else:
        note = next(
            (row["reason"] for row in fit.get("left_out", ()) if row["name"] == Covariate.LENGTH),
            fit.get("note") or _alternative(standings, "length-controlled").get("note", ""),
        )
    return SideTable(
        rows=tuple(
            (name.replace("_", " ").capitalize(), points(row["value"]), _ends(row), row["scale"])
            for name, row in terms.items()
        ),
        note=str(note),
    )


def read_between(standings: Json) -> SideTable:
    """Return the ratings from battles between systems."""
    section = _alternative(standings, BETWEEN_SYSTEMS)
    rows: Iterable[Json] = (row for row in section.get("ratings", ()) if row["rating"] is not None)
    return SideTable(
        rows=tuple(
            (
                row["system"],
                rank_range((row["rank_lower"], row["rank_upper"])),
                points(row["rating"]),
                _ends(row),
            )
            for row in rows
        ),
        note=section.get("note", ""),
    )


def _alternative(standings: Json, kind: str) -> Json:
    empty: Json = {}
    return next((part for part in standings.get("beside") or () if part["kind"] == kind), empty)


def _ends(row: Json) -> str:
    if row.get("lower") is None or row.get("upper") is None:
        return "–"
    return f"{points(row['lower'])} to {points(row['upper'])}"
