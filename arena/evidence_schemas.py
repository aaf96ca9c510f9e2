"""Questions, their evidence and comparisons as JSON: one model each, for every surface that reads them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from arena.schemas import Line
from arena.services.evidence.question_search import FoundText
from arena.services.evidence.questions import AnswerView, QuestionView
from arena.services.evidence.systems import Comparison
from data.records import BattleEvidence
from data.store.rounds.question_stats import QuestionStats
from leaderboard.paired import PairedShare

WINNERS: dict[str | None, str] = {"a": "model_a", "b": "model_b", "tie": "tie"}
NOTICE = "Which texts are kept from you, and why; empty where none are."
Winner = Annotated[str | None, BeforeValidator(WINNERS.get)]


class PassageLine(Line):
    """A passage that a set gives with a question."""

    id: str
    title: str
    text: str


class BattleLine(Line):
    """A battle in the field's names."""

    battle: str = Field(validation_alias="key", description="Its id within the round.")
    question_id: str
    domain: str
    model_a: str = Field(validation_alias="system_a")
    model_b: str = Field(validation_alias="system_b")
    outcome: str | None = Field(description="`judged`, `unreadable`, `refused`, …; null while pending.")
    winner: Winner = Field(
        validation_alias="preference", description="`model_a`, `model_b` or `tie`; null without a verdict."
    )
    score: float | None = Field(description="The share of the win that `model_a` gets, of soft judges.")


class FoundLine(Line):
    """Where a question has what was searched for."""

    in_question: bool
    in_reference: bool
    systems: list[str] = Field(description="Whose answers have it.")
    source: str = Field(description="Whose text the excerpt is of; empty for the question's own.")
    excerpt: Annotated[str, BeforeValidator(str)] = Field(
        description="The part of that text in which it was found, as plain text."
    )


class RoundQuestionLine(Line):
    """A question of a round, and how its battles ended."""

    id: str
    domain: str
    question: str
    battles: int = Field(description="Planned battles on it that the judge was to decide.")
    undecided: int = Field(description="Those without a verdict.")
    ties: int
    flips: int = Field(description="Those in which a judge changed its mind with the order.")
    disputed: int = Field(description="Those whose judges, of several, disagree.")
    contested: int = Field(description="Those that are one of the two, or both.")
    winner: str | None = Field(
        description="The system with the largest share of the win, the reference left out; null where "
        "several share it."
    )
    winners: int = Field(description="How many systems have the largest share.")
    margin: float | None = Field(
        description="By how much it is larger than the second share, 0–1; null without a second."
    )
    spread: float | None = Field(description="Standard deviation of the systems' shares, 0–½.")
    found: FoundLine | None = Field(
        default=None, description="Where it has `q`; null where nothing was searched."
    )

    @classmethod
    def of_found(cls, question: QuestionStats, found: FoundText | None) -> RoundQuestionLine:
        """Translate a question with where it was found."""
        line = cls.of(question)
        return line if found is None else line.model_copy(update={"found": FoundLine.of(found)})


class ScoreLine(Line):
    """A metric's score of an answer; `details` say what it rests on, as the metric does."""

    metric: str
    judge: str = Field(description="Who scored; empty for the embedded engine.")
    outcome: str
    score: float | None
    details: dict[str, Any]


class AnswerLine(BaseModel):
    """An answer to a question of a round; the counts are of the round's battles on the question."""

    system: str
    is_reference: bool
    answer: str
    context_ids: list[str] = Field(description="Ids of the passages that the system was given.")
    wins: int
    ties: int
    losses: int
    scores: list[ScoreLine]

    @classmethod
    def of(cls, view: AnswerView) -> AnswerLine:
        """Translate an answer."""
        return cls(
            system=view.system,
            is_reference=view.is_reference,
            answer=view.answer.answer,
            context_ids=[passage.id for passage in view.answer.contexts],
            wins=view.wins,
            ties=view.ties,
            losses=view.losses,
            scores=[ScoreLine.of(score) for score in view.scores],
        )


