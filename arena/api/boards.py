"""`/leaderboards`: published boards as JSON, and in every other form that they leave the arena in."""

from __future__ import annotations

from typing import Annotated
from zlib import crc32

from fastapi import APIRouter, Query, Request, Response

from arena.api.caching import OK, answer, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import BoardList, BoardName
from arena.models.results import Board, BoardHead
from data.store.boards.boards import BoardHead as StoredHead
from leaderboard.vocabulary import BoardForm

router = APIRouter(tags=["leaderboards"])
GONE = 410


@router.get("/leaderboards", responses=problems(), response_model=BoardList)
def list_boards(request: Request, arena: Services) -> Response:
    """The published boards, the newest first."""
    return answer(request, BoardList(leaderboards=[head_of(board) for board in arena.boards.heads()]))


@router.get(
    "/leaderboards/{name}",
    response_model=Board,
    responses={
        **problems(404),
        410: {"model": Board, "description": "It was retracted: its notice, without standings."},
        200: {
            "description": "The board.",
            "content": {
                form.media_type: {
                    "schema": {"type": "string", "format": "binary"}
                    if form is BoardForm.PARQUET
                    else {"type": "string"}
                }
                for form in BoardForm
                if form is not BoardForm.JSON
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
    file_format: Annotated[BoardForm | None, Query(alias="format", description="Wins over `Accept`.")] = None,
) -> Response:
    """One board; as a table, a line for each system in each domain. Of a retracted one the notice, as 410."""
    board = arena.boards.get(name, caller=caller)
    chosen = file_format or _preferred(request.headers.get("accept", ""))
    content: bytes | Board
    if chosen is BoardForm.JSON:
        content = Board.of(board, title=board.standings.get("title") or board.name)
        filename = ""
    else:
        file = arena.board_files.content(name, chosen, caller=caller)
        content, filename = file.content, file.name
    # A retracted board has the same standings, and any board may get another notice or mark.
    state = f"retracted{'' if board.standings else '-empty'}" if board.retracted else ""
    state += "-replaced" if board.replaced_at is not None else ""
    said = f"{board.notice}{dict(board.marks) or ''}"
    notice_tag = f"-{crc32(said.encode()):08x}" if said else ""
    tag = f"{board.content_hash[:32]}-{chosen}{state}{notice_tag}"
    status = GONE if board.retracted and not board.standings else OK
    return answer(request, content, media_type=chosen.media_type, tag=tag, filename=filename, status=status)


@router.get("/leaderboards/{name}/snapshots", responses=problems(404, 410), response_model=BoardList)
def list_snapshots(request: Request, name: BoardName, arena: Services) -> Response:
    """Every snapshot of a board that stands, the one under its name first; each is at NAME@HASH for good."""
    boards = arena.boards.snapshots(name)
    return answer(request, BoardList(leaderboards=[head_of(board) for board in boards]))


def head_of(head: StoredHead) -> BoardHead:
    """A board without its standings."""
    return BoardHead.of(head, title=head.title or head.name)


def _preferred(accept: str) -> BoardForm:
    """The first form that the reader names; JSON where it names none of ours."""
    asked = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    forms = {form.media_type: form for form in BoardForm}
    return next((forms[media] for media in asked if media in forms), BoardForm.JSON)
