"""What a board says, as plain values that pages show. `standings_json` reads them off a stored board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from leaderboard.meetings import Meetings

OVERALL = "overall"
OVERALL_LABEL = "Overall"
FEW_QUESTIONS = 5
"""Below this a line is provisional: intervals over so few questions say little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """A value with its 95 % interval, where it has one."""

    value: float
    lower: float | None = None
    upper: float | None = None

    @property
    def span(self) -> tuple[float, float]:
        """The interval, or the value twice where there is none."""
        return (
            self.value if self.lower is None else self.lower,
            self.value if self.upper is None else self.upper,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One system in one domain, or overall. Rates and shares are 0–1; what is not known is None.

    `battles` are those behind the rating, `rate_battles` those behind the rates: where there is a
    reference, rates count battles against it alone.
    """

    system: str
    rank_lower: int | None
    rank_upper: int | None
    tie_group: int | None
    rating: Bounded | None
    win: Bounded | None
    win_tie: Bounded | None
    battles: float
    rate_battles: float
    questions: int
    comprehensiveness: Bounded | None
    factuality: Bounded | None
    no_answer: float | None
    words: float | None
    answers: int
    flags: tuple[str, ...]
    is_reference: bool
    scores: Mapping[str, Bounded]
    badges: tuple[str, ...] = ()
    attempts: int | None = None

    @property
    def provisional(self) -> str:
        """Why the line may still change a lot; empty where it stands."""
        if self.is_reference or self.rating is None:
            return ""
        if self.rating.lower is None:
            return "Too few battles to say how sure its rating is."
        if self.questions and self.questions < FEW_QUESTIONS:
            return f"It was judged on {self.questions} questions alone."
        return ""

    @property
    def rank(self) -> str:
        """The interval of ranks as text."""
        if self.rank_lower is None or self.rank_upper is None:
            return "–"
        if self.rank_lower == self.rank_upper:
            return str(self.rank_lower)
        return f"{self.rank_lower}–{self.rank_upper}"

    @property
    def group(self) -> str:
        """The tie group as a letter."""
        return "" if self.tie_group is None else group_letter(self.tie_group)


def group_letter(number: int) -> str:
    """1 → A, 26 → Z, 27 → A2."""
    turn, place = divmod(number - 1, 26)
    return chr(ord("A") + place) + (str(turn + 1) if turn else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled:
    """Ratings under which longer answers have no advantage, best first, with best and worst place and group.

    `note` says what length is worth, or why there are none.
    """

    ratings: Mapping[str, tuple[Bounded, int, int, int]]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Rating of one system less that of another, in points, paired; `chance` that it is the better, 0–1."""

    points: Bounded
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardView:
    """A published board, read.

    Attributes:
        name: In permalinks and on the command line.
        title: For people.
        note: What readers must know of where the numbers come from; empty where nothing special.
        notice: What the organisers say of the board since, such as an erratum.
        round_name: The judged round behind it; None for a board of published results.
        content_hash: sha256 of the standings.
        published: The day, ISO.
        reference: The human-written reference's name; empty where there is none.
        domains: Ids to labels, in the set's order.
        lines: By domain id and `overall`: systems, best first.
        facts: What was judged, by whom and how it ended, as label and value.
        details: The further facts, too long for a glance.
        method: How ratings and intervals were made, in one sentence.
        meetings: How every two systems fared against each other.
        gaps: Differences of ratings, by the better and the other system.
        controlled: Ratings controlled for length.
        health: How far the judge can be trusted, as label, value and meaning.
        agreement: How context and answer scores agree, and what is within reach, in sentences.
    """

    name: str
    title: str
    note: str
    notice: str
    round_name: str | None
    content_hash: str
    published: str
    reference: str
    domains: Mapping[str, str]
    lines: Mapping[str, tuple[Line, ...]]
    facts: tuple[tuple[str, str], ...]
    details: tuple[tuple[str, str], ...]
    method: str
    meetings: Meetings
    gaps: Mapping[tuple[str, str], Gap]
    controlled: Controlled
    health: tuple[tuple[str, str, str], ...]
    agreement: tuple[str, ...] = ()

    def under_control(self) -> tuple[Line, ...]:
        """The overall lines with ratings and ranks controlled for length; those without one stand last."""
        lines = {line.system: line for line in self.lines.get(OVERALL, ())}
        rated = [
            replace(lines[name], rating=rating, rank_lower=best, rank_upper=worst, tie_group=group)
            for name, (rating, best, worst, group) in self.controlled.ratings.items()
            if name in lines
        ]
        rest = [
            replace(line, rating=None, rank_lower=None, rank_upper=None, tie_group=None)
            for name, line in lines.items()
            if name not in self.controlled.ratings
        ]
        return (*rated, *rest)

    def label(self, domain: str) -> str:
        """What readers see for a domain's id."""
        return OVERALL_LABEL if domain == OVERALL else self.domains.get(domain, domain)

    def line(self, system: str, domain: str = OVERALL) -> Line | None:
        """One system's line; None where it has none."""
        return next((line for line in self.lines.get(domain, ()) if line.system == system), None)

    def gap(self, first: str, second: str) -> Gap | None:
        """Rating of the first less that of the second; None where they cannot be compared."""
        found = self.gaps.get((first, second))
        if found is not None:
            return found
        turned = self.gaps.get((second, first))
        return turned and turned_round(turned)

    @property
    def systems(self) -> tuple[str, ...]:
        """Every system, best first."""
        return tuple(line.system for line in self.lines.get(OVERALL, ()))


def turned_round(gap: Gap) -> Gap:
    """The same difference seen from the other side."""
    lower, upper = gap.points.span
    return Gap(points=Bounded(value=-gap.points.value, lower=-upper, upper=-lower), chance=1 - gap.chance)
