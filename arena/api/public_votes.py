"""`/sets/{name}/votes`: public blind votes on a set; visitors give them on the site's page."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from arena.api.caching import NDJSON, answer, files, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import Name

router = APIRouter(tags=["votes"])
NOT_KEPT = {"Cache-Control": "no-store"}


class PollState(BaseModel):
    """Whether visitors vote on a set."""

    open: bool = Field(description="Whether votes are taken.")


class VoteBoardFull(PollState):
    """The board of a set's public votes; no judge has a part in it."""

    set: str
    given: int = Field(description="Votes in all.")
    counted: int = Field(description="Those that count.")
    visitors: int = Field(description="Visitors with a vote that counts.")
    rejected: dict[str, int] = Field(description="Votes that were too quick, or on texts that leak names.")
    gold: int = Field(description="Votes on gold pairs, which never count.")
    untried: int = Field(description="Votes of visitors who did not pass their gold pairs.")
    over_cap: int = Field(description="Votes beyond what one network or visitor may weigh.")
    cap: int = Field(description="How many votes of one network, and of one visitor, count.")
    ratings: list[dict[str, Any]] = Field(description="As of `arena battles rate`.")
    unrankable: str = Field(description="Why there are no ratings; empty where there are.")


@router.get("/sets/{name}/votes", responses=problems(404), response_model=VoteBoardFull)
def show_votes(request: Request, name: Name, arena: Services) -> Response:
    """The board of a set's public votes, with what counts of them and what does not."""
    return answer(request, VoteBoardFull.model_validate(arena.public_votes.board(name).as_json()))


@router.put("/sets/{name}/votes", responses=problems(403, 404, 409))
def change_votes(name: Name, wanted: PollState, arena: Services, caller: Who) -> PollState:
    """Let visitors vote on a set, or take no more votes."""
    change = arena.public_votes.open if wanted.open else arena.public_votes.close
    return PollState(open=change(name, caller=caller).open)


@router.get(
    "/sets/{name}/votes/file",
    response_class=Response,
    responses={**problems(403, 404), **files("A votes file, JSON Lines.", NDJSON)},
)
def export_votes(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """The votes that count as a votes file, for organisers; annotators are pseudonyms."""
    content = arena.public_votes.export(name, caller=caller).encode()
    return answer(
        request, content, media_type=NDJSON, filename=f"{name}-public-votes.jsonl", headers=NOT_KEPT
    )