class JudgmentLine(Line):
    """One judge, one presentation order, one reply."""

    judge: str
    model: str
    presentation: str = Field(description="`ab` where `model_a` was shown first, else `ba`.")
    outcome: str
    winner: Winner = Field(validation_alias="preference", description="Null without a verdict.")
    margin: float | None = Field(description="-1…1, positive where `model_b` is better; null for no degree.")
    rationale: str = Field(description="The judge's reasons; empty where they quote what is hidden from you.")
    detail: str = Field(description="Of what was not judged, what happened.")


class BattleEvidenceLine(BattleLine):
    """A battle and every judgment behind its verdict."""

    judgments: list[JudgmentLine]

    @classmethod
    def of_evidence(cls, evidence: BattleEvidence) -> BattleEvidenceLine:
        """Translate a battle with its judgments."""
        names = ("key", "question_id", "domain", "system_a", "system_b", "outcome", "preference", "score")
        battle = {name: getattr(evidence.battle, name) for name in names}
        return cls.of({**battle, "judgments": [JudgmentLine.of(line) for line in evidence.judgments]})


class QuestionEvidence(BaseModel):
    """A question of a round with its answers, the best first, and its battles."""

    round: str
    set: str
    id: str
    domain: str
    domain_label: str
    question: str
    reference: str | None = Field(description="Null where there is none, or it is hidden from you.")
    passages: list[PassageLine]
    answers: list[AnswerLine]
    battles: list[BattleEvidenceLine]
    notice: str = Field(description=NOTICE)

    @classmethod
    def of(cls, round_name: str, view: QuestionView) -> QuestionEvidence:
        """Translate what a question page shows."""
        question = view.question
        return cls(
            round=round_name,
            set=view.set_name,
            id=question.id,
            domain=question.domain,
            domain_label=view.domain_label,
            question=question.question,
            reference=question.reference,
            passages=[PassageLine.of(passage) for passage in question.passages],
            answers=[AnswerLine.of(answer) for answer in view.answers],
            battles=[BattleEvidenceLine.of_evidence(battle) for battle in view.battles],
            notice=view.notice,
        )


class PairedShareLine(BaseModel):
    """How much more of the win the first system takes, in one domain, with its 95 % t interval."""

    domain: str = Field(description="Its id, or `overall`.")
    difference: float | None = Field(description="Mean over questions, -1…1.")
    lower: float | None
    upper: float | None
    questions: int = Field(description="How many questions compare the two.")
    ahead: int
    behind: int
    separated: bool = Field(description="Whether the interval leaves out 0.")

    @classmethod
    def of(cls, share: PairedShare) -> PairedShareLine:
        """Translate a paired share."""
        interval = share.interval
        return cls(
            domain=share.domain,
            difference=share.difference,
            lower=None if interval is None else float(interval.lower),
            upper=None if interval is None else float(interval.upper),
            questions=share.questions,
            ahead=share.ahead,
            behind=share.behind,
            separated=bool(share.apart),
        )


class ContestedLine(Line):
    """A question with each system's mean share of the win over its battles there."""

    id: str
    domain: str
    question: str
    shares: dict[str, float]


class RoundComparison(BaseModel):
    """Two systems of a round on the same questions."""

    round: str
    first: str
    second: str
    battles: int
    paired: list[PairedShareLine] = Field(description="Overall first, then by domain.")
    questions: list[ContestedLine] = Field(description="Where they differ most, the widest first.")
    notice: str = Field(description=NOTICE)

    @classmethod
    def of(cls, round_name: str, compared: Comparison) -> RoundComparison:
        """Translate a comparison of two systems."""
        first, second = compared.systems
        return cls(
            round=round_name,
            first=first,
            second=second,
            battles=compared.battles,
            paired=[PairedShareLine.of(share) for share in compared.paired[second]],
            questions=[ContestedLine.of(question) for question in compared.questions],
            notice=compared.notice,
        )
