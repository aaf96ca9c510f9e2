"""Boards as plain values for pages, parsed from stored boards by `standings_json`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.formats import Bounded, rank_range
from data.models import PEOPLE, Board
from data.store.boards import MIN_HASH_LENGTH
from judges.metrics.registry import MetricInfo
from leaderboard.ratings.ranks import is_separated, letter_set
from leaderboard.standings.grid import Grid
from leaderboard.standings.head_to_head import Meetings
from leaderboard.standings.sections import SystemFacts

OVERALL = "overall"
OVERALL_LABEL = "Overall"
FEW_QUESTIONS = 5
"""Lines with fewer questions are provisional, since their intervals are unreliable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Shares of battles won, and won or tied, 0–1, with the numbers behind them."""

    win: Bounded | None
    win_tie: Bounded | None
    battles: float
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One system in one domain, or overall. Rates and shares are 0–1; unknown values are None.

    `battles` are those behind the rating; `rates` count only battles against the reference if there is one.
    The reference's own rates, against all systems, are `against_all`. `letters` are null on old boards.
    `unranked` is the reason why a system with too few answers has no rank, else empty. `own_evidence` is the
    share of a domain's rating that comes from the domain's own battles. `facts` is the line from
    `board_lines`.
    """

    system: str
    rank_lower: int | None
    rank_upper: int | None
    letters: str | None
    rating: Bounded | None
    rates: Rates
    battles: float
    no_answer: float | None
    words: float | None
    answers: int
    flags: tuple[str, ...]
    is_reference: bool
    scores: Mapping[str, Bounded]
    badges: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    ladder: int = 0
    against_all: Rates | None = None
    own_evidence: float | None = None
    unranked: str = ""

    def mean(self, info: MetricInfo) -> Bounded | None:
        """Return the mean score in the column of a metric."""
        return self.scores.get(info.filling(self.scores) or "")

    @property
    def win(self) -> Bounded | None:
        """Share of its battles that it won; None for the reference."""
        return self.rates.win

    @property
    def win_tie(self) -> Bounded | None:
        """Share of its battles that it won or tied; None for the reference."""
        return self.rates.win_tie

    @property
    def own_rates(self) -> Rates:
        """Its rates; for the reference, those against all systems."""
        return self.against_all or self.rates

    @property
    def unjudged(self) -> bool:
        """True if none of its battles was judged."""
        return not self.battles and not self.rates.battles

    @property
    def provisional(self) -> str:
        """Reason why the line may still change a lot; empty if it is settled."""
        if self.is_reference or self.rating is None:
            return ""
        if self.rating.lower is None:
            return "Too few battles for an interval of its rating."
        if self.rates.questions and self.rates.questions < FEW_QUESTIONS:
            return f"It was judged on only {self.rates.questions} questions."
        return ""

    @property
    def places(self) -> tuple[int, int] | None:
        """Best and worst possible place; None if unknown."""
        if self.rank_lower is None or self.rank_upper is None:
            return None
        return self.rank_lower, self.rank_upper

    @property
    def is_placed(self) -> bool:
        """True if tests separate it from others, by letters or places; the reference has only letters."""
        return self.letters is not None or self.places is not None

    @property
    def rank(self) -> str:
        """Best possible place, as text; the reference has none."""
        return "–" if self.rank_lower is None or self.is_reference else str(self.rank_lower)

    @property
    def ranks(self) -> str:
        """Interval of ranks, as text."""
        return rank_range(self.places)

    @property
    def letter_set(self) -> frozenset[str]:
        """Set of its letters; empty if unknown."""
        return letter_set(self.letters or "")


