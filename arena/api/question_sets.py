"""`/sets`: question sets, their questions, and files to start from."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from arena.api.caching import NDJSON, answer, files, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import (
    Cursor,
    Limit,
    Name,
    QuestionPage,
    SetList,
    SetStatisticsList,
)
from arena.models.sets import QuestionSet
from arena.services.accounts.auth import Caller

router = APIRouter(tags=["sets"])


@router.get("/sets", responses=problems(), response_model=SetList)
def list_sets(request: Request, arena: Services) -> Response:
    """Every question set."""
    return answer(request, SetList(sets=arena.sets.summaries()))


@router.get("/sets/{name}", responses=problems(404), response_model=QuestionSet)
def show_set(request: Request, name: Name, arena: Services) -> Response:
    """One question set."""
    return answer(request, QuestionSet.of(arena.sets.summary(name)))


@router.get("/sets/{name}/questions", responses=problems(404), response_model=QuestionPage)
def list_questions(
    request: Request, name: Name, arena: Services, caller: Who, limit: Limit = 100, after: Cursor = 0
) -> Response:
    """The questions of a set, a page at a time; never a reference.

    Of a set whose texts are not public, teams and organisers alone get the texts.
    """
    # One more than asked for shows whether there is another page. Positions count from 0, cursors from 1.
    questions = arena.sets.page(name, after=after - 1, limit=limit + 1, caller=caller)
    shown = questions[:limit]
    following = shown[-1][0] + 1 if len(questions) > limit else None
    page = QuestionPage(questions=[question for _, question in shown], next=following)
    return answer(request, page)


@router.get("/sets/{name}/statistics", responses=problems(404), response_model=SetStatisticsList)
def statistics(request: Request, name: Name, arena: Services) -> Response:
    """What a set is made of, overall and by domain: words, documents, passages, short answers."""
    return answer(request, SetStatisticsList(domains=arena.set_statistics.of(name)))


@router.get(
    "/sets/{name}/template",
    responses={**problems(404), **files("A line for each question, its answer empty.", NDJSON)},
    response_class=Response,
)
def template(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """A file of answers to fill in, as JSONL."""
    return _lines(request, name, arena, caller, sample=False)


@router.get(
    "/sets/{name}/sample",
    responses={**problems(404), **files("A small file that would be accepted.", NDJSON)},
    response_class=Response,
)
def sample(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """A small file of answers that would be accepted, as JSONL."""
    return _lines(request, name, arena, caller, sample=True)


def _lines(request: Request, name: str, arena: Services, caller: Caller, *, sample: bool) -> Response:
    content = arena.submissions.template(name, sample=sample, caller=caller).encode()
    kind = "sample" if sample else "template"
    return answer(request, content, media_type=NDJSON, filename=f"{name}-{kind}.jsonl")
