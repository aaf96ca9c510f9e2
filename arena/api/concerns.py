"""`/concerns` and `/disputes`: what needs an organiser, and judgments that somebody disputes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field

from arena.api.caching import answer, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import Name
from arena.api.teams import Sent
from arena.models.concerns import Concern, ConcernList
from arena.services.concerns.service import LONGEST_REASON, Complaint
from data.records import Preference, Presentation
from data.records.concerns import Decision

router = APIRouter(tags=["concerns"])
Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="Number of the concern.")]


class NewDispute(Sent):
    """Which judgment is wrong, and why."""

    question_id: str = Field(max_length=200)
    battle: str = Field(max_length=400, description="The `key` of the battle.")
    judge: str = Field(max_length=100)
    presentation: Presentation
    reason: str = Field(max_length=LONGEST_REASON)


class DecisionMade(Sent):
    """What an organiser decides."""

    decision: Decision
    reason: str = Field("", max_length=LONGEST_REASON)
    verdict: Preference | None = Field(None, description="With `corrected`: the verdict from now on.")


@router.get("/concerns", responses=problems(403), response_model=ConcernList)
def list_concerns(request: Request, arena: Services, caller: Who) -> Response:
    """What waits for a decision of the organisers, the oldest first."""
    return _listed(request, arena.concerns.waiting(caller=caller))


@router.post("/concerns/{number}/decision", responses=problems(403, 404, 409), response_model=Concern)
def decide_concern(
    request: Request, number: Number, body: DecisionMade, arena: Services, caller: Who
) -> Response:
    """Decide a concern that waits, once."""
    decided = arena.concerns.decide(
        number, body.decision, reason=body.reason, verdict=body.verdict, caller=caller
    )
    return answer(request, Concern.of(decided))


@router.get("/disputes", responses=problems(), response_model=ConcernList)
def list_disputes(request: Request, arena: Services, caller: Who) -> Response:
    """The judgments that you disputed, with what became of them, the newest first."""
    return _listed(request, arena.concerns.mine(caller=caller))


@router.post("/rounds/{name}/disputes", responses=problems(404, 409, 410), response_model=Concern)
def dispute_judgment(
    request: Request, name: Name, body: NewDispute, arena: Services, caller: Who
) -> Response:
    """Dispute a judgment of a published round; the same again changes nothing."""
    client = request.client.host if request.client else ""
    complaint = Complaint(
        round_name=name,
        question_id=body.question_id,
        battle=body.battle,
        judge=body.judge,
        presentation=body.presentation,
        reason=body.reason,
        session=client,
    )
    return answer(request, Concern.of(arena.concerns.dispute(complaint, caller=caller)))


def _listed(request: Request, concerns: tuple[object, ...]) -> Response:
    return answer(request, ConcernList(concerns=tuple(map(Concern.of, concerns))))
