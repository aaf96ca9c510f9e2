"""`/rounds`: what is judged, how far it is, and its battles."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from arena.api.caching import answer, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import (
    BattlePage,
    Cursor,
    Limit,
    Name,
    PlanRequest,
    Publication,
    PublicationRequest,
    RoundLine,
    RoundList,
    RoundPlan,
)
from arena.evidence_schemas import BattleLine
from arena.services.accounts.auth import require
from arena.services.people.carried_votes import source_of_request
from arena.services.rounds.models import RoundRequest
from data.records import RoundState, TokenScope
from leaderboard.standings.corrected import PEOPLE

router = APIRouter(tags=["rounds"])
ACCEPTED = 202


@router.get("/rounds", responses=problems(), response_model=RoundList)
def list_rounds(request: Request, arena: Services, caller: Who) -> Response:
    """Published rounds with their counts, the newest first; organisers get every round."""
    lines = [
        RoundLine.of_round(*arena.rounds.status(round_.name, caller=caller))
        for round_ in arena.rounds.rounds(caller=caller)
    ]
    return answer(request, RoundList(rounds=lines))


@router.post("/rounds/plan", responses=problems(403, 404, 413), response_model=RoundPlan)
def plan_round(wanted: PlanRequest, arena: Services, caller: Who) -> Response:
    """What a round would judge and cost, and what it lacks before it is launched. Nothing is stored."""
    request = RoundRequest(
        set_name=wanted.set_name,
        judge=wanted.judge,
        pairs=wanted.pairs,
        systems=tuple(wanted.systems),
        domains=tuple(wanted.domains),
        sample=wanted.sample,
        seed=wanted.seed,
        budget_usd=wanted.budget_usd,
        name=wanted.name,
    )
    return JSONResponse(arena.round_admin.estimate(request, caller=caller))


@router.get("/rounds/{name}", responses=problems(404, 410), response_model=RoundLine)
def show_round(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """A published round: its state, and how many of its battles ended how."""
    return answer(request, RoundLine.of_round(*arena.rounds.status(name, caller=caller)))


@router.get("/rounds/{name}/battles", responses=problems(404, 410), response_model=BattlePage)
def list_battles(
    request: Request, name: Name, arena: Services, caller: Who, limit: Limit = 100, after: Cursor = 0
) -> Response:
    """The battles of a published round, a page at a time."""
    battles = arena.battle_pages.page(name, after=after, limit=limit + 1, caller=caller)
    shown = battles[:limit]
    following = shown[-1].id if len(battles) > limit else None
    return answer(request, BattlePage(battles=[BattleLine.of(battle) for battle in shown], next=following))


@router.post(
    "/rounds/{name}/publish",
    response_model=Publication,
    responses={
        **problems(403, 404, 409, 413),
        202: {"model": Publication, "description": "A worker publishes it; `job` is its number."},
    },
)
def publish_round(name: Name, wanted: PublicationRequest, arena: Services, caller: Who) -> Response:
    """Publish a finished round by a worker; put votes of people on a published one, at once.

    Votes make another snapshot of a published board: the former one stays at NAME@HASH.
    """
    require(caller, TokenScope.ORGANISE)
    found = arena.rounds.get(name, caller=caller)
    sent = None if wanted.votes is None else [one.model_dump(exclude_none=True) for one in wanted.votes]
    with source_of_request(wanted.task, sent, wanted.vote_rule) as people:
        if found.state is not RoundState.PUBLISHED:
            job = arena.jobs.publish(
                name,
                metrics=wanted.metrics,
                partial=wanted.partial,
                calibration=wanted.calibration,
                people=people,
                caller=caller,
            )
            waiting = Publication(
                name=name, content_hash=None, created=False, job=job.id, votes=None, votes_left_out=None
            )
            return JSONResponse(waiting.model_dump(), ACCEPTED)
        board, created = arena.boards.publish(
            name, report=lambda _line: None, calibration=wanted.calibration, people=people, caller=caller
        )
    section = board.standings.get(PEOPLE) or {}
    done = Publication(
        name=board.name,
        content_hash=board.content_hash,
        created=created,
        job=None,
        votes=section.get("votes"),
        votes_left_out=section.get("votes_left_out"),
    )
    return JSONResponse(done.model_dump())
