"""Reports and comparisons of versions (`/submissions/{number}/…`), and gates (`/gates`)."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field

from arena.api.caching import FRESH, JSON, answer, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import NAME
from arena.api.submissions import Number
from arena.api.teams import Sent
from arena.services.evidence.team_report_files import report_html, report_json
from arena.services.gates.model import GateRequest
from arena.services.gates.queue import GateStatus

router = APIRouter(tags=["submissions"])
HTML = "text/html"
RoundName = Annotated[
    str | None,
    Query(alias="round", pattern=NAME, max_length=100, description="The round; else the newest judged one."),
]


class ReportForm(StrEnum):
    """How a report is written."""

    JSON = "json"
    HTML = "html"


@router.get(
    "/submissions/{number}/report",
    response_model=dict[str, Any],
    responses={
        **problems(403, 404, 409, 410),
        200: {"description": "The report.", "content": {HTML: {"schema": {"type": "string"}}}},
        304: {"description": "Unchanged."},
    },
)
def show_report(
    request: Request,
    number: Number,
    arena: Services,
    caller: Who,
    round_name: RoundName = None,
    form: Annotated[ReportForm | None, Query(alias="format", description="Wins over `Accept`.")] = None,
) -> Response:
    """Where a judged submission of yours loses, what it misses, and what to read first."""
    report = arena.reports.of(number, round_name=round_name, caller=caller)
    if (form or _preferred(request)) is ReportForm.HTML:
        return answer(request, report_html(report).encode(), media_type=HTML)
    content = json.dumps(report_json(report), ensure_ascii=False).encode()
    return answer(request, content, media_type=JSON)


def _preferred(request: Request) -> ReportForm:
    asked = [part.partition(";")[0].strip() for part in request.headers.get("accept", "").split(",")]
    first = next((media for media in asked if media in {HTML, JSON}), JSON)
    return ReportForm.HTML if first == HTML else ReportForm.JSON


Against = Annotated[
    str,
    Query(
        pattern="^(last|(id:)?[1-9][0-9]{0,8})$",
        description="The earlier version: `last`, its number, or `id:` and the number of its submission.",
    ),
]


@router.get(
    "/submissions/{number}/comparison",
    response_model=dict[str, Any],
    responses={**problems(403, 404, 409, 410), 304: {"description": "Unchanged."}},
)
def compare_versions(
    request: Request,
    number: Number,
    arena: Services,
    caller: Who,
    against: Against = "last",
    round_name: RoundName = None,
) -> Response:
    """What changed from an earlier version of the system: questions won and lost, with intervals."""
    change = arena.versions.of_submission(number, against=against, round_name=round_name, caller=caller)
    return answer(request, json.dumps(change.as_json(), ensure_ascii=False).encode(), media_type=JSON)


ACCEPTED = 202
GateNumber = Annotated[int, Path(ge=1, le=2**31 - 1, description="Number of the gate.")]


class GateCreate(Sent):
    """What is to be held against what."""

    submission: int = Field(ge=1, le=2**31 - 1, description="The new version; one sent with `hold` will do.")
    max_loss: float = Field(ge=0, le=100, description="Percentage points of win + tie that may be lost.")
    against: str = Field(
        "last",
        pattern="^(last|(id:)?[1-9][0-9]{0,8})$",
        description="`last`, the number of a version, or `id:` and the number of a submission.",
    )
    judge: str | None = Field(None, pattern=NAME, max_length=100, description="null: as the set says.")
    budget_usd: float | None = Field(
        None, ge=0, le=1e9, description="null: as the set says; never more than that."
    )
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Seed of the order of questions.")


class Gate(BaseModel):
    """A gate."""

    id: int
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    position: int | None = Field(description="Its place in the queue; null where it does not wait.")
    error: str = Field(description="Why it failed, else empty.")
    result: dict[str, Any] | None = Field(
        description="What `arena submissions gate --json` prints; null before its end."
    )

    @classmethod
    def of(cls, status: GateStatus) -> Gate:
        """The same of the service."""
        return cls(**asdict(status))


@router.post("/gates", status_code=ACCEPTED, responses=problems(403, 404, 409), response_model=Gate)
def start_gate(body: GateCreate, arena: Services, caller: Who) -> Response:
    """Let a worker judge whether a new version is worse than an old one; within the rule of its set.

    Members of the team that submitted it may, where the organisers of the set allow gates.
    """
    status = arena.gate_queue.put(GateRequest(**body.model_dump()), caller=caller)
    headers = {**FRESH, "Location": f"/api/v1/gates/{status.id}"}
    return Response(Gate.of(status).model_dump_json(), ACCEPTED, headers, media_type=JSON)


@router.get("/gates/{number}", responses=problems(404), response_model=Gate)
def show_gate(request: Request, number: GateNumber, arena: Services, caller: Who) -> Response:
    """A gate of your team: its state, and in the end what it says."""
    return answer(request, Gate.of(arena.gate_queue.get(number, caller=caller)))
