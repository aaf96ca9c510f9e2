"""What votes of people make of a board, read off its JSON (made by `leaderboard.people.board_section`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.site.ui.formats import Bounded
from leaderboard.standings.corrected import PEOPLE, few_votes

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One system as people would rate it, beside the judge's rating and that of votes alone.

    `ranks` are the best and the worst place that votes and verdicts leave open for people's ranking.
    """

    system: str
    corrected: Bounded | None
    ranks: tuple[int, int]
    judge: Bounded | None
    alone: Bounded | None
    labelled: int

    @property
    def unranked(self) -> str:
        """Why it has no place; empty where it has one."""
        return few_votes(self.labelled)

    @property
    def shift(self) -> float | None:
        """By how many points people would rate it above the judge."""
        if self.corrected is None or self.judge is None:
            return None
        return self.corrected.value - self.judge.value


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleFigures:
    """What people would say of a board.

    Attributes:
        rows: Every system, best first.
        rates: Shares of votes won, and won or tied, by system and domain.
        labelled: Battles by system and domain that people voted on.
        advice: Whether the judge adds anything to the votes.
        method: How the figures were made, in a sentence or two.
    """

    rows: tuple[Moved, ...]
    rates: Mapping[tuple[str, str], tuple[Bounded | None, Bounded | None]]
    advice: str
    method: str


def read_people(standings: Json) -> PeopleFigures | None:
    """The figures of a board; None where no votes correct it."""
    section: Json | None = standings.get(PEOPLE)
    if not section:
        return None
    return PeopleFigures(
        rows=tuple(
            Moved(
                system=row["system"],
                corrected=bounded(row, "rating", "lower", "upper"),
                ranks=(row["rank_lower"], row["rank_upper"]),
                judge=bounded(row, "judge_rating", "judge_lower", "judge_upper"),
                alone=bounded(row, "people_rating", "people_lower", "people_upper"),
                labelled=row["labelled_battles"],
            )
            for row in section["ratings"]
        ),
        rates={
            (row["system"], row["domain"]): (
                bounded(row, "win_rate", "lower", "upper"),
                bounded(row, "win_tie_rate", "win_tie_lower", "win_tie_upper"),
            )
            for row in section["rates"]
        },
        advice=section["advice"],
        method=_method(section),
    )


def bounded(fields: Json, name: str, lower: str, upper: str) -> Bounded | None:
    """A value with its bounds; None where there is no value."""
    value = fields.get(name)
    return None if value is None else Bounded(value=value, lower=fields.get(lower), upper=fields.get(upper))


def _method(section: Json) -> str:
    rule = "their mean share" if section["vote_rule"] == "mean" else "what more than half of them say"
    left = section["votes_left_out"]
    out = f" {left:,} further votes are on no judged battle." if left else ""
    labelled = f"{section['labelled_battles']:,} of {section['battles']:,} battles"
    return (
        f"Figures are people's: votes on {labelled}, on {section['labelled_questions']:,} questions, correct "
        f"the judge's verdicts on all; several votes on a battle count as {rule}. Places hold people's whole "
        f"ranking with 95 %.{out}"
    )
