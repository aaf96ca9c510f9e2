"""`/labels` for organisers: open and close tasks, watch quality, settle, set aside, files in and out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from arena.api.caching import answer, files, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import NAME, Name
from arena.api.teams import LABEL, Sent
from arena.label_schemas import DisputedLine, QualityLine, TaskLine
from arena.services.annotation.files.model import LabelFormat
from arena.services.annotation.requests import ChosenItem, TaskRequest
from data.records import LARGEST_RATING, DrawKind, LabelScale, TaskKind

router = APIRouter(tags=["labels"])
Item = Annotated[int, Path(ge=1, le=2**31 - 1, description="Number of the item.")]
Person = Annotated[str, Path(pattern=LABEL, max_length=100, description="Name of the person.")]
Form = Annotated[LabelFormat, Query(alias="format", description="Format of the file.")]
MOST_CHOSEN = 20_000


class NamedItem(Sent):
    """An item that is named by hand."""

    question_id: str = Field(min_length=1, max_length=1_000)
    model_a: str = Field("", max_length=100)
    model_b: str = Field("", max_length=100)
    passage: str = Field("", max_length=1_000)
    sub_question: str = Field("", max_length=10_000)
    value: int | None = Field(
        None, ge=-LARGEST_RATING, le=LARGEST_RATING, description="The right value, of gold items."
    )

    def record(self) -> ChosenItem:
        """The item."""
        return ChosenItem(
            question_id=self.question_id,
            system_a=self.model_a,
            system_b=self.model_b,
            passage=self.passage,
            sub_question=self.sub_question,
            gold=self.value,
        )


class TaskOpen(Sent):
    """What a new task shall be."""

    name: str = Field(pattern=NAME, max_length=100, examples=["people"])
    set: str = Field("", max_length=100, description="The question set; empty with a round.")
    kind: TaskKind = TaskKind.PAIRS
    systems: list[str] = Field([], max_length=1_000, description="Every pair of these; of spans each alone.")
    round: str = Field("", max_length=100, description="The battles of this round.")
    items: list[NamedItem] = Field([], max_length=MOST_CHOSEN, description="These pairs.")
    gold: list[NamedItem] = Field([], max_length=1_000, description="Items with known answers besides.")
    draw: DrawKind = DrawKind.UNIFORM
    count: int | None = Field(None, ge=1, le=MOST_CHOSEN, description="How many are drawn; null for all.")
    overlap: int = Field(3, ge=1, le=100)
    annotators: list[str] = Field([], max_length=10_000, description="Names of accounts.")
    open_to_all: bool = False
    scale: LabelScale = LabelScale.GRADES
    shows_reference: bool = False
    seed: int = Field(0, ge=0, le=2**31 - 1)
    consent: str = Field("", max_length=20_000)
    instructions: str = Field("", max_length=20_000)
    hold_minutes: int = Field(60, ge=1, le=43_200)

    def request(self) -> TaskRequest:
        """The request.

        Raises:
            InputError: It makes no sense.
        """
        names = TaskRequest.__dataclass_fields__
        fields = {name: getattr(self, name) for name in names if hasattr(self, name)}
        return TaskRequest(
            **{
                **fields,
                "set_name": self.set,
                "round_name": self.round,
                "systems": tuple(self.systems),
                "annotators": tuple(self.annotators),
                "chosen": tuple(item.record() for item in self.items),
                "gold": tuple(item.record() for item in self.gold),
            }
        )


class DisputedList(BaseModel):
    """What waits for an adjudicator."""

    disputed: list[DisputedLine]


class Decision(Sent):
    """What an adjudicator says of an item."""

    value: int | None = Field(
        None,
        ge=-LARGEST_RATING,
        le=LARGEST_RATING,
        description="Positive where b is better; null takes it back.",
    )


class Aside(Sent):
    """Whether somebody's labels are set aside, and why."""

    reason: str | None = Field(
        max_length=2_000, description="Why they count no more; null lets them count again."
    )


class LabelCount(BaseModel):
    """How many labels something was done to."""

    labels: int


@router.post("/labels/tasks", status_code=201, responses=problems(403, 404, 409))
def open_task(body: TaskOpen, arena: Services, caller: Who) -> TaskLine:
    """Open a task; its items are drawn now, with chances that are kept. For organisers, as all below."""
    return TaskLine.of(arena.annotation.open(body.request(), caller=caller))


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
def settle(name: Name, item: Item, body: Decision, arena: Services, caller: Who) -> Response:
    """Decide an item."""
    arena.curation.settle(name, item, body.value, caller=caller)
    return Response(status_code=204)


@router.put("/labels/tasks/{name}/people/{person}/aside", responses=problems(403, 404))
def set_aside(name: Name, person: Person, body: Aside, arena: Services, caller: Who) -> LabelCount:
    """Let somebody's labels count no more, for a reason, or again; the audit log keeps it."""
    if body.reason is None:
        return LabelCount(labels=arena.curation.take_back(name, person, caller=caller))
    return LabelCount(labels=arena.curation.set_aside(name, person, body.reason, caller=caller))


@router.delete("/labels/tasks/{name}/people/{person}", responses=problems(403, 404))
def delete_person(name: Name, person: Person, arena: Services, caller: Who) -> LabelCount:
    """Delete everything that somebody said in a task, as they asked for."""
    return LabelCount(labels=arena.curation.delete(name, person, caller=caller))


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
    count = await run_in_threadpool(arena.label_files.bring, name, form, content, caller=caller)
    return LabelCount(labels=count)
