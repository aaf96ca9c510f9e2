"""`/leaderboards`: published boards and scores of answers."""

import tempfile
from pathlib import Path as FilePath
from typing import Annotated
from zlib import crc32

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from arena.api.caching import OK, answer, files, problems
from arena.api.dependencies import CheckQueue, Services, Who, client_of
from arena.api.sets_and_rounds import Name
from arena.models.results import ScoredMetric
from arena.services.metrics.results import ScoreRequest
from arena.services.submissions.uploads import party_of
from data.models import Board, BoardHead
from data.models.questions import NAME_PATTERN
from leaderboard.standings.grid import Grid
from leaderboard.vocabulary import BoardForm

router = APIRouter(tags=["leaderboards"])
GONE = 410
BoardName = Annotated[
    str,
    Path(
        pattern=rf"^{NAME_PATTERN.pattern}(@[0-9a-f]{{8,64}})?$",
        max_length=170,
        description="Name of the board; NAME@HASH is a snapshot, even a replaced one.",
        examples=["demo"],
    ),
]
MetricName = Annotated[
    str, Path(pattern=r"^[a-z0-9-]+$", max_length=60, description="The metric.", examples=["factuality-fr3"])
]
JudgeName = Annotated[
    str,
    Query(
        max_length=120,
        description="Source of the scores: `embedded`, or their stored name or its prefix. "
        "Empty: embedded scores, else the only ones.",
    ),
]
SystemNames = Annotated[
    str, Query(max_length=2_000, description="Comma-separated names; empty: all but the reference.")
]


class BoardList(BaseModel):
    """Published boards, newest first."""

    leaderboards: tuple[BoardHead, ...]


class ScoredList(BaseModel):
    """Metrics of the visible scores of a set."""

    metrics: list[ScoredMetric]


@router.get("/leaderboards", responses=problems(), response_model=BoardList)
def list_boards(request: Request, arena: Services) -> Response:
    """Return the published boards, newest first."""
    return answer(request, BoardList(leaderboards=arena.boards.heads()))


@router.get(
    "/leaderboards/{name}",
    response_model=Board,
    responses={
        **problems(404),
        **files("The board.", *(form.media_type for form in BoardForm if form is not BoardForm.JSON)),
        410: {"model": Board, "description": "Retracted: the notice without standings."},
    },
)
def show_board(
    request: Request,
    name: BoardName,
    arena: Services,
    caller: Who,
    file_format: Annotated[BoardForm | None, Query(alias="format", description="Overrides `Accept`.")] = None,
) -> Response:
    """Return a board; a table has a row per system and domain. Retracted boards return 410."""
    board = arena.boards.get(name, caller=caller)
    form = file_format or _preferred(request.headers.get("accept", ""))
    content: bytes | Board
    if form is BoardForm.JSON:
        content, filename = board, ""
    else:
        file = arena.boards.file(name, form, caller=caller)
        content, filename = file.content, file.name
    # The content hash covers only the standings, so the tag adds the rest of the state.
    state = f"{board.notice}{dict(board.marks)}{board.retracted}{bool(board.standings)}{board.replaced_at}"
    tag = f"{board.content_hash[:32]}-{form}-{crc32(state.encode()):08x}"
    status = GONE if board.retracted and not board.standings else OK
    return answer(request, content, media_type=form.media_type, tag=tag, filename=filename, status=status)


@router.get(
    "/leaderboards/{name}/grid",
    response_model=Grid,
    responses={
        **problems(404),
        **files(
            "One row per figure.", *(form.media_type for form in BoardForm if form is not BoardForm.JSON)
        ),
    },
)
def show_grid(
    request: Request,
    name: BoardName,
    arena: Services,
    caller: Who,
    form: Annotated[BoardForm, Query(alias="format", description="Format of the file.")] = BoardForm.JSON,
) -> Response:
    """Return each system in each domain: win rates, scores, and their correlation."""
    if form is BoardForm.JSON:
        return answer(request, arena.boards.grid(name, caller=caller))
    file = arena.boards.grid_file(name, form, caller=caller)
    return answer(request, file.content, media_type=file.media_type, filename=file.name)


def _preferred(accept: str) -> BoardForm:
    accepted = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    forms = {form.media_type: form for form in BoardForm}
    return next((forms[media] for media in accepted if media in forms), BoardForm.JSON)


@router.get("/sets/{name}/metrics", responses=problems(404), response_model=ScoredList)
def list_metrics(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """Return the metrics of a set's scores, for published systems and your own."""
    scored = arena.score_tables.scored(name, caller=caller)
    lines = [{"metric": metric, "judges": judges} for metric, judges in scored.items()]
    return answer(request, ScoredList(metrics=lines))


@router.get(
    "/sets/{name}/metrics/{metric}/scores",
    responses={**problems(404), **files("One row per answer.", *(form.media_type for form in BoardForm))},
    response_class=Response,
)
async def export_scores(
    request: Request,
    name: Name,
    metric: MetricName,
    arena: Services,
    caller: Who,
    queue: CheckQueue,
    form: Annotated[BoardForm, Query(alias="format", description="Format of the file.")] = BoardForm.JSON,
    judge: JudgeName = "",
    systems: SystemNames = "",
) -> Response:
    """Return a row per answer with measures and posteriors of claims; JSON has details too."""
    names = tuple(system.strip() for system in systems.split(",") if system.strip())
    score_request = ScoreRequest(set_name=name, metric=metric, judge=judge, systems=names)

    def scores() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = FilePath(folder) / f"scores.{form}"
            arena.score_tables.export(score_request, path, caller=caller)
            return path.read_bytes()

    content = await run_in_threadpool(queue.run, party_of(caller, client_of(request)), scores)
    return answer(request, content, media_type=form.media_type, filename=f"{name}-{metric}.{form}")
