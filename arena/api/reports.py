"""`/submissions/{number}/report`: what a team should improve, as JSON or as one HTML page."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from arena.api.caching import JSON, answer, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import NAME
from arena.api.submissions import Number
from arena.services.evidence.team_report_files import report_html, report_json

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
