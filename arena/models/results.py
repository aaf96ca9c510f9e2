"""Boards and their standings, rounds, battles, and the evidence behind them."""

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
    """A round and its counts."""

    model_config = Round.model_config | {"use_attribute_docstrings": True}

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


class RoundQuestionPage(Value):
    """Some questions of a round, in the order that was asked for."""

    questions: tuple[QuestionStats, ...]
    next: int | None
    """Cursor of the next page; null after the last."""
    notice: str
    """Texts that are hidden from you, with the reason; empty where none are."""
    total: int
    """Number of questions on all pages."""


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
    scores: tuple[ScoredAnswer, ...]


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
    passages: tuple[Passage, ...]
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

    @property
    def best(self) -> float:
        """The largest share."""
        return max(self.shares.values())


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
