"""The application: each service is made once, of its own class, from the collaborators that it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import get_origin, get_type_hints

import pytest

from arena.container import Arena, _Service
from arena.settings import Settings
from data.store import Store

SERVICES = {name: kind for name, kind in vars(Arena).items() if isinstance(kind, _Service)}


@pytest.mark.long
@pytest.mark.parametrize("name", SERVICES)
def test_service_gets_the_collaborators_that_it_takes(name: str, tmp_path: Path) -> None:
    """A service is of the class that is announced, and each collaborator of the class that it asks for."""
    arena = Arena(Settings(home=tmp_path, database_url=f"sqlite:///{tmp_path / 'arena.sqlite'}"))
    service = getattr(arena, name)
    assert type(service).__name__ == Arena.__annotations__[name]
    assert getattr(arena, name) is service
    hints = get_type_hints(type(service).__init__, localns={"Store": Store})
    wired = SERVICES[name]
    given = inspect.signature(type(service)).bind(*wired.needs, **wired.named).arguments
    for parameter, need in given.items():
        wanted = Callable if get_origin(hints[parameter]) is Callable else hints[parameter]
        assert isinstance(attrgetter(need)(arena), wanted if wanted is not float else float | int)
    arena.close()
