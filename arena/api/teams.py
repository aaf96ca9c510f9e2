"""`/me`, `/teams` and `/tokens`: the caller, members and access tokens."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from arena.api.caching import answer, problems
from arena.api.dependencies import Services, Who
from arena.models.submissions import Identity
from arena.services.accounts.auth import require
from data.models import CreatedToken, Team, TeamWithMembers, Token, TokenScope

LABEL = r"^[^/\x00-\x1f\x7f]{1,100}$"
TeamName = Annotated[str, Path(pattern=LABEL, max_length=100, description="Name of the team.")]
TokenNumber = Annotated[int, Path(ge=1, le=2**31 - 1, description="Number of the token.")]


class Sent(BaseModel):
    """Request body; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class TeamList(BaseModel):
    """The teams of the caller; organisers see all."""

    teams: list[Team]


class TokenCreate(Sent):
    """Request for a new token."""

    name: str = Field(min_length=1, max_length=100, description="Purpose of the token.", examples=["CI"])
    scopes: list[TokenScope] = Field(
        min_length=1, description="Permissions of the token.", examples=[["read", "submit"]]
    )
    days: int | None = Field(None, ge=1, le=730, description="Days until it expires; null for never.")


class TokenList(BaseModel):
    """Tokens without their secrets."""

    tokens: list[Token]


router = APIRouter(tags=["teams"])


@router.get("/me", responses=problems(403), response_model=Identity)
def show_caller(request: Request, caller: Who) -> Response:
    """Show the account or team of the token, and its rights."""
    require(caller, TokenScope.READ)
    return answer(request, Identity.of(caller, teams=dict(caller.roles)))


@router.get("/teams", responses=problems(403), response_model=TeamList)
def list_teams(request: Request, arena: Services, caller: Who) -> Response:
    """Return your teams; organisers see all."""
    return answer(request, TeamList(teams=arena.teams.all(caller=caller)))


@router.get("/teams/{team}", responses=problems(403, 404), response_model=TeamWithMembers)
def show_team(request: Request, team: TeamName, arena: Services, caller: Who) -> Response:
    """Return one of your teams with its members."""
    return answer(request, arena.teams.view(team, caller=caller))


@router.get("/teams/{team}/tokens", responses=problems(403, 404), response_model=TokenList)
def list_tokens(request: Request, team: TeamName, arena: Services, caller: Who) -> Response:
    """Return the tokens of a team without secrets."""
    arena.teams.view(team, caller=caller)
    tokens = arena.tokens.all(team=team, caller=caller)
    return answer(request, TokenList(tokens=tokens))


@router.post("/teams/{team}/tokens", status_code=201, responses=problems(403, 404, 409))
def create_token(
    team: TeamName, body: TokenCreate, response: Response, arena: Services, caller: Who
) -> CreatedToken:
    """Create a token of a team, for owners; its secret is returned only here."""
    response.headers["Cache-Control"] = "no-store"
    return arena.tokens.create(name=body.name, scopes=body.scopes, days=body.days, team=team, caller=caller)


@router.delete("/tokens/{number}", responses=problems(403, 404, 409))
def revoke_token(number: TokenNumber, response: Response, arena: Services, caller: Who) -> Token:
    """Revoke a token and end its sessions."""
    response.headers["Cache-Control"] = "no-store"
    return arena.tokens.revoke(number, caller=caller)
