"""What the public part of the API answers: sets, boards, rounds, battles."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from arena.models.results import Battle, BoardHead, Round
from arena.models.sets import Question, QuestionSet, SetStatistics
from arena.services.rounds.readiness import Lack
from data.records.questions import NAME_PATTERN
from leaderboard.vocabulary import VoteRule

LONGEST_PAGE = 500
NAME = rf"^{NAME_PATTERN.pattern}$"
SYSTEM_NAME = r"^[^\s@][^@]*$"
"""What can be seen of a system's name before it is checked."""

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

    sets: list[QuestionSet]


class SetStatisticsList(BaseModel):
    """What a set is made of: overall first, then by domain."""

    domains: list[SetStatistics]


class QuestionPage(BaseModel):
    """Some questions of a set, in its order."""

    questions: list[Question]
    next: int | None = Field(description="Cursor of the next page; null after the last.")


class BoardList(BaseModel):
    """The published boards, the newest first."""

    leaderboards: list[BoardHead]


class VoteLine(BaseModel):
    """A vote of a person on a planned battle, as a line of a votes file."""

    question_id: str
    model_a: str
    model_b: str
    winner: Literal["model_a", "model_b", "tie", "tie (bothbad)"] | None = None
    score: float | None = Field(default=None, ge=0, le=1, description="The share that `model_a` gets.")
    annotator: str | None = None
    sampling_prob: float | None = Field(
        default=None,
        gt=0,
        le=1,
        # Requests of before say `chance`.
        validation_alias=AliasChoices("sampling_prob", "chance"),
        description="The probability that the battle was labelled by humans.",
    )


class PlanRequest(BaseModel):
    """What a round would be; as the options of `arena rounds plan`."""

    model_config = ConfigDict(extra="forbid")

    set_name: str = Field(alias="set", max_length=100, description="The question set.", examples=["demo"])
    judge: str = Field(max_length=100, examples=["lexical"])
    pairs: str = Field(
        default="",
        max_length=200,
        description="Which pairs meet; empty: with the reference, or all where the set has no references.",
    )
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
    left_out: dict[str, int]
    undecidable: dict[str, int]
    requests: int = Field(description="Requests that are sent for certain, beside those in the cache.")
    requests_most: int = Field(description="Where each is asked again and swapped as often as the judge may.")
    cached: int = Field(description="Requests whose replies are there already.")
    input_tokens: int
    output_tokens: int = Field(description="Expected, by the judge's earlier replies.")
    cost_usd: float | None = Field(description="Expected. Null where a model has no known price.")
    cost_usd_most: float | None = Field(description="If each request of `requests_most` returns its most.")
    to_do: list[ToDo]


class PublicationRequest(BaseModel):
    """What is to be published of a round: its standings, and what votes of people make of them."""

    votes: list[VoteLine] | None = Field(default=None, description="Votes of people on the round's battles.")
    vote_rule: VoteRule = Field(default=VoteRule.MEAN, description="What several votes on a battle count as.")
    metrics: bool = Field(default=True, description="Score answers by the embedded metrics first.")
    partial: bool = Field(default=False, description="Also where less than 90 % was judged.")
    calibration: int | None = Field(default=None, description="The job whose agreement readers are told.")


class Publication(BaseModel):
    """What a request to publish did: a board that stands, or a worker's job."""

    name: str
    content_hash: str | None = Field(description="Of the board; null while a worker is at it.")
    created: bool = Field(description="Whether it put another snapshot up.")
    job: int | None = Field(description="The worker's job; null where it is done.")
    votes: int | None = Field(description="Votes that correct the board; null where none do.")
    votes_left_out: int | None = Field(description="Votes on battles that the judge did not decide.")


class RoundList(BaseModel):
    """Rounds, the newest first."""

    rounds: list[Round]


class BattlePage(BaseModel):
    """Some battles of a round, in a fixed order."""

    battles: list[Battle]
    next: int | None = Field(description="Cursor of the next page; null after the last.")
