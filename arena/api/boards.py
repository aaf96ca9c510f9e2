"""`/leaderboards`: published boards as JSON, CSV or Parquet."""

from __future__ import annotations

import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from zlib import crc32

from fastapi import APIRouter, Query, Request, Response

from arena.api.caching import OK, answer, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import BoardFull, BoardLine, BoardList, BoardName
from arena.services.accounts.auth import Caller
from data.records import Board

router = APIRouter(tags=["leaderboards"])
GONE = 410


class BoardFormat(StrEnum):
    """How a board is written."""

    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


MEDIA_TYPES = {
    BoardFormat.JSON: "application/json",
    BoardFormat.CSV: "text/csv",
    BoardFormat.PARQUET: "application/vnd.apache.parquet",
}


@router.get("/leaderboards", responses=problems(), response_model=BoardList)
def list_boards(request: Request, arena: Services) -> Response:
    """The published boards, the newest first."""
    return answer(request, BoardList(leaderboards=[BoardLine.of(board) for board in arena.boards.heads()]))


@router.get(
    "/leaderboards/{name}",
    response_model=BoardFull,
    responses={
        **problems(404),
        410: {"model": BoardFull, "description": "It was retracted: its notice, without standings."},
        200: {
            "description": "The board.",
            "content": {
                MEDIA_TYPES[BoardFormat.CSV]: {"schema": {"type": "string"}},
                MEDIA_TYPES[BoardFormat.PARQUET]: {"schema": {"type": "string", "format": "binary"}},
            },
        },
        304: {"description": "Unchanged."},
    },
)
def show_board(
    request: Request,
    name: BoardName,
    arena: Services,
    caller: Who,
    file_format: Annotated[
        BoardFormat | None, Query(alias="format", description="Wins over `Accept`.")
    ] = None,
) -> Response:
    """One board; as a table, a line for each system in each domain. Of a retracted one the notice, as 410."""
    board = arena.boards.get(name, caller=caller)
    chosen = file_format or _preferred(request.headers.get("accept", ""))
    content: bytes | BoardFull
    if chosen is BoardFormat.JSON:
        content = BoardFull(**BoardLine.of(board).model_dump(), standings=dict(board.standings))
        filename = ""
    else:
        content = _exported(arena, board, chosen, caller)
        filename = f"{name}-{board.content_hash[:8]}.{chosen}"
    # A retracted board has the same standings, and any board may get another notice.
    state = f"retracted{'' if board.standings else '-empty'}" if board.retracted else ""
    state += "-replaced" if board.replaced_at is not None else ""
    notice_tag = f"-{crc32(board.notice.encode()):08x}" if board.notice else ""
    tag = f"{board.content_hash[:32]}-{chosen}{state}{notice_tag}"
    status = GONE if board.retracted and not board.standings else OK
    return answer(request, content, media_type=MEDIA_TYPES[chosen], tag=tag, filename=filename, status=status)


@router.get("/leaderboards/{name}/snapshots", responses=problems(404), response_model=BoardList)
def list_snapshots(request: Request, name: BoardName, arena: Services) -> Response:
    """Every snapshot of a board that stands, the one under its name first; each is at NAME@HASH for good."""
    boards = arena.boards.snapshots(name)
    return answer(request, BoardList(leaderboards=[BoardLine.of(board) for board in boards]))


def _preferred(accept: str) -> BoardFormat:
    """The first format that the reader names; JSON where it names none of ours."""
    asked = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    formats = {media: board_format for board_format, media in MEDIA_TYPES.items()}
    return next((formats[media] for media in asked if media in formats), BoardFormat.JSON)


def _exported(arena: Services, board: Board, chosen: BoardFormat, caller: Caller) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"board.{chosen}"
        arena.boards.export_board(board.name, path, caller=caller)
        return path.read_bytes()
