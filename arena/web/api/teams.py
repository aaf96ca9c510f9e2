"""`/me`, `/teams`, `/tokens`: who asks, members, and access tokens."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from arena.services.identity import require
from arena.web.api.answers import answer, problems
from arena.web.api.context import Services, Who
from arena.web.api.models import Limit
from arena.web.api.team_models import (
    AccountName,
    CallerLine,
    LogLine,
    LogPage,
    MemberLine,
    RoleChoice,
    TeamFull,
    TeamLine,
    TeamList,
    TeamName,
    TokenLine,
    TokenList,
    TokenNumber,
    TokenSecret,
    TokenWish,
)
from data.records import TokenScope

router = APIRouter(tags=["teams"])
NEWEST = 2**53
Before = Annotated[int, Query(ge=1, le=NEWEST, description="`next` of the page before.")]


@router.get("/me", responses=problems(403), response_model=CallerLine)
def show_caller(request: Request, caller: Who) -> Response:
    """Who the token stands for, and what it may do."""
    require(caller, TokenScope.READ)
    return answer(request, CallerLine.of(caller))


@router.get("/teams", responses=problems(403), response_model=TeamList)
def list_teams(request: Request, arena: Services, caller: Who) -> Response:
    """Your teams; organisers see all."""
    return answer(request, TeamList(teams=[TeamLine.of(one) for one in arena.teams.all(caller=caller)]))


@router.get("/teams/{team}", responses=problems(403, 404), response_model=TeamFull)
def show_team(request: Request, team: TeamName, arena: Services, caller: Who) -> Response:
    """A team of yours with its members."""
    return answer(request, TeamFull.of_view(arena.teams.view(team, caller=caller)))


@router.put("/teams/{team}/members/{account}", responses=problems(403, 404, 409))
def put_member(
    team: TeamName, account: AccountName, choice: RoleChoice, arena: Services, caller: Who
) -> MemberLine:
    """Put an account into a team, or give it another role there; for owners."""
    return MemberLine.of(arena.teams.add_member(team, account, role=choice.role, caller=caller))


@router.delete(
    "/teams/{team}/members/{account}",
    status_code=204,
    responses=problems(403, 404, 409),
    response_class=Response,
)
def delete_member(team: TeamName, account: AccountName, arena: Services, caller: Who) -> Response:
    """Take an account out of a team; for owners."""
    arena.teams.remove_member(team, account, caller=caller)
    return Response(status_code=204)


@router.get("/teams/{team}/tokens", responses=problems(403, 404), response_model=TokenList)
def list_tokens(request: Request, team: TeamName, arena: Services, caller: Who) -> Response:
    """The tokens of a team, without their secrets."""
    arena.teams.view(team, caller=caller)
    found = arena.tokens.all(team=team, caller=caller)
    return answer(request, TokenList(tokens=[TokenLine.of(one) for one in found]))


@router.post("/teams/{team}/tokens", status_code=201, responses=problems(403, 404, 409))
def create_token(
    team: TeamName, wish: TokenWish, response: Response, arena: Services, caller: Who
) -> TokenSecret:
    """Make a token of a team; its text is in this answer and nowhere else. For owners."""
    made = arena.tokens.create(name=wish.name, scopes=wish.scopes, days=wish.days, team=team, caller=caller)
    response.headers["Cache-Control"] = "no-store"
    return TokenSecret.of_new(made)


@router.delete("/tokens/{number}", responses=problems(403, 404, 409))
def revoke_token(number: TokenNumber, response: Response, arena: Services, caller: Who) -> TokenLine:
    """Make a token useless at once, and end the sessions that it opened."""
    response.headers["Cache-Control"] = "no-store"
    return TokenLine.of(arena.tokens.revoke(number, caller=caller))


@router.get("/teams/{team}/log", responses=problems(403, 404), response_model=LogPage)
def list_log(
    request: Request,
    team: TeamName,
    arena: Services,
    caller: Who,
    limit: Limit = 100,
    before: Before = NEWEST,
) -> Response:
    """What was done in a team and by whom, the newest first."""
    found = arena.teams.audit(team=team, before=before, limit=limit + 1, caller=caller)
    shown = found[:limit]
    following = shown[-1].id if len(found) > limit else None
    return answer(request, LogPage(log=[LogLine.of(one) for one in shown], next=following))
