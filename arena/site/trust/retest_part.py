"""What asking a board's judge again says of it: a figure of the strip, and details."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from arena.site.trust.reasons import Judging, TrustFigure, unmeasured
from arena.site.ui.components import note
from arena.site.ui.markup import put
from arena.site.ui.tables import words_table
from data.percent import percent
from leaderboard.trust.causes import CAUSES, Cause, share_text
from leaderboard.trust.sections import Section

MEANING = (
    "Share of battles whose verdict changed when the judge was asked the same again, with its 95 % interval; "
    "the board's own verdicts stay."
)
CAUSE_HEADER = (
    "What differs",
    "Changed",
    "95 % interval",
    "Compared",
    "The other answer wins",
    "Without a verdict",
)
SHIFT_HEADER = ("System", "What differs", "Points", "95 % interval")
EXPLAINED = (
    "A sample of the battles was put to the judge again; the board's own verdicts stay. A verdict that "
    "changes where nothing differs is the judge's own doubt, what changes beyond it is owed to order, words "
    "or day."
)
SHIFTS = "How far each rating would move if every battle were asked again, in points."
NOT_SEEN = "not seen: verdicts changed on fewer than five questions"
Figure = tuple[str, str, str]


def with_retest(
    figures: tuple[Figure, ...], standings: Mapping[str, Any], judging: Judging
) -> tuple[Figure, ...]:
    """The strip with whether the judge says the same again."""
    if not figures:
        return ()
    return (*figures, *_retest(standings, judging))


def _retest(standings: Mapping[str, Any], judging: Judging) -> Iterator[Figure]:
    label, section = TrustFigure.RETEST, standings.get(Section.RETEST)
    if section is None:
        yield unmeasured(label, judging, MEANING)
    else:
        rows = [
            row for row in section["causes"] if row["cause"] in {Cause.SAME, Cause.DAY} and row["comparisons"]
        ]
        yield label, _changed(rows[0]) if rows else "asked again without a verdict", MEANING


def retest_details(standings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """How often verdicts changed by cause, as label and value; none where nothing was asked again."""
    section = standings.get(Section.RETEST) or {"causes": ()}
    rows = [row for row in section["causes"] if row["comparisons"]]
    asked = ((f"changed by {CAUSES[Cause(row['cause'])]}{_wording(row)}", _changed(row)) for row in rows)
    unjudged = (
        (f"{CAUSES[Cause(row['cause'])]}{_wording(row)}, {ended}", f"{count:,}")
        for row in section["causes"]
        for ended, count in row["unjudged"].items()
    )
    return (*asked, *unjudged)


def _wording(row: Mapping[str, Any]) -> str:
    return f" ({row['wording']})" if row["cause"] == Cause.WORDING else ""


def _changed(row: Mapping[str, Any]) -> str:
    return f"{share_text(row)} of {row['comparisons']:,} changed"


def show_retest(section: Mapping[str, Any]) -> None:
    """How often the judge says something else when it is asked again, and what that does to ratings."""
    note(EXPLAINED)
    put(words_table(CAUSE_HEADER, map(_cause_cells, section["causes"]), spare=2))
    note(section["unrankable"] or SHIFTS)
    if section["shifts"]:
        put(words_table(SHIFT_HEADER, map(_shift_cells, section["shifts"])))


def _cause_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    ended = ", ".join(f"{count:,} {name}" for name, count in row["unjudged"].items())
    interval = "–" if row["lower"] is None else f"{percent(row['lower'])} to {percent(row['upper'])}"
    return (
        f"{CAUSES[Cause(row['cause'])]}{_wording(row)}",
        percent(row["share"]),
        interval,
        f"{row['comparisons']:,} on {row['questions']:,} questions",
        f"{row['reversed']:,}",
        ended or "none",
    )


def _shift_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    interval = NOT_SEEN if row["lower"] is None else f"{_signed(row['lower'])} to {_signed(row['upper'])}"
    return row["system"], f"{CAUSES[Cause(row['cause'])]}{_wording(row)}", _signed(row["points"]), interval


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−")
