"""Formatting of points, shares, counts and intervals; texts of flags and citations."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from data.text import percent, percent_figure

if TYPE_CHECKING:
    from data.models import Submission


def points(value: float) -> str:
    """Format a rating in whole points."""
    return f"{value:.0f}".replace("-", "−")


def signed_share(share: float | None) -> str:
    """Format a difference of shares in percentage points with its sign; a dash if it is unknown."""
    return or_dash(None if share is None else 100 * share, "+.1f").replace("-", "−")


def or_dash(value: float | None, form: str) -> str:
    """Format a value, or return a dash for None."""
    return "–" if value is None else format(value, form)


def whole(value: float) -> str:
    """Format a count."""
    return f"{value:,.0f}"


class Ends(Protocol):
    """Figure with an optional interval."""

    @property
    def lower(self) -> float | None:
        """Lower end."""

    @property
    def upper(self) -> float | None:
        """Upper end."""


def ends_of(value: Ends | None, *, share: bool = False, decimals: int = 1, unknown: str = "–") -> str:
    """Format the ends of an interval of a rating, or of a `share` with `decimals`."""
    if value is None or value.lower is None or value.upper is None:
        return unknown
    if not share:
        return f"{points(value.lower)} to {points(value.upper)}"
    return f"{percent_figure(value.lower, decimals=decimals)} to {percent(value.upper, decimals=decimals)}"


def range_of(value: Ends, *, share: bool = True) -> str:
    """Format an interval as a range in whole points or per cent; empty if missing."""
    if value.lower is None or value.upper is None:
        return ""
    if not share:
        return f"{points(value.lower)}–{points(value.upper)}"
    return f"{percent_figure(value.lower, decimals=0)}–{percent(value.upper, decimals=0)}"


def interval_of(value: "Bounded", *, share: bool = False) -> str:
    """Format the 95 % interval of a rating or a `share`."""
    ends = ends_of(value, share=share, unknown="")
    return f"95 % interval {ends}" if ends else "no interval"


def rank_range(ranks: tuple[int, int] | None) -> str:
    """Format a range of ranks; a dash if it is unknown."""
    return "–" if ranks is None else "–".join(map(str, dict.fromkeys(ranks)))


def span(seconds: float | None) -> str:
    """Format a duration; a dash if it is unknown."""
    if seconds is None:
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def format_time(at: datetime | None) -> str:
    """Format a time to the minute in UTC; a dash if it is unknown."""
    return "–" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


TEENS = range(11, 14)


def ordinal(number: int) -> str:
    """Format an ordinal number, such as 1st, 2nd, 11th."""
    ending = "th" if number % 100 in TEENS else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def title_of(submission: "Submission") -> str:
    """Return a submission's title."""
    version = f"{submission.system}, version {submission.version}"
    return f"{version}, on {submission.set_name} (submission {submission.id})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """Value with an optional 95 % interval."""

    value: float
    lower: float | None = None
    upper: float | None = None

    @property
    def span(self) -> tuple[float, float]:
        """Interval, or the value twice if it is missing."""
        return (
            self.value if self.lower is None else self.lower,
            self.value if self.upper is None else self.upper,
        )


FLAGS: Mapping[str, tuple[str, str]] = {
    "never_wins": ("never wins", "It never even tied, so its rating has no lower bound."),
    "never_loses": ("never loses", "No system even tied with it, so its rating has no upper bound."),
    "unbounded": ("no rating", "Its wins and losses do not link it to the rated systems in both directions."),
    "separate": (
        "separate",
        "Its rating is on the scale of its own group of systems; only ranks are comparable across groups.",
    ),
    "anchor": ("anchor", "Its rating is fixed; the other ratings are relative to it."),
    "no_interval": ("no interval", "Too few questions or battles for an interval."),
    "few_questions": (
        "few questions",
        "The rating is based on fewer than twelve questions, so the interval is a t interval.",
    ),
    "borrowed": ("overall rating", "No battle in this domain; the overall rating is shown instead."),
    "partial": ("partial", "It answered only part of the questions."),
}
CITATION = """@misc{{{view.name}-{year},
  title = {{{view.title}}},
  howpublished = {{Answer Arena, board {view.name}}},
  url = {{{address}/?board={view.name}}},
  note = {{content sha256 {view.content_hash}}},
  year = {{{year}}}
}}"""
SET_CITATION = """@misc{{{set.name}-{set.version},
  title = {{{set.title}}},
  howpublished = {{{set.source}}},
  note = {{Version {set.version}, licence {set.licence}, content sha256 {set.content_hash}}}
}}"""