@dataclass(frozen=True, slots=True)
class Check:
    """Check of the leader: a clause, and its part of the trust page.

    `holds` is None if the check neither confirms nor casts doubt on first place.
    """

    clause: str
    part: str
    holds: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTable:
    """Rows of text, and a sentence that explains them or their absence."""

    rows: tuple[tuple[str, ...], ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardView:
    """Published board for pages.

    `round_name` is None for boards of published results, and `questions` for boards of counts. Empty texts
    mean that there is nothing to report. `lines` are by domain id and `overall`, best first; `gaps` by the
    better and the other system; `marks` by system: a word, then ": " and the reason. `health` has trust
    figures of the judge as label, value and meaning; `facts` and `details` are label and value.
    """

    name: str
    title: str
    note: str
    notice: str
    round_name: str | None
    content_hash: str
    published: str
    reference: str
    reference_by: str
    domains: Mapping[str, str]
    domain_notes: Mapping[str, str]
    lines: Mapping[str, tuple[Line, ...]]
    facts: tuple[tuple[str, str], ...]
    details: tuple[tuple[str, str], ...]
    method: str
    meetings: Meetings
    gaps: Mapping[tuple[str, str], Bounded]
    health: tuple[tuple[str, str, str], ...]
    marks: Mapping[str, str] = field(default_factory=dict)
    skips: bool = False
    partial: str = ""
    people: str = ""
    style: SideTable = field(default_factory=SideTable)
    between: SideTable = field(default_factory=SideTable)
    self_reported: Mapping[str, SystemFacts] = field(default_factory=dict)
    judge: str = ""
    judged_on: str = ""
    questions: int | None = None
    battles: float = 0
    grid: Grid = field(default_factory=Grid)
    checks: tuple[Check, ...] = ()

    @property
    def by_people(self) -> bool:
        """True if people wrote the reference."""
        return self.reference_by == PEOPLE

    @property
    def scored(self) -> frozenset[str]:
        """Names of the scores in its lines."""
        return frozenset(name for lines in self.lines.values() for line in lines for name in line.scores)

    @property
    def the_reference(self) -> str:
        """Reference as a noun phrase: human-written only if people wrote it."""
        return "the human-written reference" if self.by_people else "the reference"

    def competitors(self, domain: str = OVERALL) -> tuple[Line, ...]:
        """Return the systems without the reference, best first."""
        return tuple(line for line in self.lines.get(domain, ()) if not line.is_reference)

    def with_neighbour(self, systems: Sequence[str]) -> list[str]:
        """Add a neighbour in rank to a single system; without systems, return the best two."""
        if len(systems) > 1:
            return [*systems]
        ranked = [line.system for line in self.competitors()] or self.systems
        first = systems[0] if systems else ranked[0]
        place = ranked.index(first) if first in ranked else -1
        return [first, *(ranked[place + 1 : place + 2] or ranked[:-1][-1:])]

    @property
    def key(self) -> str:
        """Cache key of the board's content."""
        return f"{self.name} {self.content_hash} {dict(self.marks)}"

    def separates(self, first: str, second: str, domain: str = OVERALL) -> bool:
        """Return whether the tests of all pairs separate two systems; False without a line."""
        line, other_line = self.line(first, domain), self.line(second, domain)
        return line is not None and other_line is not None and is_separated(line, other_line)

    def label(self, domain: str) -> str:
        """Return the label of a domain."""
        return OVERALL_LABEL if domain == OVERALL else self.domains.get(domain, domain)

    def line(self, system: str, domain: str = OVERALL) -> Line | None:
        """Return a system's line, if any."""
        return next((line for line in self.lines.get(domain, ()) if line.system == system), None)

    def gap(self, first: str, second: str) -> Bounded | None:
        """Return the paired rating difference of two systems; None if they cannot be compared."""
        turned = self.gaps.get((second, first))
        if turned is None:
            return self.gaps.get((first, second))
        lower, upper = turned.span
        return Bounded(value=-turned.value, lower=-upper, upper=-lower)

    def held(self, domain: str) -> Bounded | None:
        """Return the rating of the reference in a domain, if any."""
        line = self.line(self.reference, domain)
        return None if line is None else line.rating

    @property
    def full_title(self) -> str:
        """Title and name: boards of one set have the same title."""
        return f"{self.title} ({self.name})"

    @property
    def systems(self) -> tuple[str, ...]:
        """All systems, best first."""
        return tuple(line.system for line in self.lines.get(OVERALL, ()))


def board_label(head: Board) -> str:
    """Return a unique label of a board: set, round, judge and date."""
    facts = (head.round_name or head.name, head.judge, f"{head.published_at:%Y-%m-%d}")
    return f"{head.title} – {', '.join(filter(None, facts))}"


def snapshot_label(head: Board) -> str:
    """Return a snapshot's label, with its hash if it was replaced."""
    state = "this snapshot" if head.replaced_at is None else f"replaced {head.replaced_at:%Y-%m-%d}"
    return f"{board_label(head)}, {state} {head.content_hash[:MIN_HASH_LENGTH]}"
