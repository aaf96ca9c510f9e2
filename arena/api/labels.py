"""`/rounds/{name}/labels`: the labels of people, for organisers."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from arena.api.caching import JSON, answer, files, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import Name
from arena.services.labels import file_of

router = APIRouter(tags=["labels"])


@router.get(
    "/rounds/{name}/labels",
    response_class=Response,
    responses={**problems(403, 404), **files("The labels.", JSON, "text/csv")},
)
def export_labels(request: Request, name: Name, arena: Services, caller: Who, csv: bool = False) -> Response:
    """The labels of a round with person, side shown first and time, as JSON or CSV."""
    content = file_of(arena.labels.export(name, caller=caller), as_csv=csv).encode()
    return answer(request, content, media_type="text/csv" if csv else JSON)
