"""Boards and their standings, rounds, battles, and the evidence behind them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pydantic import Field

from .base import Value
from .sets import Passage

OVERALL = "overall"


class Rating(Value):
    """A rating on the Elo scale with its interval and rank."""

    rating: float
    se: float | None = None
    lower: float | None = None
    upper: float | None = None
    rank: int | None = None
    rank_lower: int | None = None
    """The best place that the battles leave open."""
    rank_upper: int | None = None
    battles: int | None = None
    letters: str | None = None
    """Two systems of a `component` share a letter exactly where the battles do not separate them."""
    component: int | None = None


class Rate(Value):
    """How often a system wins against the reference; shares are 0-1, intervals 95 %."""

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


class BoardHead(Value):
    """A published board without its lines."""

    name: str
    title: str
    round: str | None
    """The round that it shows; None for a board of published figures."""
    content_hash: str
    published_at: datetime
    retracted: bool
    notice: str
    """What readers must know, such as why it was retracted."""
    replaced_at: datetime | None
    """When another snapshot took its place; None where it stands."""


class Board(BoardHead):
    """A published board; `standings` is all of it, `lines` its table."""

    standings: dict[str, Any]

    @property
    def domains(self) -> dict[str, str]:
        """Labels by domain, in the board's order."""
        return {domain["id"]: domain["label"] for domain in self.standings.get("domains", [])}

    def lines(self, domain: str = OVERALL) -> list[StandingsLine]:
        """The systems of a domain, the best first; empty where the board has no such domain."""
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
                }


class Round(Value):
    """A round and its counts."""

    name: str
    set: str
    state: str
    """`planned`, `running`, `paused`, `cancelled`, `finished`, `published` or `retracted`."""
    judge: str
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
    estimated: int
    """Battles that the judge of a round in waves was not asked about."""
    pending: int


class Battle(Value):
    """A battle in the field's names."""

    battle: str
    """Its id within the round."""
    question_id: str
    domain: str
    model_a: str
    model_b: str
    outcome: str | None
    """`judged`, `unreadable`, `refused`, …; None while pending."""
    winner: str | None
    """`model_a`, `model_b` or `tie`; None without a verdict."""
    score: float | None
    """The share of the win that `model_a` gets, of soft judges."""


class Judgment(Value):
    """One judge, one presentation order, one reply."""

    judge: str
    model: str
    presentation: str
    """`ab` where `model_a` was shown first, else `ba`."""
    outcome: str
    winner: str | None
    margin: float | None
    """-1…1, positive where `model_b` is better; None for no degree."""
    rationale: str
    """The judge's reasons; empty where they quote what is hidden from you."""
    detail: str


class BattleEvidence(Battle):
    """A battle and every judgment behind its verdict."""

    judgments: list[Judgment]


class FoundText(Value):
    """Where a question has what was searched for."""

    in_question: bool
    in_reference: bool
    systems: list[str]
    """Whose answers have it."""
    source: str
    """Whose text the excerpt is of; empty for the question's own."""
    excerpt: str


class RoundQuestion(Value):
    """A question of a round, and how its battles ended."""

    id: str
    domain: str
    question: str
    battles: int
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
    """The system with the largest share of the win; None where several share it."""
    winners: int
    margin: float | None
    """By how much its share is larger than the second."""
    spread: float | None
    """Standard deviation of the systems' shares."""
    found: FoundText | None = None
    """Where it has what was searched for."""


class Score(Value):
    """A metric's score of an answer; `details` say what it rests on, as the metric does."""

    metric: str
    judge: str
    outcome: str
    score: float | None
    details: dict[str, Any]


class RoundAnswer(Value):
    """An answer to a question of a round; the counts are of the round's battles on the question."""

    system: str
    is_reference: bool
    answer: str
    context_ids: list[str]
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
    """None where there is none, or it is hidden from you."""
    passages: list[Passage]
    answers: list[RoundAnswer]
    battles: list[BattleEvidence]
    notice: str = ""
    """Which texts are kept from you, and why; empty where none are."""


class PairedShare(Value):
    """How much more of the win the first system takes, in one domain, with its 95 % t interval."""

    domain: str
    """Its id, or `overall`."""
    difference: float | None
    """Mean over questions, -1…1."""
    lower: float | None
    upper: float | None
    questions: int
    ahead: int
    behind: int
    separated: bool
    """Whether the interval leaves out 0."""


class ContestedQuestion(Value):
    """A question with each system's mean share of the win over its battles there."""

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
    """Where they differ most, the widest first."""
    notice: str = ""
    """Which texts are kept from you, and why; empty where none are."""


class ScoredMetric(Value):
    """A metric that answers to a set were scored by."""

    metric: str
    judges: list[str]
    """Whose scores there are; `embedded` needs no LLM."""


class ScoreTable(Value):
    """Means over answers by system, domain or question; the last row is over all."""

    set: str
    metric: str
    judge: str
    by: str
    untried: int
    """Answers that were never tried."""
    k: float | None
    """The K of F1@K."""
    k_from: str | None
    measures: dict[str, str]
    """Names of the measures, with their symbols in the paper."""
    notes: list[str]
    """Who told, how often that is right, and what was cut or not cited."""
    rows: list[dict[str, Any]]
    """`answers`, `unscored`, and of each measure `answers`, `mean`, `sd`, `lower`, `upper`."""
