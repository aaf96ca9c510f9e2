"""`/rounds`: what is judged, how far it is, and its battles."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from arena.api.caching import answer, problems
from arena.api.dependencies import Services, Who
from arena.api.schemas import BattleLine, BattlePage, Cursor, Limit, Name, RoundLine, RoundList

router = APIRouter(tags=["rounds"])


@router.get("/rounds", responses=problems(), response_model=RoundList)
def list_rounds(request: Request, arena: Services, caller: Who) -> Response:
    """Published rounds with their counts, the newest first; organisers get every round."""
    lines = [
        RoundLine.of_round(*arena.rounds.status(round_.name, caller=caller))
        for round_ in arena.rounds.rounds(caller=caller)
    ]
    return answer(request, RoundList(rounds=lines))


@router.get("/rounds/{name}", responses=problems(404, 410), response_model=RoundLine)
def show_round(request: Request, name: Name, arena: Services, caller: Who) -> Response:
    """A published round: its state, and how many of its battles ended how."""
    return answer(request, RoundLine.of_round(*arena.rounds.status(name, caller=caller)))


@router.get("/rounds/{name}/battles", responses=problems(404, 410), response_model=BattlePage)
def list_battles(
    request: Request, name: Name, arena: Services, caller: Who, limit: Limit = 100, after: Cursor = 0
) -> Response:
    """The battles of a published round, a page at a time."""
    battles = arena.battle_pages.page(name, after=after, limit=limit + 1, caller=caller)
    shown = battles[:limit]
    following = shown[-1].id if len(battles) > limit else None
    return answer(request, BattlePage(battles=[BattleLine.of(battle) for battle in shown], next=following))
