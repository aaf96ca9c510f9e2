"""Corrected ratings and rates with what they depend on."""

from __future__ import annotations

from dataclasses import dataclass

from data.errors import NotFoundError
from leaderboard.people.clusters import LEVEL
from leaderboard.ratings import IntervalKind
from leaderboard.ratings.result import Settings
from leaderboard.ratings.vocabulary import Flag
from leaderboard.vocabulary import VoteRule

ENDS = {"win_rate": "", "win_tie_rate": "win_tie_", "mean_score": "score_"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """A number with the ends of its 95 % interval; None for what does not exist."""

    value: float | None
    lower: float | None
    upper: float | None

    @property
    def width(self) -> float | None:
        """Distance of the ends."""
        return None if self.lower is None or self.upper is None else self.upper - self.lower


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRating:
    """One system's rating as people would give it, beside the judge's and that of votes alone.

    Attributes:
        system: Its name.
        corrected: What people would say, in points.
        se: Standard error of it; None where there is none.
        rank: Place among the rated systems, 1 for the best.
        rank_lower: Best place that votes and verdicts leave open, simultaneously for all systems (95 %).
        rank_upper: Worst such place.
        judge: The judge's rating.
        people: That of votes alone.
        labelled_battles: How many of its battles people voted on.
        flags: What a reader must know of the votes.
    """

    system: str
    corrected: Estimated
    se: float | None
    rank: int
    rank_lower: int
    rank_upper: int
    judge: Estimated
    people: Estimated
    labelled_battles: int
    flags: tuple[Flag, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The fields of `arena battles rate --people` (docs/json.md)."""
        return {
            "system": self.system,
            "rating": self.corrected.value,
            "se": self.se,
            "lower": self.corrected.lower,
            "upper": self.corrected.upper,
            "rank": self.rank,
            "rank_lower": self.rank_lower,
            "rank_upper": self.rank_upper,
            "judge_rating": self.judge.value,
            "judge_lower": self.judge.lower,
            "judge_upper": self.judge.upper,
            "people_rating": self.people.value,
            "people_lower": self.people.lower,
            "people_upper": self.people.upper,
            "labelled_battles": self.labelled_battles,
            "flags": [flag.value for flag in self.flags],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a correction depends on.

    Attributes:
        battles: Planned battles, each with a verdict.
        labelled_battles: Those that people voted on.
        votes: How many votes.
        repeated_votes: How many of these repeat a person's vote on one battle; they count like any other.
        annotators: Of how many people; None where the votes do not name them.
        labelled_questions: On how many questions.
        rule: What several votes on a battle come to.
        correlation: Of the judge's share with people's on labelled battles, within pairs of systems; None
            where either does not vary.
        gain: Variance of votes alone over that of the corrected estimates, summed over systems; None
            where there is none.
    """

    battles: int
    labelled_battles: int
    votes: int
    repeated_votes: int
    annotators: int | None
    labelled_questions: int
    rule: VoteRule
    correlation: float | None
    gain: float | None

    def as_json(self) -> dict[str, object]:
        """The fields that describe the votes."""
        return {
            "battles": self.battles,
            "labelled_battles": self.labelled_battles,
            "votes": self.votes,
            "repeated_votes": self.repeated_votes,
            "annotators": self.annotators,
            "labelled_questions": self.labelled_questions,
            "vote_rule": self.rule.value,
            "correlation": self.correlation,
            "gain": self.gain,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedTable:
    """Ratings as people would give them.

    Attributes:
        ratings: Best first.
        evidence: What they depend on.
        judge_weight: How much a verdict counts beside a vote; 0 where it says nothing of people's.
        advice: Whether the judge adds anything, and how many more labels a width needs.
        settings: How they were made.
        draws_without_estimate: Resamples without an estimate, left out of intervals.
    """

    ratings: tuple[CorrectedRating, ...]
    evidence: Evidence
    judge_weight: float
    advice: str
    settings: Settings
    draws_without_estimate: int = 0

    def of(self, system: str) -> CorrectedRating:
        """The rating of one system.

        Raises:
            NotFoundError: The table has no such system.
        """
        for rating in self.ratings:
            if rating.system == system:
                return rating
        message = f"No battle names the system {system}."
        raise NotFoundError(message, advice="Spell it as in the battle file.")

    def as_json(self) -> dict[str, object]:
        """The object that `arena battles rate --people --json` prints."""
        anchor = self.settings.anchor
        return {
            "ratings": [rating.as_json() for rating in self.ratings],
            **self.evidence.as_json(),
            "judge_weight": self.judge_weight,
            "advice": self.advice,
            "method": self.settings.method.value,
            "interval": self.settings.interval.value,
            "bootstrap": self.settings.bootstrap,
            "cluster": self.settings.cluster.value,
            "seed": self.settings.seed,
            "anchor": None if anchor is None else {"system": anchor.system, "rating": anchor.rating},
            "draws_without_estimate": self.draws_without_estimate,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedMean:
    """One share as people would give it, beside the judge's and that of votes alone."""

    corrected: Estimated
    judge: Estimated
    people: Estimated


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRate:
    """One system's record with people in one domain, or overall; rates are shares, 0–1.

    Attributes:
        system: Its name.
        domain: A domain's id, or `overall`.
        battles: Planned ones.
        labelled_battles: Those that people voted on.
        win_rate: Share of votes that it wins; a vote with a score is won above ½.
        win_tie_rate: Share of votes that it wins or ties.
        mean_score: Mean vote share.
    """

    system: str
    domain: str
    battles: int
    labelled_battles: int
    win_rate: CorrectedMean
    win_tie_rate: CorrectedMean
    mean_score: CorrectedMean

    def as_json(self) -> dict[str, object]:
        """The fields of `arena battles rate --winrates --people`."""
        fields: dict[str, object] = {
            "system": self.system,
            "domain": self.domain,
            "battles": self.battles,
            "labelled_battles": self.labelled_battles,
        }
        means = {"win_rate": self.win_rate, "win_tie_rate": self.win_tie_rate, "mean_score": self.mean_score}
        for name, mean in means.items():
            for by, value in (("", mean.corrected), ("judge_", mean.judge), ("people_", mean.people)):
                fields[f"{by}{name}"] = value.value
                fields[f"{by}{ENDS[name]}lower"] = value.lower
                fields[f"{by}{ENDS[name]}upper"] = value.upper
        return fields


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRateTable:
    """Rates of every system as people would give them.

    Attributes:
        rows: Systems best first by corrected mean share, each with `overall` and then its domains.
        reference: The one opponent; None where every opponent counts.
        evidence: What the rates depend on.
        advice: Whether the judge adds anything, and how many more labels a width needs.
        interval: Where intervals come from.
        bootstrap: Resamples; None where nothing was resampled.
        seed: Of the resamples.
    """

    rows: tuple[CorrectedRate, ...]
    reference: str | None
    evidence: Evidence
    advice: str
    interval: IntervalKind
    bootstrap: int | None
    seed: int

    def as_json(self) -> dict[str, object]:
        """The object that `arena battles rate --winrates --people --json` prints."""
        return {
            "rows": [row.as_json() for row in self.rows],
            "reference": self.reference,
            **self.evidence.as_json(),
            "advice": self.advice,
            "interval": self.interval.value,
            "bootstrap": self.bootstrap,
            "seed": self.seed,
            "level": LEVEL,
        }
