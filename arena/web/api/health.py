"""`/health`: whether the arena answers."""

from __future__ import annotations

from fastapi import APIRouter, Response

from arena.web.api.answers import problems
from arena.web.api.context import Services
from arena.web.api.models import Health

router = APIRouter(tags=["health"])


@router.get("/health", responses=problems())
def health(response: Response, arena: Services) -> Health:
    """200 where the database answers, else 503."""
    response.headers["Cache-Control"] = "no-store"
    return Health(status="ok", boards=len(arena.boards.heads()))
