"""What the public part of the API answers: sets, boards, rounds, battles."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from arena.evidence_schemas import BattleLine, PassageLine
from arena.schemas import Line, SetLine
from arena.services.rounds.readiness import Lack
from data.records import Board, Round, RoundCounts
from data.records.questions import NAME_PATTERN
from data.store.boards.boards import BoardHead
from leaderboard.vocabulary import VoteRule

LONGEST_PAGE = 500
NAME = rf"^{NAME_PATTERN.pattern}$"

Name = Annotated[str, Path(pattern=NAME, max_length=100, description="Its name.", examples=["demo"])]
BoardName = Annotated[
    str,
    Path(
        pattern=rf"^{NAME_PATTERN.pattern}(@[0-9a-f]{{8,64}})?$",
        max_length=170,
        description="Its name; NAME@HASH is one snapshot of it, also after another took its place.",
        examples=["demo"],
    ),
]
Limit = Annotated[int, Query(ge=1, le=LONGEST_PAGE, description="How many to send at most.")]
Cursor = Annotated[int, Query(ge=0, le=2**53, description="`next` of the page before; 0 for the first.")]


class Health(BaseModel):
    """Whether the arena answers."""

    status: str = Field(examples=["ok"])
    boards: int = Field(description="Published boards.", examples=[2])


class SetList(BaseModel):
    """Every question set."""

    sets: list[SetLine]


class SetStatisticsLine(Line):
    """The questions of one domain, or all; means and shares are null where there is nothing to count."""

    domain: str = Field(description="Its id, or `overall`.")
    questions: int
    references: int
    reference_words: float | None = Field(description="Mean words of the references.")
    words_a_question: float | None = Field(description="The same, questions without a reference counting 0.")
    question_words: float | None
    documents: float | None = Field(description="Mean documents that a reference was written from.")
    several_documents: float | None = Field(description="Share of those of two documents or more.")
    many_documents: float | None = Field(description="Share of those of ten or more.")
    most_documents: int | None
    sentences: int = Field(description="Sentences of references whose citations are known.")
    documents_a_sentence: list[float] = Field(
        description="Shares of them that cite 0, 1, 2, 3, 4, and 5 or more documents."
    )
    short_answers: float | None
    short_answer_words: float | None
    passages: float | None
    passage_words: float | None


class SetStatisticsList(BaseModel):
    """What a set is made of: overall first, then by domain."""

    domains: list[SetStatisticsLine]


class QuestionLine(Line):
    """A question, without anything that a reference or its makers say of it."""

    id: str = Field(examples=["bio-1"])
    domain: str
    question: str
    split: str = Field(examples=["test"])
    passages: list[PassageLine]


class QuestionPage(BaseModel):
    """Some questions of a set, in its order."""

    questions: list[QuestionLine]
    next: int | None = Field(description="Cursor of the next page; null after the last.")


class BoardLine(BaseModel):
    """A published board without its lines."""

    name: str = Field(examples=["demo"])
    title: str
    round: str | None
    content_hash: str = Field(description="sha256 of the standings.")
    published_at: datetime
    retracted: bool
    notice: str = Field(description="What readers must know, such as why it was retracted.")
    replaced_at: datetime | None = Field(
        default=None, description="When another snapshot took its place; null where it stands."
    )

    @classmethod
    def of(cls, board: Board | BoardHead) -> BoardLine:
        """Translate a board, with its standings or without."""
        named = board.standings.get("title") if isinstance(board, Board) else board.title
        return cls(
            name=board.name,
            title=str(named or board.name),
            round=board.round_name,
            content_hash=board.content_hash,
            published_at=board.published_at,
            retracted=board.retracted,
            notice=board.notice,
            replaced_at=board.replaced_at,
        )


class BoardList(BaseModel):
    """The published boards, the newest first."""

    leaderboards: list[BoardLine]


class VoteLine(BaseModel):
    """A vote of a person on a planned battle, as a line of a votes file."""

    question_id: str
    model_a: str
    model_b: str
    winner: Literal["model_a", "model_b", "tie", "tie (bothbad)"] | None = None
    score: float | None = Field(default=None, ge=0, le=1, description="The share that `model_a` gets.")
    annotator: str | None = None
    chance: float | None = Field(
        default=None, gt=0, le=1, description="The probability that the battle was put to people."
    )


class PlanRequest(BaseModel):
    """What a round would be; as the options of `arena rounds plan`."""

    model_config = ConfigDict(extra="forbid")

    set_name: str = Field(alias="set", max_length=100, description="The question set.", examples=["demo"])
    judge: str = Field(max_length=100, examples=["lexical"])
    pairs: str = Field(default="reference", max_length=100, description="Which pairs meet.")
    systems: list[str] = Field(default=[], max_length=1_000, description="Of these alone; else of all.")
    domains: list[str] = Field(default=[], max_length=1_000, description="On these alone; else on all.")
    sample: str | None = Field(default=None, max_length=20, description="Questions, as 100 or 10%.")
    seed: int = 0
    budget_usd: float | None = Field(default=None, ge=0, description="The most that it may spend.")
    name: str | None = Field(default=None, max_length=100)


class ToDo(BaseModel):
    """One thing that a planned round lacks."""

    what: Lack
    text: str
    advice: str = Field(description="What to do about it.")
    blocks: bool = Field(description="Whether organisers' pages do not launch the round so.")


class RoundPlan(BaseModel):
    """What a round would judge, what it would cost, and what it lacks. Nothing is stored."""

    set: str
    judge: str
    pairs: str
    systems: list[str]
    planned: int = Field(description="Battles.")
    missing: int = Field(description="Battles that lack an answer.")
    canaries: int
    controls: int
    left_out: dict[str, int]
    undecidable: dict[str, int]
    requests: int
    requests_most: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = Field(description="Null where a model has no known price.")
    cost_usd_most: float | None
    to_do: list[ToDo]


class PublicationRequest(BaseModel):
    """What is to be published of a round: its standings, and what votes of people make of them."""

    task: str | None = Field(default=None, description="The annotation task whose labels are the votes.")
    votes: list[VoteLine] | None = Field(default=None, description="The votes themselves; not with `task`.")
    vote_rule: VoteRule = Field(default=VoteRule.MEAN, description="What several votes on a battle count as.")
    metrics: bool = Field(default=True, description="Score answers by the embedded metrics first.")
    partial: bool = Field(default=False, description="Also where less than 90 % was judged.")
    calibration: int | None = Field(default=None, description="The job whose agreement readers are told.")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.task is not None and self.votes is not None:
            message = "Votes come from a task or with the request, not from both."
            raise ValueError(message)
        return self


class Publication(BaseModel):
    """What a request to publish did: a board that stands, or a worker's job."""

    name: str
    content_hash: str | None = Field(description="Of the board; null while a worker is at it.")
    created: bool = Field(description="Whether it put another snapshot up.")
    job: int | None = Field(description="The worker's job; null where it is done.")
    votes: int | None = Field(description="Votes that correct the board; null where none do.")
    votes_left_out: int | None = Field(description="Votes on battles that the judge did not decide.")


class BoardFull(BoardLine):
    """A published board; `standings` is what `arena leaderboard export` writes."""

    standings: dict[str, Any]


class RoundLine(Line):
    """A round and its counts."""

    name: str
    set: str
    state: str = Field(examples=["published"])
    judge: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    planned: int = Field(description="Battles; the counts below add up to it.")
    judged: int
    unreadable: int
    refused: int
    failed: int
    skipped: int
    missing: int
    estimated: int = Field(description="Battles that the judge of a round in waves was not asked about.")
    pending: int

    @classmethod
    def of_round(cls, round_: Round, counts: RoundCounts) -> RoundLine:
        """Translate a round; what it costs is the organisers' business."""
        fields = {name: getattr(round_, name) for name in ("name", "created_at", "started_at", "finished_at")}
        fields |= {"set": round_.set_name, "state": round_.state, "judge": round_.judge_name}
        return cls.of({**fields, **asdict(counts), "pending": counts.pending})


class RoundList(BaseModel):
    """Rounds, the newest first."""

    rounds: list[RoundLine]


class BattlePage(BaseModel):
    """Some battles of a round, in a fixed order."""

    battles: list[BattleLine]
    next: int | None = Field(description="Cursor of the next page; null after the last.")
