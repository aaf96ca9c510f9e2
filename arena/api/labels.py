"""`/labels`: tasks of people who label, the next item, a label for it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, Field

from arena.api.caching import answer, problems
from arena.api.dependencies import Services, Who, confirmed
from arena.api.schemas import Confirm, Name
from arena.api.teams import Sent
from arena.label_schemas import ItemLine, NextLine, ProgressLine, TaskLine
from data.records import LARGEST_GRADE
from data.records.irreversible import Irreversible

router = APIRouter(tags=["labels"])
Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="Number under which the item was given.")]
NEVER = "no-store"


class TaskList(BaseModel):
    """Tasks, the newest first."""

    tasks: list[TaskLine]


class LabelGiven(Sent):
    """What somebody says of an item."""

    value: int | None = Field(
        None,
        ge=-LARGEST_GRADE,
        le=LARGEST_GRADE,
        description="Negative where `first` is better: -2…2, or -1…1 for sides. Left out with a text alone.",
        examples=[-2],
    )
    text: str = Field("", max_length=20_000, description="A reference, with numbers of passages in brackets.")
    comment: str = Field("", max_length=2_000)


class SkipReason(Sent):
    """Why an item is left to others."""

    reason: str = Field(min_length=1, max_length=2_000, examples=["I do not know the subject."])


@router.get("/labels/tasks", responses=problems(403), response_model=TaskList)
def list_tasks(request: Request, arena: Services, caller: Who) -> Response:
    """The tasks in which you label; organisers get all."""
    found = [TaskLine.of(task) for task in arena.annotation.tasks(caller=caller)]
    return answer(request, TaskList(tasks=found))


@router.get("/labels/tasks/{name}", responses=problems(403, 404), response_model=TaskLine)
def show_task(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """One of them, with the text to agree to."""
    return answer(request, TaskLine.of(arena.annotation.task(name, caller=caller)))


@router.post(
    "/labels/tasks/{name}/consent",
    status_code=204,
    responses=problems(403, 404),
    response_class=Response,
)
def consent(name: Name, arena: Services, caller: Who) -> Response:
    """Agree to the terms of a task, once, before the first label."""
    arena.labels.consent(name, caller=caller)
    return Response(status_code=204)


@router.post("/labels/tasks/{name}/next", responses=problems(403, 404, 409))
def take_next(name: Name, response: Response, arena: Services, caller: Who) -> NextLine:
    """Your next item, which is held for you for a while; asked twice, the same one."""
    response.headers["Cache-Control"] = NEVER
    item = arena.labels.next(name, caller=caller)
    return NextLine.following(item, arena.labels.progress(name, caller=caller))


@router.get("/labels/tasks/{name}/progress", responses=problems(403, 404), response_model=ProgressLine)
def show_progress(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """How far you are, and the numbers of your labels."""
    return answer(request, ProgressLine.of(arena.labels.progress(name, caller=caller)))


@router.get("/labels/tasks/{name}/items/{number}", responses=problems(403, 404), response_model=ItemLine)
def show_item(request: Request, name: Name, number: Number, arena: Services, caller: Who) -> Response:
    """An item of yours with what you said of it, in the order in which you saw it."""
    return answer(request, ItemLine.of(arena.labels.item(name, number, caller=caller)))


@router.put(
    "/labels/tasks/{name}/items/{number}/label",
    status_code=204,
    responses=problems(403, 404, 409),
    response_class=Response,
)
def put_label(name: Name, number: Number, body: LabelGiven, arena: Services, caller: Who) -> Response:
    """Label an item, or change its label until the task is closed."""
    arena.labels.label(name, number, body.value, text=body.text, comment=body.comment, caller=caller)
    return Response(status_code=204)


@router.put(
    "/labels/tasks/{name}/items/{number}/skip",
    status_code=204,
    responses=problems(403, 404, 409),
    response_class=Response,
)
def put_skip(name: Name, number: Number, body: SkipReason, arena: Services, caller: Who) -> Response:
    """Leave an item to others, and say why."""
    arena.labels.skip(name, number, body.reason, caller=caller)
    return Response(status_code=204)


@router.delete(
    "/labels/tasks/{name}/mine",
    status_code=204,
    responses=problems(403, 404, 409),
    response_class=Response,
)
def delete_mine(name: Name, arena: Services, caller: Who, confirm: Confirm = False) -> Response:
    """Delete everything that you said in a task."""
    confirmed(
        arena,
        Irreversible.DELETE_LABELS,
        lambda: arena.labels.withdraw(name, caller=caller),
        confirm=confirm,
    )
    return Response(status_code=204)
