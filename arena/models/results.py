"""Boards and their standings, rounds, battles, and the evidence behind them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field

from arena.models.base import LOWER, UPPER, Value, one_of
from arena.models.sets import Passage

OVERALL = "overall"
PREFERENCE = AliasChoices("winner", "preference")
SIDES = {"a": "model_a", "b": "model_b"}
Winner = Annotated[str | None, BeforeValidator(lambda side: SIDES.get(side, side))]


class Rating(Value):
    """A rating on the Elo scale with its interval and rank."""

    rating: float | None = None
    """None where the estimate does not exist."""
    se: float | None = None
    lower: float | None = None
    upper: float | None = None
    rank: int | None = None
    """Places are among the systems; the reference has none."""
    rank_lower: int | None = None
    """The best place that the battles leave open."""
    rank_upper: int | None = None
    battles: int | None = None
    letters: str | None = None
    """Two systems of a `component` share a letter exactly where the battles do not separate them."""
    component: int | None = None


class Rate(Value):
    """Win rate of a system against the reference; shares are 0-1, intervals 95 %."""

    battles: int
    wins: int
    ties: int
    losses: int
    win_rate: float | None
    win_tie_rate: float | None
    lower: float | None = None
    """Of the win rate."""
    upper: float | None = None
    win_tie_lower: float | None = None
    win_tie_upper: float | None = None


class StandingsLine(Value):
    """A system in one domain of a board."""

    system: str
    rating: Rating | None = None
    """None where it cannot be rated."""
    rate: Rate | None = None
    """None for the reference itself."""
    answers: int | None = None
    no_answer_share: float | None = None
    median_words: float | None = None
    scores: dict[str, Any] = Field({})
    """By metric."""
    unranked: str = ""
    """Reason for a missing rank and rating: too few answered questions; empty otherwise."""


class BoardHead(Value):
    """A published board without its lines."""

    name: str
    title: str
    round: str | None = Field(validation_alias=AliasChoices("round", "round_name"))
    """The round that it shows; null for a board of published figures."""
    content_hash: str
    """sha256 of the standings."""
    published_at: datetime
    retracted: bool
    notice: str
    """Notice for readers, such as the reason of a retraction."""
    replaced_at: datetime | None = None
    """When another snapshot took its place; null where it stands."""


class Board(BoardHead):
    """A published board; `standings` is all of it, `lines` its table."""

    standings: dict[str, Any]
    marks: dict[str, str] = Field({})
    """Systems that were withdrawn or disqualified since, or are partial, with the reason after ": "."""

    @property
    def domains(self) -> dict[str, str]:
        """Labels by domain, in the board's order."""
        return {domain["id"]: domain["label"] for domain in self.standings.get("domains", [])}

    def lines(self, domain: str = OVERALL) -> list[StandingsLine]:
        """Return the systems of a domain, the best first; empty where the board has no such domain."""
        return [
            StandingsLine.model_validate(line) for line in self.standings.get("lines", {}).get(domain, [])
        ]

    def rows(self) -> Iterator[dict[str, str | int | float | None]]:
        """Every line of every domain as a flat row, for `pandas.DataFrame(board.rows())`."""
        for domain in (OVERALL, *self.domains):
            for line in self.lines(domain):
                rating, rate = line.rating, line.rate
                yield {
                    "domain": domain,
                    "system": line.system,
                    "rank": None if rating is None else rating.rank,
                    "rating": None if rating is None else rating.rating,
                    "lower": None if rating is None else rating.lower,
                    "upper": None if rating is None else rating.upper,
                    "letters": None if rating is None else rating.letters,
                    "win_rate": None if rate is None else rate.win_rate,
                    "win_tie_rate": None if rate is None else rate.win_tie_rate,
                    "answers": line.answers,
                    "median_words": line.median_words,
                    "mark": self.marks.get(line.system, ""),
                }


class Round(Value):
    """A round and its counts."""

    name: str
    set: str = Field(validation_alias=AliasChoices("set", "set_name"))
    state: str
    """`planned`, `running`, `paused`, `cancelled`, `finished`, `published` or `retracted`."""
    judge: str = Field(validation_alias=AliasChoices("judge_name", "judge"))
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    planned: int
    """Battles; the counts below add up to it."""
    judged: int
    unreadable: int
    refused: int
    failed: int
    skipped: int
    missing: int
    pending: int


class Battle(Value):
    """A battle in the field's names."""

    battle: str = Field(validation_alias=AliasChoices("battle", "key"))
    """Its id within the round."""
    question_id: str
    domain: str
    model_a: str = Field(validation_alias=AliasChoices("model_a", "system_a"))
    model_b: str = Field(validation_alias=AliasChoices("model_b", "system_b"))
    outcome: str | None
    """`judged`, `unreadable`, `refused`, …; null while pending."""
    winner: Winner = Field(validation_alias=PREFERENCE)
    """`model_a`, `model_b` or `tie`; null without a verdict."""
    score: float | None
    """The share of the win that `model_a` gets, of soft judges."""


