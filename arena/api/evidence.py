"""`/rounds/{name}/questions`, `/rounds/{name}/compare`: what the numbers of a published round rest on."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field

from arena.api.caching import answer, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import NAME, Cursor, Limit, Name
from arena.evidence_schemas import NOTICE, QuestionEvidence, RoundComparison, RoundQuestionLine
from arena.services.evidence.question_lists import Order, QuestionFilter

router = APIRouter(tags=["rounds"])
QuestionId = Annotated[str, Path(max_length=200, description="Id of the question in its set.")]
System = Annotated[str, Query(max_length=100, description="Name of a system of the round.")]
Domain = Annotated[str | None, Query(pattern=NAME, max_length=100, description="Of this domain only.")]
Words = Annotated[
    str, Query(max_length=200, description="Each must be part of the question or its id, in any case.")
]

Search = Annotated[
    str,
    Query(
        max_length=300,
        description='Words and "phrases" that the question, the reference or an answer must all have; '
        "endings, case and accents make no difference. Or a question's id.",
    ),
]
Winner = Annotated[
    str | None, Query(max_length=100, description="That this system alone won: the largest share of the win.")
]
Sort = Annotated[Order, Query(description="What comes first; `set` is the set's order.")]


class RoundQuestionPage(BaseModel):
    """Some questions of a round, in the order that was asked for."""

    questions: list[RoundQuestionLine]
    next: int | None = Field(description="Cursor of the next page; null after the last.")
    notice: str = Field(description=NOTICE)
    total: int = Field(description="How many questions there are on all pages.")


@router.get("/rounds/{name}/questions", responses=problems(404, 410), response_model=RoundQuestionPage)
def search_questions(
    request: Request,
    name: Name,
    arena: Services,
    caller: Who,
    words: Words = "",
    domain: Domain = None,
    q: Search = "",
    winner: Winner = None,
    sort: Sort = Order.SET,
    limit: Limit = 100,
    after: Cursor = 0,
) -> Response:
    """The questions of a published round that have some words, with how their battles ended, in pages.

    With `q` also where each was found: in the question, the reference, or whose answers.
    """
    wanted = QuestionFilter(domain=domain, words=words, search=q, winner=winner)
    page = arena.question_search.page(name, wanted, sort, after=after, limit=limit, caller=caller)
    lines = [RoundQuestionLine.of_found(line, page.found.get(line.id)) for line in page.questions]
    following = after + limit if page.total > after + limit else None
    shown = RoundQuestionPage(questions=lines, next=following, notice=page.notice, total=page.total)
    return answer(request, shown)


@router.get(
    "/rounds/{name}/questions/{question_id}", responses=problems(404, 410), response_model=QuestionEvidence
)
def show_evidence(
    request: Request, name: Name, question_id: QuestionId, arena: Services, caller: Who
) -> Response:
    """A question of a published round: its answers with their scores, its battles with every judgment."""
    view = arena.evidence.question(name, question_id, caller=caller)
    return answer(request, QuestionEvidence.of(name, view))


@router.get("/rounds/{name}/compare", responses=problems(404, 410), response_model=RoundComparison)
def compare(
    request: Request, name: Name, arena: Services, caller: Who, first: System, second: System
) -> Response:
    """How much more of the win one system takes than another on the same questions, by domain."""
    compared = arena.comparisons.of(name, (first, second), caller=caller)
    return answer(request, RoundComparison.of(name, compared))
