"""`/labels` for organisers: open and close tasks, watch quality, adjudicate, exclude, files in and out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from arena.api.caching import answer, files, problems
from arena.api.dependencies import Services, Who, confirmed
from arena.api.schemas import Confirm, Name
from arena.api.teams import LABEL, Sent
from arena.label_schemas import DisputedLine, QualityLine, TaskLine
from arena.services.annotation.files.model import LabelFormat
from arena.services.annotation.requests import TaskRequest
from data.records import LARGEST_GRADE
from data.records.irreversible import Irreversible

router = APIRouter(tags=["labels"])
Item = Annotated[int, Path(ge=1, le=2**31 - 1, description="Number of the item.")]
Person = Annotated[str, Path(pattern=LABEL, max_length=100, description="Name of the person.")]
Form = Annotated[LabelFormat, Query(alias="format", description="Format of the file.")]


class DisputedList(BaseModel):
    """What waits for an adjudicator."""

    disputed: list[DisputedLine]


class Decision(Sent):
    """What an adjudicator says of an item."""

    value: int | None = Field(
        ge=-LARGEST_GRADE,
        le=LARGEST_GRADE,
        description="Positive where b is better; null takes it back.",
    )


class Exclusion(Sent):
    """Whether somebody's labels are excluded, and why."""

    reason: str | None = Field(
        max_length=2_000, description="Why they count no more; null lets them count again."
    )


class LabelCount(BaseModel):
    """How many labels something was done to."""

    labels: int


@router.post("/labels/tasks", status_code=201, responses=problems(403, 404, 409))
def open_task(body: TaskRequest, arena: Services, caller: Who) -> TaskLine:
    """Open a task; its items are drawn now, with chances that are kept. For organisers, as all below."""
    return TaskLine.of(arena.annotation.open(body, caller=caller))


@router.post(
    "/labels/tasks/{name}/close", status_code=204, responses=problems(403, 404), response_class=Response
)
def close_task(name: Name, arena: Services, caller: Who) -> Response:
    """Take no more labels."""
    arena.annotation.close(name, caller=caller)
    return Response(status_code=204)


@router.get("/labels/tasks/{name}/quality", responses=problems(403, 404), response_model=QualityLine)
def show_quality(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """How people agree: alpha with intervals, each person against the others, gold items."""
    return answer(request, QualityLine.of(name, arena.curation.quality(name, caller=caller)))


@router.get("/labels/tasks/{name}/disputed", responses=problems(403, 404), response_model=DisputedList)
def list_disputed(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """Items that are labelled and have no majority."""
    found = [DisputedLine.of(item) for item in arena.curation.disputed(name, caller=caller)]
    return answer(request, DisputedList(disputed=found))


@router.put(
    "/labels/tasks/{name}/disputed/{item}",
    status_code=204,
    responses=problems(403, 404),
    response_class=Response,
)
def adjudicate(name: Name, item: Item, body: Decision, arena: Services, caller: Who) -> Response:
    """Decide an item."""
    arena.curation.adjudicate(name, item, body.value, caller=caller)
    return Response(status_code=204)


@router.put("/labels/tasks/{name}/people/{person}/exclusion", responses=problems(403, 404))
def exclude(name: Name, person: Person, body: Exclusion, arena: Services, caller: Who) -> LabelCount:
    """Let somebody's labels count no more, for a reason, or again; the audit log keeps it."""
    if body.reason is None:
        return LabelCount(labels=arena.curation.include(name, person, caller=caller))
    return LabelCount(labels=arena.curation.exclude(name, person, body.reason, caller=caller))


@router.delete("/labels/tasks/{name}/people/{person}", responses=problems(403, 404))
def delete_person(
    name: Name, person: Person, arena: Services, caller: Who, confirm: Confirm = False
) -> LabelCount:
    """Delete everything that somebody said in a task, as they asked for."""
    labels = confirmed(
        arena,
        Irreversible.DELETE_LABELS,
        lambda: arena.curation.delete(name, person, caller=caller),
        confirm=confirm,
    )
    return LabelCount(labels=labels)


@router.get(
    "/labels/tasks/{name}/labels",
    responses={**problems(403, 404), **files("The labels.", "application/json", "application/x-ndjson")},
    response_class=Response,
)
def export_labels(
    request: Request, name: Name, arena: Services, caller: Who, form: Form = LabelFormat.VOTES
) -> Response:
    """The labels that count, as a file."""
    found = arena.label_files.export(name, form, caller=caller)
    return answer(request, found.content, media_type=found.media_type, filename=found.name)


@router.post(
    "/labels/tasks/{name}/labels",
    responses=problems(403, 404, 409),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def import_labels(
    request: Request, name: Name, arena: Services, caller: Who, form: Form = LabelFormat.VOTES
) -> LabelCount:
    """Add the labels of the file that is the body."""
    content = await request.body()
    found = await run_in_threadpool(arena.label_files.bring, name, form, content, caller=caller)
    return LabelCount(labels=found.new)
