"""`/registrations`: applications for teams, for whoever has no token yet."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from arena.api.caching import problems
from arena.api.dependencies import Services, client_of
from arena.api.teams import Sent, TokenSecret
from arena.services.accounts.registration import RegistrationRequest
from data.records.applications import ApplicationState

router = APIRouter(tags=["teams"])


class Registration(Sent):
    """An application for a team; every field is one line of text."""

    team: str = Field(max_length=40, description="Its name: a-z, 0-9, `-`, `.`, `_`.", examples=["our-team"])
    title: str = Field(max_length=200, description="What readers see.", examples=["Our team"])
    contact: str = Field(max_length=200, description="How organisers reach you; never public.")
    reason: str = Field(max_length=1_000, description="Why you would like to take part, in a sentence.")
    mail: str = Field(max_length=254, description="Where a link is sent; never shown to other teams.")


class Code(Sent):
    """What stands in a mailed link."""

    code: str = Field(min_length=1, max_length=200, description="The code behind `code=`.")


class RegistrationState(BaseModel):
    """How far an application is."""

    state: ApplicationState


@router.post("/registrations", status_code=202, responses=problems(409))
def register(body: Registration, request: Request, response: Response, arena: Services) -> RegistrationState:
    """Apply for a team by mail, where this arena allows it; the answer is the same for every mail address."""
    response.headers["Cache-Control"] = "no-store"
    wanted = RegistrationRequest(**body.model_dump())
    return RegistrationState(state=arena.registration.apply(wanted, client=client_of(request)))


@router.post("/registrations/confirm", responses=problems(404, 409))
def confirm_registration(body: Code, response: Response, arena: Services) -> RegistrationState:
    """Confirm an application by the code of the mailed link; organisers then decide."""
    response.headers["Cache-Control"] = "no-store"
    return RegistrationState(state=arena.registration.confirm(body.code).state)


@router.post("/registrations/token", status_code=201, responses=problems(404))
def fetch_first_token(body: Code, response: Response, arena: Services) -> TokenSecret:
    """The first token of an approved team's owner, once, by the code of the mailed link."""
    response.headers["Cache-Control"] = "no-store"
    created = arena.registration.claim(body.code)
    return TokenSecret.of(created.token, token=created.secret)
