"""`/sets/{name}/retrieval`: boards of contexts without answers, and the relevance judgments of sets."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from arena.api.caching import answer, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import NAME, Name
from arena.models import retrieval as shapes
from arena.models.retrieval import Qrels, QuestionRankings, RetrievalDifference
from arena.services.accounts.auth import Caller
from arena.services.retrieval_boards.service import RetrievalBoard
from arena.services.retrieval_boards.tables import board_file, board_json, stamp_of
from data.system_names import file_name_of
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


class QrelsList(BaseModel):
    """The judgments of a set, those first that boards use where none is named."""

    qrels: list[Qrels]


class PairedList(BaseModel):
    """Two systems, overall and by domain."""

    first: str
    second: str
    measure: str
    differences: list[RetrievalDifference]


@router.get("/sets/{name}/qrels", responses=problems(404), response_model=QrelsList)
def list_qrels(request: Request, name: Name, arena: Services) -> Response:
    """The relevance judgments of a set: what they hold, not what they say."""
    return answer(request, QrelsList(qrels=arena.set_qrels.list(name)))


@router.get(
    "/sets/{name}/retrieval",
    response_model=shapes.RetrievalBoard,
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
        return answer(request, board_json(board))
    if file_format is RetrievalFormat.TREC:
        content = "".join(f"{line}\n" for line in trec_eval_lines(board.table, system)).encode()
    else:
        content = board_file(board, TableForm(file_format.value), by_question=by_question)
    of = f"-{file_name_of(system)}" if system in board.entrants else ""
    filename = f"{stamp_of(board).stem}{of}.{file_format}"
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
    found = PairedList(first=first, second=second, measure=measure, differences=differences)
    return answer(request, found)


@router.get(
    "/sets/{name}/retrieval/questions/{question_id}",
    responses=problems(403, 404),
    response_model=QuestionRankings,
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
    return answer(request, arena.ranked_questions.of(board, question_id, depth=depth, caller=caller))


def _board(arena: Services, name: str, qrels: str, caller: Caller) -> RetrievalBoard:
    return arena.retrieval_boards.board(name, qrels=qrels, caller=caller)
