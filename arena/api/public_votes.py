"""`/sets/{name}/votes`: public blind votes on a set; visitors give them on the site's page."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from arena.api.caching import NDJSON, answer, files, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import Name
from arena.models.sets import Poll, VoteBoard

router = APIRouter(tags=["votes"])
NO_STORE = {"Cache-Control": "no-store"}


@router.get("/sets/{name}/votes", responses=problems(404), response_model=VoteBoard)
def show_votes(request: Request, name: Name, arena: Services) -> Response:
    """The board of a set's public votes, with what counts of them and what does not."""
    return answer(request, arena.public_votes.board(name))


@router.put("/sets/{name}/votes", responses=problems(403, 404, 409))
def change_votes(name: Name, wanted: Poll, arena: Services, caller: Who) -> Poll:
    """Let visitors vote on a set, or take no more votes."""
    change = arena.public_votes.open if wanted.open else arena.public_votes.close
    return Poll(open=change(name, caller=caller).open)


@router.get(
    "/sets/{name}/votes/file",
    response_class=Response,
    responses={**problems(403, 404), **files("A votes file, JSON Lines.", NDJSON)},
)
def export_votes(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """The votes that count as a votes file, for organisers; annotators are pseudonyms."""
    content = arena.public_votes.export(name, caller=caller).encode()
    return answer(
        request, content, media_type=NDJSON, filename=f"{name}-public-votes.jsonl", headers=NO_STORE
    )
