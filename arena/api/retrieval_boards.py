"""`/sets/{name}/retrieval`: boards of contexts without answers, and the relevance judgments of sets."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from arena.api.caching import answer, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import NAME, Name
from arena.services.accounts.auth import Caller
from arena.services.retrieval_boards.service import RetrievalBoard
from arena.services.retrieval_boards.shown import (
    board_file,
    board_json,
    paired_json,
    question_json,
    stamp_of,
)
from data.records.rankings import QrelsKind
from leaderboard.export.tables import TableForm
from leaderboard.retrieval.files import trec_eval_lines

router = APIRouter(tags=["retrieval"])
QrelsName = Annotated[
    str,
    Query(pattern=f"^$|{NAME}", max_length=100, description="Which judgments; empty: those attached last."),
]
System = Annotated[str, Query(max_length=100, description="Name of a system of the board.")]
MeasureName = Annotated[str, Query(max_length=40, description="A measure of the board.")]


class RetrievalFormat(StrEnum):
    """How a board is written."""

    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    TREC = "trec"
    """What `trec_eval -q -c` prints of one system."""


MEDIA_TYPES = {
    RetrievalFormat.CSV: "text/csv",
    RetrievalFormat.PARQUET: "application/vnd.apache.parquet",
    RetrievalFormat.TREC: "text/plain",
}


class QrelsLine(BaseModel):
    """Relevance judgments of a set."""

    name: str
    kind: QrelsKind
    relevant_from: float = Field(description="The grade that counts as relevant.")
    questions: int = Field(description="Questions of which passages were judged.")
    without_relevant: int = Field(description="Those of them without a relevant passage.")
    unjudged: int = Field(description="Questions of the set without any judgment.")
    judgments: int
    relevant: int
    subtopics: int
    content_hash: str


class QrelsList(BaseModel):
    """The judgments of a set, those first that boards use where none is named."""

    qrels: list[QrelsLine]


class UsedQrels(BaseModel):
    """The judgments of a board."""

    name: str
    kind: QrelsKind
    relevant_from: float
    content_hash: str


class MeasureLine(BaseModel):
    """A measure of a board."""

    name: str = Field(examples=["nDCG@10"])
    label: str
    about: str
    trec: str = Field(description="Its name in `trec_eval -q` output.")


class EntrantLine(BaseModel):
    """A system of a board."""

    system: str
    team: str
    version: int
    judged: float = Field(description="Share of its first ten passages that were judged, 0–1.")


class RetrievalLineFields(BaseModel):
    """A system by one measure in one domain."""

    system: str
    mean: float | None
    lower: float | None = Field(description="95 % t interval over questions.")
    upper: float | None
    rank: int
    rank_lower: int = Field(description="The best place that the questions leave open.")
    rank_upper: int
    letters: str | None = Field(description="Shared exactly by systems that no test separates.")
    questions: int
    missing: int = Field(description="Questions that it retrieved nothing for; they count as 0.")
    undefined: int = Field(description="Questions for which the measure does not exist.")


class RetrievalBoardFull(BaseModel):
    """A board of contexts."""

    set: str
    qrels: UsedQrels
    choices: list[str] = Field(description="The judgments that the set has.")
    content_hash: str
    questions: int
    without_relevant: int
    unjudged: int
    by_document: bool = Field(description="Whether chunks count as their documents.")
    domains: list[str]
    measures: list[MeasureLine]
    systems: list[EntrantLine]
    lines: dict[str, dict[str, list[RetrievalLineFields]]] = Field(description="By measure and domain.")


class PairedLine(BaseModel):
    """How much higher the first of two systems scores, in one domain."""

    domain: str
    difference: float | None
    lower: float | None
    upper: float | None
    p: float | None = Field(description="Of the paired t test, two-sided.")
    separated: bool
    questions: int
    ahead: int
    behind: int


class PairedList(BaseModel):
    """Two systems, overall and by domain."""

    first: str
    second: str
    measure: str
    differences: list[PairedLine]


class RankedPassageLine(BaseModel):
    """A passage of a ranking, or a relevant one that is missing from it."""

    rank: int | None
    id: str
    grade: float | None = Field(description="Null where nobody judged it.")
    relevant: bool
    subtopics: list[str]
    new: list[str] = Field(description="Subtopics that no passage before it answers.")
    text: str
    title: str


class SystemRankingLine(BaseModel):
    """What a system retrieved for a question."""

    system: str
    values: dict[str, float | None]
    shown: bool = Field(description="Whether its passages are shown to you.")
    retrieved: int
    unjudged: int
    passages: list[RankedPassageLine]
    missed: list[RankedPassageLine]
    unanswered: list[str]


class QuestionRankingsFull(BaseModel):
    """A question of a board."""

    question_id: str
    domain: str
    question: str
    relevant: int
    required: list[str] = Field(description="The required subset of passages, Z*.")
    subtopics: dict[str, str]
    depth: int
    systems: list[SystemRankingLine]


@router.get("/sets/{name}/qrels", responses=problems(404), response_model=QrelsList)
def list_qrels(request: Request, name: Name, arena: Services) -> Response:
    """The relevance judgments of a set: what they hold, not what they say."""
    rows = [QrelsLine.model_validate(asdict(row)) for row in arena.set_qrels.list(name)]
    return answer(request, QrelsList(qrels=rows))


@router.get(
    "/sets/{name}/retrieval",
    response_model=RetrievalBoardFull,
    responses={
        **problems(404),
        200: {
            "description": "The board.",
            "content": {media: {"schema": {"type": "string"}} for media in MEDIA_TYPES.values()},
        },
        304: {"description": "Unchanged."},
    },
)
def show_board(
    request: Request,
    name: Name,
    arena: Services,
    caller: Who,
    qrels: QrelsName = "",
    file_format: Annotated[RetrievalFormat, Query(alias="format")] = RetrievalFormat.JSON,
    system: Annotated[str, Query(max_length=100, description="Of the form `trec`: whose values.")] = "",
    *,
    by_question: Annotated[
        bool, Query(alias="questions", description="CSV and Parquet: a row a question and system.")
    ] = False,
) -> Response:
    """The board of the systems that submitted contexts to a set, or a file of it."""
    board = _board(arena, name, qrels, caller)
    if file_format is RetrievalFormat.JSON:
        return answer(request, RetrievalBoardFull.model_validate(board_json(board)))
    if file_format is RetrievalFormat.TREC:
        content = "".join(f"{line}\n" for line in trec_eval_lines(board.table, system)).encode()
    else:
        content = board_file(board, TableForm(file_format.value), by_question=by_question)
    filename = f"{stamp_of(board).stem}{f'-{system}' if system in board.entrants else ''}.{file_format}"
    return answer(request, content, media_type=MEDIA_TYPES[file_format], filename=filename)


@router.get("/sets/{name}/retrieval/compare", responses=problems(404), response_model=PairedList)
def compare(
    request: Request,
    name: Name,
    arena: Services,
    caller: Who,
    first: System,
    second: System,
    measure: MeasureName = "nDCG@10",
    qrels: QrelsName = "",
) -> Response:
    """How much higher one system scores than another on the same questions, by domain."""
    differences = _board(arena, name, qrels, caller).table.compared(measure, first, second)
    lines = [PairedLine.model_validate(row) for row in paired_json(differences)]
    return answer(request, PairedList(first=first, second=second, measure=measure, differences=lines))


@router.get(
    "/sets/{name}/retrieval/questions/{question_id}",
    responses=problems(403, 404),
    response_model=QuestionRankingsFull,
)
def show_question(
    request: Request,
    name: Name,
    question_id: str,
    arena: Services,
    caller: Who,
    depth: Annotated[int, Query(ge=1, le=1_000)] = 20,
    qrels: QrelsName = "",
) -> Response:
    """What systems retrieved for a question, and what they missed; passages of your own systems alone."""
    board = _board(arena, name, qrels, caller)
    shown = arena.ranked_questions.of(board, question_id, depth=depth, caller=caller)
    return answer(request, QuestionRankingsFull.model_validate(question_json(shown)))


def _board(arena: Services, name: str, qrels: str, caller: Caller) -> RetrievalBoard:
    return arena.retrieval_boards.board(name, qrels=qrels, caller=caller)
