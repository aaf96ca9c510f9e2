"""Standings: the content of a board."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from data.models import MissingRule, Outcome
from data.models.words import to_json
from leaderboard.rates import Rate, RateTable
from leaderboard.ratings import Rating, RatingTable
from leaderboard.standings.answer_stats import MeanScore
from leaderboard.standings.head_to_head import HeadToHead
from leaderboard.standings.places import lines_among_systems
from leaderboard.standings.sections import SYSTEMS, JudgedShares, SystemFacts
from leaderboard.vocabulary import COVARIATES, OVERALL, partial_mark

SHAPE = 4
"""Version of the JSON; it increases when a field changes its meaning. In 1, style control centred the counts;
in 2, ranks counted the reference, and ranks of domains came from ratings that borrow; in 3, mean scores left
out missing answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One system in one domain, or overall.

    Attributes:
        rating: None without battles in the domain, or if ratings do not exist.
        rate: Rate against the reference if the board has one; None without battles and for the reference.
        rate_against_all: Rate of the reference against every system; None for systems.
        asked: Number of questions of the board in the domain; None if unknown and for the reference.
        declined: Answers that decline (`declines_of`); None if unknown.
        badges: Organisers' badges, such as `baseline`.
        unranked: Reason why the system has no rank; else empty.
    """

    system: str
    rating: Rating | None
    rate: Rate | None
    rate_against_all: Rate | None = None
    answers: int
    asked: int | None = None
    declined: Mapping[str, Any] | None = None
    median_words: float | None
    scores: Mapping[str, MeanScore]
    outcomes: Mapping[Outcome, int]
    badges: Sequence[str] = ()
    unranked: str = ""

    @property
    def partial(self) -> str:
        """Mark such as `partial (31 of 40)` of a system with missing answers; else empty."""
        return "" if self.asked is None else partial_mark(self.answers, self.asked)

    def as_json(self) -> dict[str, object]:
        """Return one object, without empty `unranked` and `partial`."""
        fields = to_json(
            self,
            rate=None if self.rate is None else self.rate.as_json(),
            rate_against_all=None if self.rate_against_all is None else self.rate_against_all.as_json(),
            scores={metric: score.as_json() for metric, score in self.scores.items()},
            outcomes=_counts(self.outcomes) if self.outcomes else {},
        )
        marks = {"unranked": self.unranked, "partial": self.partial}
        fields.pop("unranked")
        return fields | {name: text for name, text in marks.items() if text}


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Description of a board.

    Attributes:
        note: Origin of the numbers, if it is unusual; else empty.
        reference_by: Author of the reference: `people`, or free text; empty if unknown.
        labels: Titles of domains by id, in display order.
        facts: Further facts (judge, question set, dates, …), label to value.
        health: Reliability of the judge: flips, unreadable replies, attacks, agreement with people.
        attempts: Number of judged versions of each system; empty if unknown.
        missing: Rule for missing answers, if any.
    """

    name: str
    title: str
    note: str = ""
    reference: str | None = None
    reference_by: str = ""
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    health: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    attempts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    missing: MissingRule | None = None


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Standings:
    """A board's content.

    Attributes:
        lines: Systems by domain id and `overall`, best first.
        ratings: Overall ratings with their draws; None if they do not exist.
        pairs: Results of every pair, best systems first.
        beside: Additional ratings: those without the reference.
        differences: Paired difference of every two systems (`all_differences`).
        judged: Shares of the planned battles that were judged; None if only verdicts are known.
        covariates: Effects of style (`style_section`); empty if unknown.
        systems: Self-reported facts.
    """

    about: About
    lines: Mapping[str, tuple[Line, ...]]
    ratings: RatingTable | None
    unrankable: str
    rates: RateTable
    pairs: HeadToHead
    outcomes: Mapping[Outcome, int]
    beside: Sequence[Mapping[str, object]] = ()
    differences: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    judged: JudgedShares | None = None
    covariates: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    systems: Mapping[str, SystemFacts] = field(default_factory=lambda: MappingProxyType({}))
    domain_notes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def partial(self) -> bool:
        """True if too few battles were judged."""
        return self.judged is not None and self.judged.partial

    def as_json(self) -> dict[str, object]:
        """Return the board's JSON; equal standings give equal JSON, including the order of keys."""
        settings = {} if self.ratings is None else self.ratings.as_json()
        rates = self.rates.as_json()
        return {
            "shape": SHAPE,
            "name": self.about.name,
            "title": f"{self.about.title} (partial)" if self.partial else self.about.title,
            "partial": self.partial,
            "judged_share": None if self.judged is None else self.judged.as_json(),
            "note": self.about.note,
            "reference": self.about.reference,
            "reference_by": self.about.reference_by,
            "domains": [
                {
                    "id": domain,
                    "label": self.about.labels.get(domain, domain),
                    "note": self.domain_notes.get(domain, ""),
                }
                for domain in self.lines
                if domain != OVERALL
            ],
            "facts": dict(self.about.facts),
            "health": dict(self.about.health),
            "attempts": dict(self.about.attempts),
            "missing": self.about.missing,
            "outcomes": _counts(self.outcomes),
            "rating_settings": {key: value for key, value in settings.items() if key != "ratings"} or None,
            "unrankable": self.unrankable,
            "rate_settings": {key: value for key, value in rates.items() if key != "rows"},
            "lines": {
                domain: lines_among_systems([line.as_json() for line in lines], self.about.reference)
                for domain, lines in self.lines.items()
            },
            "head_to_head": self.pairs.as_json(),
            "beside": [dict(ratings) for ratings in self.beside],
            "differences": dict(self.differences),
            **({COVARIATES: dict(self.covariates)} if self.covariates else {}),
            **(
                {SYSTEMS: {name: facts.as_json() for name, facts in self.systems.items()}}
                if self.systems
                else {}
            ),
        }


def _counts(outcomes: Mapping[Outcome, int]) -> dict[str, int]:
    return {outcome.value: outcomes.get(outcome, 0) for outcome in Outcome}
