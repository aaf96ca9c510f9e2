"""`/sets` and `/rounds`: questions, battles and judgments."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field

from arena.api.caching import JSON, NDJSON, answer, files, problems
from arena.api.dependencies import Services, Who
from arena.models.results import Battle, QuestionEvidence, RoundStatus
from arena.models.sets import Question
from arena.services.labels import file_of
from data.models import Outcome, SetSummary
from data.models.questions import NAME_PATTERN

MAX_PAGE = 500
NAME = rf"^{NAME_PATTERN.pattern}$"
Name = Annotated[str, Path(pattern=NAME, max_length=100, description="Name.", examples=["demo"])]
QuestionId = Annotated[str, Path(max_length=200, description="Id of the question in its set.")]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="Maximum number of items.")]
Cursor = Annotated[
    int, Query(ge=0, le=2**53, description="`next` of the previous page; 0 for the first page.")
]


class SetList(BaseModel):
    """Question sets."""

    sets: list[SetSummary]


class QuestionPage(BaseModel):
    """Page of questions in the set's order."""

    questions: list[Question]
    next: int | None = Field(description="Cursor of the next page; null on the last page.")


class RoundList(BaseModel):
    """Rounds, newest first."""

    rounds: list[RoundStatus]


class BattlePage(BaseModel):
    """Page of battles in a fixed order."""

    battles: list[Battle]
    next: int | None = Field(description="Cursor of the next page; null on the last page.")


sets = APIRouter(tags=["sets"])
rounds = APIRouter(tags=["rounds"])


@sets.get("/sets", responses=problems(), response_model=SetList)
def list_sets(request: Request, arena: Services) -> Response:
    """Return all question sets."""
    return answer(request, SetList(sets=arena.sets.summaries()))


@sets.get("/sets/{name}", responses=problems(404), response_model=SetSummary)
def show_set(request: Request, name: Name, arena: Services) -> Response:
    """Return a question set."""
    return answer(request, arena.sets.summary(name))


@sets.get("/sets/{name}/questions", responses=problems(404), response_model=QuestionPage)
def list_questions(
    request: Request, name: Name, arena: Services, caller: Who, limit: Limit = 100, after: Cursor = 0
) -> Response:
    """Return a page of questions of a set, without references.

    If the set's texts are not public, only teams and organisers get them.
    """
    # The extra question tells whether there is another page. Positions count from 0, cursors from 1.
    questions = arena.sets.page(name, after=after - 1, limit=limit + 1, caller=caller)
    page = questions[:limit]
    following = page[-1][0] + 1 if len(questions) > limit else None
    return answer(request, QuestionPage(questions=[question for _, question in page], next=following))


@sets.get(
    "/sets/{name}/sample",
    responses={**problems(404), **files("A small valid file.", NDJSON)},
    response_class=Response,
)
def sample(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """Return a small valid answer file as JSONL."""
    content = arena.submissions.template(name, sample=True, caller=caller).encode()
    return answer(request, content, media_type=NDJSON, filename=f"{name}-sample.jsonl")


def _status(arena: Services, name: str, caller: Who) -> RoundStatus:
    round_, counts = arena.rounds.status(name, caller=caller)
    known = {name: getattr(counts, name) for name in RoundStatus.model_fields if hasattr(counts, name)}
    return RoundStatus(**known, **vars(round_))


@rounds.get("/rounds", responses=problems(), response_model=RoundList)
def list_rounds(request: Request, arena: Services, caller: Who) -> Response:
    """List published rounds with their counts, newest first; organisers get all rounds."""
    names = [round_.name for round_ in arena.rounds.rounds(caller=caller)]
    lines = [_status(arena, name, caller) for name in names]
    return answer(request, RoundList(rounds=lines))


@rounds.get("/rounds/{name}", responses=problems(404, 410), response_model=RoundStatus)
def show_round(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """Return a published round with its state and counts of battles by outcome."""
    return answer(request, _status(arena, name, caller))


@rounds.get("/rounds/{name}/battles", responses=problems(404, 410), response_model=BattlePage)
def list_battles(
    request: Request,
    name: Name,
    arena: Services,
    caller: Who,
    outcome: Annotated[Outcome | None, Query(description="Only battles with this outcome.")] = None,
    limit: Limit = 100,
    after: Cursor = 0,
) -> Response:
    """Return a page of battles of a published round."""
    battles = arena.round_reader.page(name, after=after, limit=limit + 1, outcome=outcome, caller=caller)
    page = battles[:limit]
    following = page[-1].id if len(battles) > limit else None
    return answer(request, BattlePage(battles=page, next=following))


@rounds.get(
    "/rounds/{name}/questions/{question_id}", responses=problems(404, 410), response_model=QuestionEvidence
)
def show_evidence(
    request: Request, name: Name, question_id: QuestionId, arena: Services, caller: Who
) -> Response:
    """Return a question of a published round: answers with scores, battles with every judgment."""
    return answer(request, arena.evidence.evidence(name, question_id, caller=caller))


@rounds.get(
    "/rounds/{name}/labels",
    response_class=Response,
    responses={**problems(403, 404), **files("The labels.", JSON, "text/csv")},
)
def export_labels(request: Request, name: Name, arena: Services, caller: Who, csv: bool = False) -> Response:
    """Return the labels of a round as JSON or CSV, for organisers."""
    content = file_of(arena.labels.export(name, caller=caller), as_csv=csv).encode()
    return answer(request, content, media_type="text/csv" if csv else JSON)