class Judgment(Value):
    """One judge, one presentation order, one reply."""

    judge: str
    model: str
    presentation: str
    """`ab` where `model_a` was shown first, else `ba`."""
    outcome: str
    winner: Winner = Field(validation_alias=PREFERENCE)
    """Null without a verdict."""
    margin: float | None
    """-1…1, positive where `model_b` is better; null for no degree."""
    rationale: str
    """The judge's reasons; empty where they quote what is hidden from you."""
    detail: str
    """Of what was not judged, what happened."""


class BattleEvidence(Battle):
    """A battle and every judgment behind its verdict."""

    judgments: list[Judgment]


class RoundQuestion(Value):
    """A question of a round, and how its battles ended."""

    id: str
    domain: str
    question: str
    battles: int
    """Planned battles on it that the judge was to decide."""
    undecided: int
    """Battles without a verdict."""
    ties: int
    flips: int
    """Battles in which a judge changed its mind with the order."""
    disputed: int
    """Battles whose judges, of several, disagree."""
    contested: int
    """Battles that flipped, or whose judges disagree."""
    winner: str | None
    """The system with the largest share of the win, the reference left out; null where several share it."""
    winners: int
    """Number of systems with the largest share."""
    margin: float | None
    """By how much it is larger than the second share, 0-1; null without a second."""
    spread: float | None
    """Standard deviation of the systems' shares, 0-½."""

    @property
    def disagreement(self) -> float | None:
        """The contested share of the battles that were decided, 0-1; None where none was."""
        decided = self.battles - self.undecided
        return self.contested / decided if decided else None


class RoundQuestionPage(Value):
    """Some questions of a round, in the order that was asked for."""

    questions: list[RoundQuestion]
    next: int | None
    """Cursor of the next page; null after the last."""
    notice: str
    """Texts that are hidden from you, with the reason; empty where none are."""
    total: int
    """Number of questions on all pages."""


class Score(Value):
    """A metric's score of an answer; `details` say what it depends on, as the metric does."""

    metric: str
    judge: str
    """Model that scored; empty for the embedded engine."""
    outcome: str
    score: float | None
    details: dict[str, Any]


class RoundAnswer(Value):
    """An answer to a question of a round; the counts are of the round's battles on the question."""

    system: str
    is_reference: bool
    answer: str
    context_ids: list[str]
    """Ids of the passages that the system was given."""
    wins: int
    ties: int
    losses: int
    scores: list[Score]


class QuestionEvidence(Value):
    """A question of a round with its answers, the best first, and its battles."""

    round: str
    set: str
    id: str
    domain: str
    domain_label: str
    question: str
    reference: str | None
    """Null where there is none, or it is hidden from you."""
    passages: list[Passage]
    answers: list[RoundAnswer]
    battles: list[BattleEvidence]
    notice: str
    """Texts that are hidden from you, with the reason; empty where none are."""


class PairedShare(Value):
    """Difference of two systems' shares of the win in one domain, with its 95 % t interval."""

    domain: str
    """Its id, or `overall`."""
    difference: float | None
    """Mean over questions, -1…1."""
    lower: float | None = Field(None, validation_alias=LOWER)
    upper: float | None = Field(None, validation_alias=UPPER)
    questions: int
    """Number of questions that compare the two."""
    ahead: int
    behind: int
    separated: bool | None = None
    """True if the board separates the two, for all pairs at once; None before the round is published."""


class ContestedQuestion(Value):
    """A question with each system's mean share of the win (0-1) over its battles there."""

    id: str
    domain: str
    question: str
    shares: dict[str, float]


class Comparison(Value):
    """Two systems of a round on the same questions."""

    round: str
    first: str
    second: str
    battles: int
    paired: list[PairedShare]
    """Overall first, then by domain."""
    questions: list[ContestedQuestion]
    """Questions with the largest difference, the widest first."""
    notice: str
    """Texts that are hidden from you, with the reason; empty where none are."""


class ScoredMetric(Value):
    """A metric that answers to a set were scored by."""

    metric: str
    judges: list[str]
    """Sources of scores; `embedded` needs no LLM."""


class ScoreTable(Value):
    """Means over answers, as `arena metrics show --json` prints them."""

    set: str
    metric: str
    judge: str
    by: Annotated[str, one_of("system", "domain", "question")]
    untried: int
    """Answers that were never tried."""
    k: float | None
    """The K of F1@K."""
    k_from: str | None
    measures: dict[str, str]
    """Names of the measures, with their symbols in the paper."""
    notes: list[str]
    """Notes on the scores: their source, its accuracy, and cut or uncited passages."""
    rows: list[dict[str, Any]]
    """By system, domain or question, the last one over all: `answers`, `unscored`, and of each measure
    `answers`, `mean`, `sd`, `lower`, `upper`."""
