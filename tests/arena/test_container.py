"""The application: each service is made once, of its own class, from the collaborators that it takes."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pytest

from arena.container import Arena, open_arena, open_ranking
from arena.settings import Settings
from judges.llm.prices import Price

SERVICES = [name for name, kind in vars(Arena).items() if isinstance(kind, cached_property)]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    """Return an arena of which nothing was asked for yet."""
    folder: Path = tmp_path_factory.mktemp("arena")
    return Arena(Settings(home=folder, database_url=f"sqlite:///{folder / 'arena.sqlite'}"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SERVICES)
def test_service_is_made_once_of_its_class(name: str, arena: Arena) -> None:
    """A service is of the class that is announced, unless this is a protocol, and stays the same."""
    service = getattr(arena, name)
    announced = vars(Arena)[name].func.__annotations__["return"]
    assert announced in {type(service).__name__, "Engine"}
    assert getattr(arena, name) is service


def test_ranking_reads_the_prices_of_its_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "own"))
    open_arena().judges.set_price("house-judge", Price(input=1.0, output=1.0))
    price = open_ranking(tmp_path / "ranking").judges.prices().of("https://llm.example/v1", "house-judge")
    assert price == Price(input=1.0, output=1.0)
