from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pytest

from arena.container import Arena, open_arena, open_ranking
from judges.llm.prices import Price
from tests.arena.conftest import settings_of


@pytest.mark.slow
def test_each_service_is_created_once(tmp_path: Path) -> None:
    """Each service has its annotated class, unless that is a protocol, and is cached."""
    arena = Arena(settings_of(tmp_path))
    names = [name for name, kind in vars(Arena).items() if isinstance(kind, cached_property)]
    assert len(names) > 30
    for name in names:
        service = getattr(arena, name)
        announced = Arena.__annotations__.get(name) or vars(Arena)[name].func.__annotations__["return"]
        assert announced in {type(service).__name__, f"cached_property[{type(service).__name__}]", "Engine"}
        assert getattr(arena, name) is service
    arena.close()


def test_ranking_reads_prices_of_its_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "own"))
    open_arena().judges.set_price("house-judge", Price(input=1.0, output=1.0))
    price = open_ranking(tmp_path / "ranking").judges.prices().of("https://llm.example/v1", "house-judge")
    assert price == Price(input=1.0, output=1.0)
