"""Rounds, battles and their evidence, comparisons, and scores."""

from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field

from arena.models.base import LOWER, UPPER, Value, one_of
from data.models import Passage, Round
from data.store.question_stats import QuestionStats
from data.store.scores import ScoredAnswer

PREFERENCE = AliasChoices("winner", "preference")
SIDES = {"a": "model_a", "b": "model_b"}
Winner = Annotated[str | None, BeforeValidator(lambda side: SIDES.get(side, side))]


class RoundStatus(Round):
    """Round with its counts."""

    model_config = Round.model_config | {"use_attribute_docstrings": True}

    planned: int
    """Planned battles, the sum of the counts below."""
    judged: int
    unreadable: int
    refused: int
    failed: int
    skipped: int
    missing: int
    pending: int


class Battle(Value):
    """Battle with the column names common in the field."""

    battle: str = Field(validation_alias=AliasChoices("battle", "key"))
    """Id within the round."""
    question_id: str
    domain: str
    model_a: str = Field(validation_alias=AliasChoices("model_a", "system_a"))
    model_b: str = Field(validation_alias=AliasChoices("model_b", "system_b"))
    outcome: str | None
    """`judged`, `unreadable`, `refused`, …; null while pending."""
    winner: Winner = Field(validation_alias=PREFERENCE)
    """`model_a`, `model_b` or `tie`; null without a verdict."""
    score: float | None
    """Win share of `model_a`, from soft judges."""


class Judgment(Value):
    """One judge, one presentation order, one reply."""

    judge: str
    model: str
    presentation: str
    """`ab` if `model_a` was first, else `ba`."""
    outcome: str
    winner: Winner = Field(validation_alias=PREFERENCE)
    """Null without a verdict."""
    margin: float | None
    """-1…1, positive if `model_b` is better; null without a margin."""
    rationale: str
    """The judge's reasons; empty if they quote texts that are hidden from you."""
    detail: str
    """Reason for a missing judgment."""


class BattleEvidence(Battle):
    """Battle with every judgment behind its verdict."""

    judgments: list[Judgment]


class RoundQuestionPage(Value):
    """Page of a round's questions in the requested order."""

    questions: tuple[QuestionStats, ...]
    next: int | None
    """Cursor of the next page; null after the last."""
    notice: str
    """Notice on texts that are hidden from you; empty without any."""
    total: int
    """Number of questions on all pages."""


class RoundAnswer(Value):
    """Answer to a question of a round, with the results of the round's battles on it."""

    system: str
    is_reference: bool
    answer: str
    context_ids: list[str]
    """Ids of the passages given to the system."""
    wins: int
    ties: int
    losses: int
    scores: tuple[ScoredAnswer, ...]


class QuestionEvidence(Value):
    """Question of a round with its answers, best first, and its battles."""

    round: str
    set: str
    id: str
    domain: str
    domain_label: str
    question: str
    reference: str | None
    """Null if missing or hidden from you."""
    passages: tuple[Passage, ...]
    answers: list[RoundAnswer]
    battles: list[BattleEvidence]
    notice: str
    """Notice on texts that are hidden from you; empty without any."""


class PairedShare(Value):
    """Difference of two systems' win shares in one domain, with its 95 % t interval."""

    domain: str
    """Domain id, or `overall`."""
    difference: float | None
    """Mean over questions, -1…1."""
    lower: float | None = Field(None, validation_alias=LOWER)
    upper: float | None = Field(None, validation_alias=UPPER)
    questions: int
    """Number of questions behind the comparison."""
    ahead: int
    behind: int
    separated: bool | None = None
    """True if the difference is significant on the board (tested for all pairs at once); None before the
    round is published.
    """


class ContestedQuestion(Value):
    """Question with each system's mean win share (0-1) in its battles."""

    id: str
    domain: str
    question: str
    shares: dict[str, float]

    @property
    def best(self) -> float:
        """Largest share."""
        return max(self.shares.values())


class Comparison(Value):
    """Comparison of two systems of a round on the same questions."""

    round: str
    first: str
    second: str
    battles: int
    paired: list[PairedShare]
    """Overall first, then by domain."""
    questions: list[ContestedQuestion]
    """Questions with the largest differences, largest first."""
    notice: str
    """Notice on texts that are hidden from you; empty without any."""


class ScoredMetric(Value):
    """Metric with scores of answers to a set."""

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
    """Answers that were not scored yet."""
    k: float | None
    """K of F1@K."""
    k_from: str | None
    measures: dict[str, str]
    """Names of the measures, with their symbols in the paper."""
    notes: list[str]
    """Notes on the scores: their source, its accuracy, and cut or uncited passages."""
    rows: list[dict[str, Any]]
    """By system, domain or question, the last one over all: `answers`, `unscored`, and for each measure

    `answers`, `mean`, `sd`, `lower`, `upper`.
    """
