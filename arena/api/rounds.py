"""`/rounds`: what is judged, how far it is, its battles, and what published figures depend on."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from arena.api.caching import answer, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import (
    NAME,
    BattlePage,
    Cursor,
    Limit,
    Name,
    PlanRequest,
    Publication,
    PublicationRequest,
    RoundList,
    RoundPlan,
)
from arena.models.results import (
    Comparison,
    QuestionEvidence,
    Round,
    RoundQuestionPage,
)
from arena.services.accounts.auth import require
from arena.services.evidence.question_lists import Order, QuestionFilter
from arena.services.people.carried_votes import source_of_request
from arena.services.rounds.models import RoundRequest
from data.records import Outcome, RoundState, TokenScope
from leaderboard.standings.corrected import PEOPLE

router = APIRouter(tags=["rounds"])
ACCEPTED = 202
QuestionId = Annotated[str, Path(max_length=200, description="Id of the question in its set.")]
System = Annotated[str, Query(max_length=100, description="Name of a system of the round.")]
Domain = Annotated[str | None, Query(pattern=NAME, max_length=100, description="Of this domain only.")]
Words = Annotated[
    str, Query(max_length=200, description="Each must be part of the question or its id, in any case.")
]

Winner = Annotated[
    str | None, Query(max_length=100, description="That this system alone won: the largest share of the win.")
]
Sort = Annotated[Order, Query(description="What comes first; `set` is the set's order.")]


@router.get("/rounds", responses=problems(), response_model=RoundList)
def list_rounds(request: Request, arena: Services, caller: Who) -> Response:
    """Published rounds with their counts, the newest first; organisers get every round."""
    lines = [
        Round.of(*arena.rounds.status(round_.name, caller=caller))
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


@router.get("/rounds/{name}", responses=problems(404, 410), response_model=Round)
def show_round(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """A published round: its state, and how many of its battles ended how."""
    return answer(request, Round.of(*arena.rounds.status(name, caller=caller)))


@router.get("/rounds/{name}/battles", responses=problems(404, 410), response_model=BattlePage)
def list_battles(
    request: Request,
    name: Name,
    arena: Services,
    caller: Who,
    outcome: Annotated[Outcome | None, Query(description="Those that ended so alone.")] = None,
    limit: Limit = 100,
    after: Cursor = 0,
) -> Response:
    """The battles of a published round, a page at a time."""
    battles = arena.battle_pages.page(name, after=after, limit=limit + 1, outcome=outcome, caller=caller)
    shown = battles[:limit]
    following = shown[-1].id if len(battles) > limit else None
    return answer(request, BattlePage(battles=shown, next=following))


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
    with source_of_request(sent, wanted.vote_rule) as people:
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


@router.get("/rounds/{name}/questions", responses=problems(404, 410), response_model=RoundQuestionPage)
def search_questions(
    request: Request,
    name: Name,
    arena: Services,
    caller: Who,
    words: Words = "",
    domain: Domain = None,
    winner: Winner = None,
    sort: Sort = Order.SET,
    limit: Limit = 100,
    after: Cursor = 0,
) -> Response:
    """The questions of a published round that have some words, with how their battles ended, in pages."""
    wanted = QuestionFilter(domain=domain, words=words, winner=winner)
    page = arena.question_lists.page(name, wanted, sort, after=after, limit=limit, caller=caller)
    return answer(request, page)


@router.get(
    "/rounds/{name}/questions/{question_id}", responses=problems(404, 410), response_model=QuestionEvidence
)
def show_evidence(
    request: Request, name: Name, question_id: QuestionId, arena: Services, caller: Who
) -> Response:
    """A question of a published round: its answers with their scores, its battles with every judgment."""
    return answer(request, arena.evidence.of_round(name, caller=caller).evidence(question_id))


@router.get("/rounds/{name}/compare", responses=problems(404, 410), response_model=Comparison)
def compare(
    request: Request, name: Name, arena: Services, caller: Who, first: System, second: System
) -> Response:
    """How much more of the win one system takes than another on the same questions, by domain."""
    compared = arena.comparisons.of(name, (first, second), caller=caller)
    return answer(request, compared.between(name))
