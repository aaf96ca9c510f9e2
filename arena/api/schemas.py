"""What the public part of the API answers: sets, boards, rounds, battles."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, BeforeValidator, Field

from arena.schemas import Line, SetLine
from data.records import Board, Round, RoundCounts
from data.records.questions import NAME_PATTERN
from data.store.boards.boards import BoardHead

LONGEST_PAGE = 500
NAME = rf"^{NAME_PATTERN.pattern}$"

Name = Annotated[str, Path(pattern=NAME, max_length=100, description="Its name.", examples=["demo"])]
Limit = Annotated[int, Query(ge=1, le=LONGEST_PAGE, description="How many to send at most.")]
Cursor = Annotated[int, Query(ge=0, le=2**53, description="`next` of the page before; 0 for the first.")]
WINNERS: dict[str | None, str] = {"a": "model_a", "b": "model_b", "tie": "tie"}


class Health(BaseModel):
    """Whether the arena answers."""

    status: str = Field(examples=["ok"])
    boards: int = Field(description="Published boards.", examples=[2])


class SetList(BaseModel):
    """Every question set."""

    sets: list[SetLine]


class PassageLine(Line):
    """A passage that a set gives with a question."""

    id: str
    title: str
    text: str


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
        )


class BoardList(BaseModel):
    """The published boards, the newest first."""

    leaderboards: list[BoardLine]


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


class BattleLine(Line):
    """A battle in the field's names."""

    battle: str = Field(validation_alias="key", description="Its id within the round.")
    question_id: str
    domain: str
    model_a: str = Field(validation_alias="system_a")
    model_b: str = Field(validation_alias="system_b")
    outcome: str | None = Field(description="`judged`, `unreadable`, `refused`, …; null while pending.")
    winner: Annotated[str | None, BeforeValidator(WINNERS.get)] = Field(
        validation_alias="preference", description="`model_a`, `model_b` or `tie`; null without a verdict."
    )
    score: float | None = Field(description="The share of the win that `model_a` gets, of soft judges.")


class BattlePage(BaseModel):
    """Some battles of a round, in a fixed order."""

    battles: list[BattleLine]
    next: int | None = Field(description="Cursor of the next page; null after the last.")
